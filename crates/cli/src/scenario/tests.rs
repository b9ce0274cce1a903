//! The accepted scenarios, and the messages for refused ones.

use std::fmt::Write;
use std::fs;

use tempfile::TempDir;

use super::{FromFile, read};
use crate::failure::Failure;

/// Reads a scenario from a file of these bytes; messages name the file `s.yaml`.
fn reading(bytes: impl AsRef<[u8]>) -> Result<FromFile, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("s.yaml");
    fs::write(&path, bytes).unwrap();
    read(path.to_str().unwrap())
        .map_err(|failure: Failure| failure.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

const GOOD: &str = "\
name: good
message: hello
approve: [delete_file]
model:
  - text: first
    calls:
      - id: a
        tool: delete_file
        arguments: {path: x, deep: {list: [1, 2.5, null, true]}}
      - {id: b, tool: no_such_tool}
  - text: done
decisions:
  - {call: a, action: approve, result: {ok: true}}
limits: {max_rounds: 3}
";

/// The valid scenario with one change.
fn but(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

fn indent(lines: &str, by: usize) -> String {
    lines.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
}

#[test]
fn a_good_scenario_is_read() {
    let read = reading(GOOD).unwrap();
    let scenario = read.scenario;
    assert_eq!(scenario.name, "good");
    assert_eq!(scenario.calls().count(), 2);
    let arguments = &scenario.calls().next().unwrap().arguments;
    assert_eq!(
        serde_json::to_string(arguments).unwrap(),
        r#"{"deep":{"list":[1,2.5,null,true]},"path":"x"}"#
    );
    assert_eq!(scenario.limits.max_rounds, 3);
    assert_eq!(scenario.limits.max_file_bytes, 1 << 20, "what is left out has its default");
    assert_eq!(read.source.text, GOOD);
}

#[test]
fn the_example_is_a_scenario() {
    let read = read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tidy-folder.yaml")).unwrap();
    let folder = read.base.join(read.scenario.folder.unwrap());
    assert!(folder.join("old-notes.txt").is_file());
}

#[test]
fn a_bad_scenario_is_refused_with_its_place() {
    let arguments = |value: &str| but("{path: x, deep: {list: [1, 2.5, null, true]}}", value).into_bytes();
    let nested = format!("{{x: {}", "[".repeat(100_000));
    let blocks: String = (0..1_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let tens = |anchor: &str| format!("[{}]", [anchor; 10].join(", "));
    let bomb = format!(
        "{{a: &a {}, b: &b {}, c: &c {}, d: &d {}, e: {}}}",
        tens("x"),
        tens("*a"),
        tens("*b"),
        tens("*c"),
        tens("*d")
    );
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("white space", b" \n\n".to_vec()),
        ("binary", b"name: x\nmessage: \xff\xfe\x00".to_vec()),
        ("control characters", b"name: x\nmessage: \x07\n".to_vec()),
        ("truncated", GOOD.as_bytes()[..GOOD.find("null").unwrap()].to_vec()),
        ("no mapping", b"- a\n- b\n".to_vec()),
        ("missing field", b"name: x\nmessage: y\n".to_vec()),
        ("unknown field", but("message: hello", "message: hello\nmassage: hello").into_bytes()),
        ("unknown field of a call", but("tool: no_such_tool", "tool: no_such_tool, args: {}").into_bytes()),
        ("field twice", but("message: hello", "message: hello\nmessage: hello").into_bytes()),
        ("text for a list", but("approve: [delete_file]", "approve: delete_file").into_bytes()),
        ("list for a text", but("message: hello", "message: [hello]").into_bytes()),
        ("number out of range", but("max_rounds: 3", "max_rounds: -3").into_bytes()),
        ("zero limit", but("max_rounds: 3", "max_rounds: 0").into_bytes()),
        ("unknown action", but("action: approve", "action: maybe").into_bytes()),
        ("bad name", but("name: good", "name: ../good").into_bytes()),
        ("folder above", but("message:", "folder: ../other\nmessage:").into_bytes()),
        ("absolute folder", but("message:", "folder: /etc\nmessage:").into_bytes()),
        ("unknown tool to approve", but("[delete_file]", "[delete_file, rm]").into_bytes()),
        ("no turns", b"name: x\nmessage: y\nmodel: []\n".to_vec()),
        ("empty turn", but("- text: done", "- {}").into_bytes()),
        ("asked again", but("  - text: done\n", "").into_bytes()),
        ("call id with a space", but("id: b", "id: b c").into_bytes()),
        ("decision on no call", but("call: a", "call: c").into_bytes()),
        ("two decisions", but("decisions:", "decisions:\n  - {call: a, action: deny}").into_bytes()),
        ("denied with a result", but("action: approve", "action: deny").into_bytes()),
        ("two documents", format!("{GOOD}---\n{GOOD}").into_bytes()),
        ("alias bomb", arguments(&bomb)),
        ("unknown alias", but("message: hello", "message: *nobody").into_bytes()),
        ("merge key", but("limits: {max_rounds: 3}", "limits: {<<: {max_rounds: 3}}").into_bytes()),
        ("deep brackets", arguments(&nested)),
        ("deep blocks", format!("{GOOD}{blocks}").into_bytes()),
        ("deep blocks in arguments", arguments(&format!("\n          a:\n{}", indent(&blocks, 11)))),
        ("tabs", b"name: x\n\tmessage: y\n".to_vec()),
        ("huge", vec![b'#'; (4 << 20) + 1]),
        (
            "huge label",
            format!("name: {}\nmessage: y\nmodel: [{{text: z}}]\n", "x".repeat(3 << 20)).into_bytes(),
        ),
    ];
    let mut shown = String::new();
    for (case, bytes) in cases {
        let error = match reading(bytes) {
            Ok(read) => panic!("{case}: expected an error, got {:?}", read.scenario),
            Err(error) => error,
        };
        assert!(error.chars().count() < 1_000, "{case}: {} bytes of message", error.len());
        writeln!(shown, "== {case}\n{error}\n").unwrap();
    }
    let mut settings = insta::Settings::clone_current();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The plain path, by which .ci/run finds referenced snapshots.
    settings.set_snapshot_path(root.canonicalize().unwrap().join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!("cli__scenario_errors", shown));
}

/// No prefix of a scenario and no changed byte of it panics.
#[test]
fn a_damaged_scenario_is_read_or_refused() {
    for end in (0..GOOD.len()).step_by(3) {
        drop(reading(&GOOD.as_bytes()[..end]));
    }
    for at in (0..GOOD.len()).step_by(3) {
        for byte in [b'\0', b'[', b'*', b'\n', 0xff] {
            let mut bytes = GOOD.as_bytes().to_vec();
            bytes[at] = byte;
            drop(reading(bytes));
        }
    }
}
