//! Each way in which a snapshot is refused, with its words.

use runstate::snapshot::{Part, RestoreError, Snapshot, SnapshotError};
use runstate::tool_call::{AnyToolCall, CallRecord};
use serde_json::{Value, json};

use super::super::door::{AnyDoor, doors};
use super::calls::calls;
use super::{assert_text, with_new_checksum};

fn locked() -> Snapshot {
    Snapshot::of(&doors(7)[2]).unwrap()
}

fn refused(snapshot: &Snapshot) -> RestoreError {
    snapshot.restore::<AnyDoor>().unwrap_err()
}

fn unread(json: &str) -> SnapshotError {
    Snapshot::from_json(json.as_bytes()).unwrap_err()
}

#[test]
fn snapshot_of_invalid_json_is_refused_with_its_place() {
    let json = locked().to_json();
    let cut = unread(&json[..json.len() - 20]);
    assert!(matches!(cut, SnapshotError::Syntax { line: 1, .. }));
    assert_text("syntax_cut", cut);
    assert_text("syntax_empty", unread(""));
    assert_text("syntax_second_line", unread("{\n  \"lifecycle\": door }"));
    assert_text("syntax_trailing", unread(&format!("{json} {{}}")));
    assert!(matches!(Snapshot::from_json(&[0xff, 0xfe, 0]).unwrap_err(), SnapshotError::Syntax { .. }));
}

#[test]
fn nesting_without_end_is_refused_and_not_followed() {
    let json =
        locked().to_json().replace("null", &"[".repeat(100_000)).replace("{\"by\":7}", &"[".repeat(100_000));
    assert_text("syntax_nesting", unread(&json));
}

#[test]
fn a_missing_field_is_named() {
    let json: Value = serde_json::from_str(&locked().to_json()).unwrap();
    for field in json.as_object().unwrap().keys() {
        let mut without = json.clone();
        without.as_object_mut().unwrap().remove(field);
        let error = unread(&without.to_string()).to_string();
        assert!(error.ends_with(&format!("not a snapshot: missing field `{field}`")), "{error}");
    }
}

#[test]
fn a_field_that_a_snapshot_does_not_have_is_named() {
    assert_text("syntax_unknown_field", unread(&locked().to_json().replacen('{', "{\"colour\":\"red\",", 1)));
}

#[test]
fn a_field_that_is_there_twice_is_named() {
    assert_text("syntax_field_twice", unread(&locked().to_json().replacen('{', "{\"status\":\"Open\",", 1)));
}

#[test]
fn record_without_a_json_form_is_refused_at_write_time() {
    mod unwritable {
        use std::collections::BTreeMap;

        runstate::lifecycle! {
            /// A lamp whose record has no form in JSON.
            pub(super) mod lamp: Lamp(Wiring), AnyLamp;
            version 1;
            diagram "lamp.md";
            status LampStatus { Off, Broken }
            event LampEvent { Drop }
            [*] --> Off;
            Off --> Broken : drop(Drop);
            Broken --> [*];
        }

        #[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
        pub(super) struct Wiring {
            #[serde(with = "pairs")]
            wires: BTreeMap<(u8, u8), u8>,
        }
        impl runstate::kernel::Record for Wiring {}
        impl Wiring {
            pub(super) fn new() -> Self {
                Wiring { wires: BTreeMap::from([((1, 2), 3)]) }
            }
        }

        mod pairs {
            use super::BTreeMap;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub(super) fn serialize<S: Serializer>(
                map: &BTreeMap<(u8, u8), u8>,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                map.serialize(to)
            }
            pub(super) fn deserialize<'de, D: Deserializer<'de>>(
                from: D,
            ) -> Result<BTreeMap<(u8, u8), u8>, D::Error> {
                BTreeMap::deserialize(from)
            }
        }
    }
    let error = Snapshot::of(&unwritable::AnyLamp::new(unwritable::Wiring::new())).unwrap_err();
    assert!(matches!(error, SnapshotError::Unwritable { part: Part::Record, .. }));
    assert_text("unwritable", error);
}

#[test]
fn changed_content_does_not_match_the_checksum() {
    let changed = locked().to_json().replace("\"key\":7", "\"key\":8");
    let error = refused(&Snapshot::from_json(changed.as_bytes()).unwrap());
    assert!(matches!(error, RestoreError::Digest { .. }));
    assert_text("restore_digest", error);
}

#[test]
fn change_with_a_new_checksum_is_accepted() {
    let changed = with_new_checksum(&locked(), |json| json["record"]["key"] = 8.into());
    changed.verify().unwrap();
    assert_eq!(changed.restore::<AnyDoor>().unwrap().record().key, 8);
}

#[test]
fn another_lifecycle_is_refused_by_both_names() {
    let error = refused(&Snapshot::of(&calls()[0]).unwrap());
    assert!(matches!(error, RestoreError::Lifecycle { .. }));
    assert_text("restore_lifecycle", error);
    assert!(matches!(locked().restore::<AnyToolCall>(), Err(RestoreError::Lifecycle { .. })));
}

#[test]
fn another_version_without_a_migration_is_refused() {
    let older = refused(&with_new_checksum(&locked(), |json| json["version"] = 2.into()));
    assert!(matches!(older, RestoreError::Version { got: 2, expected: 3, .. }));
    assert_text("restore_version_older", older);
    let newer = refused(&with_new_checksum(&locked(), |json| json["version"] = 4.into()));
    assert!(matches!(newer, RestoreError::Version { got: 4, expected: 3, .. }));
    assert_text("restore_version_newer", newer);
}

#[test]
fn another_graph_of_the_same_version_is_refused() {
    let error =
        refused(&with_new_checksum(&locked(), |json| json["fingerprint"] = "0123456789abcdef".into()));
    assert!(matches!(error, RestoreError::Fingerprint { .. }));
    assert_text("restore_fingerprint", error);
}

#[test]
fn an_unknown_status_is_refused() {
    let error = refused(&with_new_checksum(&locked(), |json| json["status"] = "Ajar".into()));
    assert!(matches!(error, RestoreError::Status(_)));
    assert_text("restore_status", error);
    let by_its_type = refused(&with_new_checksum(&locked(), |json| json["status"] = "Locked".into()));
    assert!(
        matches!(by_its_type, RestoreError::Status(_)),
        "stored under LOCKED_UP, not under the type's name"
    );
}

#[test]
fn a_record_of_another_shape_is_refused() {
    let error = refused(&with_new_checksum(&locked(), |json| json["record"]["key"] = "seven".into()));
    assert!(matches!(error, RestoreError::Shape { status: "LOCKED_UP", part: Part::Record, .. }));
    assert_text("restore_record_shape", error);
    let error = refused(&with_new_checksum(&locked(), |json| json["record"] = json!({})));
    assert_text("restore_record_field_missing", error);
}

#[test]
fn state_data_of_another_shape_is_refused() {
    let error = refused(&with_new_checksum(&locked(), |json| json["state"]["by"] = Value::Null));
    assert!(matches!(error, RestoreError::Shape { part: Part::State, .. }));
    assert_text("restore_state_shape", error);
    let error = refused(&with_new_checksum(&locked(), |json| json["state"] = Value::Null));
    assert_text("restore_state_missing", error);
}

#[test]
fn the_data_of_one_state_is_not_that_of_another() {
    let error = refused(&with_new_checksum(&locked(), |json| json["status"] = "Shut".into()));
    assert!(matches!(error, RestoreError::Shape { status: "Shut", part: Part::State, .. }));
    assert_text("restore_state_of_another_status", error);
}

#[test]
fn a_field_that_the_types_would_drop_is_refused() {
    // `House` and `Locked` ignore fields they do not know; the kernel does not.
    let error = refused(&with_new_checksum(&locked(), |json| json["record"]["a/b~"] = 1.into()));
    assert!(matches!(error, RestoreError::Shape { part: Part::Record, .. }));
    assert_text("restore_record_unknown_field", error);
    let error = refused(&with_new_checksum(&locked(), |json| json["state"]["colour"] = "red".into()));
    assert!(matches!(error, RestoreError::Shape { part: Part::State, .. }));
    assert_text("restore_state_unknown_field", error);
}

#[test]
fn a_record_has_110_levels_and_no_more() {
    let of = |levels: usize| {
        // The record is one of them.
        let arguments = (0..levels - 1).fold(json!(1), |inner, _| json!([inner]));
        Snapshot::of(&AnyToolCall::new(CallRecord::new("c1", "read", arguments)))
    };
    let most = of(110).unwrap();
    let read = Snapshot::from_json(most.to_json().as_bytes()).unwrap();
    assert_eq!(read, most);
    assert!(read.restore::<AnyToolCall>().is_ok());
    let refused = of(111).unwrap_err();
    assert!(matches!(refused, SnapshotError::TooDeep { part: Part::Record, most: 110 }), "{refused:?}");
}
