//! What is stored is what comes back.

use runstate::kernel::ReadRecord;
use runstate::kernel::{Restore, Stateful};
use runstate::snapshot::Snapshot;
use serde::Serialize;
use serde_json::Value;

use super::super::door::{AnyDoor, Close, Door, House, doors};
use super::calls::calls;

fn comes_back<M: Restore>(live: &M) -> M
where
    M::Record: Serialize + ReadRecord + PartialEq + std::fmt::Debug,
{
    let stored = Snapshot::of(live).unwrap();
    let read = Snapshot::from_json(stored.to_json().as_bytes()).unwrap();
    assert_eq!(read, stored);
    let back: M = read.restore().unwrap();
    assert_eq!(back.status(), live.status());
    assert_eq!(back.record(), live.record());
    assert_eq!(Snapshot::of(&back).unwrap(), stored);
    back
}

#[test]
fn a_call_comes_back_in_each_of_its_states() {
    let calls = calls();
    for (call, status) in calls.iter().zip(runstate::tool_call::ToolCallStatus::ALL) {
        assert_eq!(call.status(), *status);
        assert_eq!(format!("{:?}", comes_back(call)), format!("{call:?}"));
    }
}

#[test]
fn a_door_comes_back_in_each_of_its_states() {
    for (door, status) in doors(7).iter().zip(super::super::door::DoorStatus::ALL) {
        assert_eq!(door.status(), *status);
        assert_eq!(format!("{:?}", comes_back(door)), format!("{door:?}"));
    }
}

#[test]
fn a_typed_machine_is_stored_as_its_any_machine_is() {
    let typed = Door::new(House::new(7)).close(Close);
    let stored = Snapshot::of(&typed).unwrap();
    assert_eq!(stored, Snapshot::of(&AnyDoor::from(typed)).unwrap());
    assert_eq!((stored.lifecycle(), stored.version(), stored.status()), ("runstate/door", 3, "Shut"));
    assert_eq!(stored.fingerprint(), AnyDoor::GRAPH.fingerprint().to_string());
    assert_eq!((&stored.record()["key"], stored.state()), (&Value::from(7), &Value::Null));
}

#[test]
fn the_stored_form_is_as_it_was() {
    for door in doors(7) {
        let json: Value = serde_json::from_str(&Snapshot::of(&door).unwrap().to_json()).unwrap();
        let pretty = serde_json::to_string_pretty(&json).unwrap();
        super::assert_text(&format!("stored_door_{}", door.status().name().to_lowercase()), pretty);
    }
}

/// The JSON with the keys of each object the other way round, and white space wherever there may be some.
fn rewritten(value: &Value, out: &mut String) {
    let between = |out: &mut String, first: bool| out.push_str(if first { "\r\n\t " } else { " ,\n " });
    match value {
        Value::Object(fields) => {
            out.push('{');
            for (i, (key, field)) in fields.iter().rev().enumerate() {
                between(out, i == 0);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(" :\t");
                rewritten(field, out);
            }
            out.push_str("\n }");
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                between(out, i == 0);
                rewritten(item, out);
            }
            out.push_str(" ]");
        }
        leaf => out.push_str(&leaf.to_string()),
    }
}

#[test]
fn the_order_of_keys_and_white_space_are_free() {
    for call in calls() {
        let stored = Snapshot::of(&call).unwrap();
        let mut other = String::from(" \n");
        rewritten(&serde_json::from_str(&stored.to_json()).unwrap(), &mut other);
        assert_ne!(other, stored.to_json());
        let read = Snapshot::from_json(other.as_bytes()).unwrap();
        let back: runstate::tool_call::AnyToolCall = read.restore().unwrap();
        assert_eq!(Snapshot::of(&back).unwrap(), stored);
    }
}
