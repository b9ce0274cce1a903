//! Stored runs that are damaged, or that a person changed.

use proptest::prelude::*;
use runstate::decision::DecisionAction::Resume;
use runstate_agent::{Incoming, RunState, StateError, StoredRun};
use serde_json::{Value, json};

use super::parts::{World, paused};

/// A run that waits, with a call in nearly every status: decided, decided again and waiting, asked and waiting, new.
fn waiting() -> String {
    paused(async {
        let mut world = World::new(&[
            &[("a", "write"), ("a", "read"), ("b", "fail"), ("c", "warn")],
            &[("a", "write_twice"), ("d", "ask_arguments"), ("e", "note")],
        ]);
        let mut state = world.state();
        world.start(&mut state).await;
        let mut incoming = Incoming::new("d1", "a", Resume);
        (incoming.reason, incoming.actor) = (Some("it is fine".into()), Some("ann".into()));
        world.incoming.push(incoming.on("r1/a/1"));
        world.resume(&mut state).await;
        world.decide(&mut state, &[("a#3", Resume)]).await;
        assert_eq!(state.pending().len(), 2, "{:?}", super::parts::statuses(&state));
        StoredRun::of(&state).unwrap().to_json()
    })
}

fn restored(json: &[u8]) -> Result<RunState, StateError> {
    StoredRun::from_json(json)?.restore()
}

/// All places in a JSON value, as pointers.
fn places(value: &Value, at: &str, into: &mut Vec<String>) {
    into.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                places(field, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), into);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{i}"), into);
            }
        }
        _ => {}
    }
}

fn remove(whole: &Value, place: &str) -> Value {
    let mut value = whole.clone();
    let (parent, key) = place.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Object(fields) => drop(fields.remove(&key.replace("~1", "/").replace("~0", "~"))),
        Value::Array(items) => drop(items.remove(key.parse().unwrap())),
        _ => unreachable!(),
    }
    value
}

/// Each way in which one place of the stored run can be wrong.
fn damaged(whole: &Value) -> Vec<(String, Value)> {
    let mut at = Vec::new();
    places(whole, "", &mut at);
    let mut damaged = Vec::new();
    for place in &at {
        if !place.is_empty() {
            damaged.push((format!("{place} missing"), remove(whole, place)));
        }
        for other in [json!(null), json!(7), json!("other"), json!([]), json!({}), json!(true)] {
            let mut value = whole.clone();
            *value.pointer_mut(place).unwrap() = other.clone();
            if value != *whole {
                damaged.push((format!("{place} is {other}"), value));
            }
        }
        let mut value = whole.clone();
        match value.pointer_mut(place).unwrap() {
            Value::Object(fields) => drop(fields.insert("extra".into(), json!(1))),
            Value::Array(items) => items.push(json!(1)),
            _ => continue,
        }
        damaged.push((format!("{place} has more"), value));
    }
    damaged
}

#[test]
fn a_damaged_place_is_an_error_that_says_where() {
    let whole: Value = serde_json::from_str(&waiting()).unwrap();
    let damaged = damaged(&whole);
    assert!(damaged.len() > 1_000, "{}", damaged.len());
    for (what, value) in damaged {
        match restored(value.to_string().as_bytes()) {
            Err(error) => {
                let said = error.to_string();
                assert!(said.starts_with("line ") || said.starts_with("digest: "), "{what}: {said}");
            }
            // What is left out where it says nothing is the same content.
            Ok(state) => {
                let again = StoredRun::of(&state).unwrap();
                let same: Value = serde_json::from_str(&again.to_json()).unwrap();
                assert_eq!(same, whole, "{what} gave another run");
            }
        }
    }
}

#[test]
fn damage_with_a_recomputed_checksum_restores_as_is_or_fails() {
    let whole: Value = serde_json::from_str(&waiting()).unwrap();
    let (mut read, mut refused) = (0, 0);
    for (what, value) in damaged(&whole) {
        let Ok(mut stored) = StoredRun::from_json(value.to_string().as_bytes()) else { continue };
        stored.recompute_checksum();
        match stored.restore() {
            Ok(state) => {
                read += 1;
                assert_eq!(StoredRun::of(&state).unwrap(), stored, "{what}: not what is stored");
            }
            Err(error) => {
                refused += 1;
                let places = ["__", "steps: ", "messages: ", "base: ", "values: "];
                assert!(places.iter().any(|place| error.to_string().starts_with(place)), "{what}: {error}");
            }
        }
    }
    assert!(read > 20 && refused > 200, "{read} read, {refused} refused");
}

fn first_result(run: &Value) -> usize {
    let messages = run["messages"].as_array().unwrap();
    messages.iter().position(|message| message.get("result").is_some()).unwrap()
}

fn second_answer(run: &Value) -> usize {
    let messages = run["messages"].as_array().unwrap();
    messages.iter().rposition(|message| message.get("assistant").is_some()).unwrap()
}

#[test]
fn counters_have_their_greatest_numbers_and_no_more() {
    let whole: Value = serde_json::from_str(&waiting()).unwrap();
    for (counter, most) in [("flows", 1_u64 << 31), ("events", 1 << 62), ("version", 1 << 62)] {
        for (count, is_read) in [(most, true), (most + 1, false)] {
            let mut value = whole.clone();
            value[counter] = json!(count);
            let mut stored = StoredRun::from_json(value.to_string().as_bytes()).unwrap();
            stored.recompute_checksum();
            assert_eq!(stored.restore().is_ok(), is_read, "{counter} {count}");
        }
    }
}

#[test]
fn each_contradiction_has_its_words() {
    let whole: Value = serde_json::from_str(&waiting()).unwrap();
    let mut said = String::new();
    let mut contradict = |what: &str, change: fn(&mut Value)| {
        let mut value = whole.clone();
        change(&mut value);
        assert_ne!(value, whole, "{what}");
        let mut stored = StoredRun::from_json(value.to_string().as_bytes()).unwrap();
        stored.recompute_checksum();
        let error = stored.restore().expect_err(what);
        said += &format!("# {what}\n{error}\n");
    };
    contradict("a call waits that is not listed", |run| {
        run["__suspended_tool_calls"].as_object_mut().unwrap().remove("d");
    });
    contradict("a call is listed that does not wait", |run| {
        let suspension = run["__suspended_tool_calls"]["d"].clone();
        run["__suspended_tool_calls"]["e"] = suspension;
    });
    contradict("another suspension is listed", |run| {
        run["__suspended_tool_calls"]["d"]["message"] = json!("delete everything?");
    });
    contradict("a decision is under another suspension", |run| {
        let decisions = run["__resume_decisions"].as_object_mut().unwrap();
        let decision = decisions.remove("r1/a/1").unwrap();
        decisions.insert("r1/b/1".into(), decision);
    });
    contradict("a call is missing", |run| {
        run["__tool_call_states"].as_object_mut().unwrap().remove("b");
    });
    contradict("a call stands twice", |run| {
        let call = run["__tool_call_states"]["e"].clone();
        run["__tool_call_states"]["z"] = call;
    });
    contradict("a step is missing", |run| run["steps"] = json!(1));
    contradict("an answer is missing", |run| {
        let place = second_answer(run);
        run["messages"].as_array_mut().unwrap().truncate(place);
    });
    contradict("a result is not what its call came to", |run| {
        let place = first_result(run);
        run["messages"][place]["result"]["content"] = json!({ "error": "no" });
    });
    contradict("a result has another id than its call", |run| {
        let place = first_result(run);
        run["messages"][place]["result"]["id"] = json!("z");
    });
    contradict("a call that is over has no result", |run| {
        let place = first_result(run);
        run["messages"].as_array_mut().unwrap().remove(place);
    });
    contradict("a call that waits has a result", |run| {
        let place = first_result(run);
        let mut result = run["messages"][place].clone();
        let key = run["__tool_call_states"]["d"]["snapshot"]["record"]["key"].clone();
        result["result"]["key"] = key;
        run["messages"].as_array_mut().unwrap().push(result);
    });
    contradict("a call was not asked for", |run| {
        let place = second_answer(run);
        run["messages"][place]["assistant"]["calls"].as_array_mut().unwrap().pop();
    });
    contradict("a call has another tool than was asked for", |run| {
        run["__tool_call_states"]["e"]["snapshot"]["record"]["tool"] = json!("delete_file");
    });
    contradict("a call has other arguments than were asked for", |run| {
        run["__tool_call_states"]["e"]["snapshot"]["record"]["arguments"] = json!({ "for": "all" });
    });
    contradict("two calls have changed places", |run| {
        let calls = run["__tool_call_states"].as_object_mut().unwrap();
        let (b, c) = (calls.remove("b").unwrap(), calls.remove("c").unwrap());
        calls.insert("b".into(), c);
        calls.insert("c".into(), b);
    });
    contradict("a run waits for other calls than wait", |run| {
        run["__run"]["state"]["calls"] = json!(["d"]);
    });
    contradict("a run is done whose calls wait", |run| {
        run["__run"]["status"] = json!("Done");
        run["__run"]["state"] = json!({ "reason": "natural_end" });
    });
    contradict("a run waits while a call executes", |run| {
        run["__tool_call_states"]["e"]["snapshot"]["status"] = json!("Running");
        run["__tool_call_states"]["e"]["snapshot"]["record"]["attempts"] = json!(1);
        run["__tool_call_states"]["e"]["snapshot"]["state"] = json!({});
    });
    contradict("a call resumes by a decision that was not accepted", |run| {
        let call = &mut run["__tool_call_states"]["d"]["snapshot"];
        call["status"] = json!("Resuming");
        call["state"]["decision"] = json!({
            "decision_id": "forged",
            "suspension_id": call["state"]["suspension"]["id"],
            "action": "resume",
            "decided_at_ms": 0,
        });
        run["__suspended_tool_calls"].as_object_mut().unwrap().remove("d");
        run["__run"]["state"]["calls"] = json!(["a#3"]);
        run["__run"]["status"] = json!("Running");
        run["__run"]["state"] = json!({ "cause": "created" });
    });
    // The next one would be none that a counter holds.
    contradict("too many steps", |run| run["steps"] = json!(u32::MAX));
    contradict("too many flows", |run| run["flows"] = json!(u32::MAX));
    contradict("too many executions", |run| {
        run["__tool_call_states"]["e"]["executions"] = json!(u32::MAX);
    });
    contradict("too many events", |run| run["events"] = json!(u64::MAX));
    contradict("too many versions", |run| run["version"] = json!((1_u64 << 62) + 1));
    insta::with_settings!({
        snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("agent__contradictions", said);
    });
}

#[test]
fn any_bytes_that_are_no_stored_run_are_an_error() {
    let whole = waiting();
    for end in (0..whole.len()).step_by(7) {
        let error = restored(&whole.as_bytes()[..end]).expect_err("a part is not the whole");
        assert!(matches!(error, StateError::Syntax { .. }), "{error}");
    }
    let deep = "[".repeat(100_000);
    let huge = format!("{{\"__run\":\"{}\"", "x".repeat(10_000_000));
    let more = format!("{whole}{{}}");
    for (bytes, said) in [
        (&b""[..], "line 1, column 0: not a stored run: EOF while parsing a value"),
        (b"\0\xff\xfe", "line 1, column 1: not a stored run: expected value"),
        (b"null", "line 1, column 4: not a stored run: invalid type: null, expected struct StoredRun"),
        (
            b"[]",
            "line 1, column 2: not a stored run: invalid length 0, expected struct StoredRun with 15 elements",
        ),
        (deep.as_bytes(), "line 1, column 2: not a stored run: "),
        (huge.as_bytes(), "line 1, column 10000011: not a stored run: "),
        (more.as_bytes(), "not a stored run: trailing characters"),
    ] {
        let error = restored(bytes).unwrap_err().to_string();
        assert!(error.contains(said) && error.len() < 300, "{error:.300} instead of {said}");
    }
}

#[test]
fn any_changed_byte_of_a_small_run_is_an_error_or_no_change() {
    let whole = StoredRun::of(&RunState::new("r1")).unwrap();
    let json = whole.to_json();
    for at in 0..json.len() {
        for byte in [b' ', b'"', b'7', 0xff] {
            let mut bytes = json.clone().into_bytes();
            bytes[at] = byte;
            assert_error_or_same(&bytes, &whole);
        }
    }
}

fn assert_error_or_same(bytes: &[u8], whole: &StoredRun) {
    match restored(bytes) {
        Ok(state) => assert_eq!(StoredRun::of(&state).unwrap(), *whole),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_change_of_a_byte_is_an_error_or_no_change(at: prop::sample::Index, byte: u8) {
        static WHOLE: std::sync::LazyLock<(String, StoredRun)> = std::sync::LazyLock::new(|| {
            let json = waiting();
            let stored = StoredRun::from_json(json.as_bytes()).unwrap();
            (json, stored)
        });
        let mut bytes = WHOLE.0.clone().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        assert_error_or_same(&bytes, &WHOLE.1);
    }
}
