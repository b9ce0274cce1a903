use std::fmt::Write;

use runstate::snapshot::Snapshot;
use runstate::tool_call::{AnyToolCall, CallRecord};
use serde_json::json;

use crate::session::{Session, assert_shown};

fn snapshot() -> serde_json::Value {
    let call = AnyToolCall::new(CallRecord::new("call_1", "read_file", json!({"path": "a"})));
    serde_json::to_value(Snapshot::of(&call).unwrap()).unwrap()
}

#[test]
fn seal_updates_the_checksum_of_every_changed_snapshot() {
    let session = Session::new();
    let mut changed = snapshot();
    changed["record"]["tool"] = "write_file".into();
    let state = json!({"run": "r1", "calls": [snapshot(), changed], "a/b": {"note": "untouched"}});
    session.write("state.json", format!("{state:#}"));

    let mut shown = session.run(&["seal", "state.json"]).shown();
    shown.push_str(&session.run(&["seal", "state.json"]).shown());
    assert_shown("seal", &shown);

    let sealed: serde_json::Value = serde_json::from_str(&session.read("state.json")).unwrap();
    let call: Snapshot = serde_json::from_value(sealed["calls"][1].clone()).unwrap();
    assert_eq!(call.restore::<AnyToolCall>().unwrap().record().tool(), "write_file");
    assert_eq!(sealed["calls"][0], snapshot(), "what was sealed stays as it was");
    assert_eq!(sealed["a/b"], state["a/b"]);
    assert!(!session.path("state.json.new").exists());
}

#[test]
fn seal_reads_standard_input_and_writes_standard_output() {
    let session = Session::new();
    let mut changed = snapshot();
    changed["record"]["tool"] = "write_file".into();
    let said = session.run_with(&["seal", "-"], changed.to_string());
    let snapshot = Snapshot::from_json(said.stdout.as_bytes()).unwrap();
    assert_eq!(snapshot.restore::<AnyToolCall>().unwrap().record().tool(), "write_file");
}

#[test]
fn seal_refuses_a_snapshot_that_does_not_restore() {
    let session = Session::new();
    let whole = snapshot().to_string();
    let with = |field: &str, value: serde_json::Value| {
        let mut changed = snapshot();
        changed[field] = value;
        json!([{"call": changed}]).to_string().into_bytes()
    };
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("binary", b"\x00\xff\xfe".to_vec()),
        ("no JSON", b"state: fine".to_vec()),
        ("truncated", whole.as_bytes()[..whole.len() / 2].to_vec()),
        ("trailing garbage", format!("{whole} {{").into_bytes()),
        ("no snapshot", b"{\"status\": \"New\"}".to_vec()),
        ("unknown status", with("status", "Ready".into())),
        ("wrong type", with("version", "one".into())),
        ("wrong shape", with("record", json!({"id": "call_1"}))),
        ("foreign graph", with("fingerprint", "00000000deadbeef".into())),
        ("another version", with("version", 7.into())),
        ("unknown field", with("colour", "red".into())),
        ("deep nesting", "[".repeat(100_000).into_bytes()),
    ];
    let mut shown = String::new();
    for (case, content) in cases {
        session.write("state.json", &content);
        let said = session.run(&["seal", "state.json"]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{case}: {}", said.stderr);
        assert_eq!(std::fs::read(session.path("state.json")).unwrap(), content, "{case}: nothing is written");
        write!(shown, "== {case}\n{}\n", said.stderr).unwrap();
    }
    let absent = session.run(&["seal", "absent.json"]);
    let folder = session.run(&["seal", "."]);
    assert_eq!((absent.code, folder.code), (Some(2), Some(2)));
    write!(shown, "{}\n{}", absent.shown(), folder.shown()).unwrap();
    assert_shown("seal_errors", &shown);
}

#[test]
fn seal_does_not_restore_a_foreign_lifecycle() {
    let session = Session::new();
    let mut foreign = snapshot();
    foreign["lifecycle"] = "door".into();
    foreign["status"] = "Ajar".into();
    let said = session.run_with(&["seal", "-"], foreign.to_string());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    Snapshot::from_json(said.stdout.as_bytes()).unwrap().verify().unwrap();
}
