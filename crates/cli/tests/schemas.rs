//! What the command writes fits the schemas that it prints.

use runstate_agent::SchemaCheck;
use runstate_schema::JsonSchemas;
use serde_json::{Value, json};

use crate::session::Session;
use crate::traces::{good, parked, violating};

/// A diagram with a choice, and with a composite state in another.
const NESTED: &str = "stateDiagram-v2\n[*] --> Idle\nIdle --> c : begin\nstate c <<choice>>\nc --> Busy : [ready]\nc --> Idle\n\
state Busy {\n[*] --> Deep\nstate Deep {\n[*] --> Reading\nReading --> Writing : read\n}\n}\nBusy --> Idle : stop\n";

const NESTED_TRACE: &str = "\
{\"seq\":1,\"at_ms\":0,\"run\":\"r\",\"lifecycle\":\"job\",\"instance\":\"j\",\"event\":\"create\",\"from\":null,\"to\":\"Idle\"}
{\"seq\":2,\"at_ms\":0,\"run\":\"r\",\"lifecycle\":\"job\",\"instance\":\"j\",\"event\":\"begin\",\"from\":\"Idle\",\"to\":\"Reading\"}
{\"seq\":3,\"at_ms\":0,\"run\":\"r\",\"lifecycle\":\"job\",\"instance\":\"j\",\"event\":\"read\",\"from\":\"Reading\",\"to\":\"Deep\"}
{\"seq\":4,\"at_ms\":0,\"run\":\"r\",\"lifecycle\":\"job\",\"instance\":\"k\",\"event\":\"create\",\"from\":null,\"to\":\"Idel\"}
";

fn schema(session: &Session, of: &str) -> Value {
    serde_json::from_str(&session.run(&["schema", of]).stdout).unwrap()
}

fn fits(schema: &Value, value: &Value) {
    let told = JsonSchemas::new().check(schema, value);
    assert!(told.is_ok(), "{told:?}\n{value:#}");
}

#[test]
fn each_report_of_check_fits_its_schema() {
    let session = Session::new();
    session.write("good.jsonl", good()).write("parked.jsonl", parked()).write("bad.jsonl", violating());
    session.write("cut.jsonl", good() + "{\"seq\":10,\"at").write("none.jsonl", "what is this\n");
    session.write("back.jsonl", good().replacen("\"at_ms\":1,", "\"at_ms\":99,", 1));
    session.write("RUN_STATE.json", "{\"run\": 7}");
    session.write("job.mmd", NESTED).write("job.jsonl", NESTED_TRACE);
    session.write(
        "RUN_LOG.jsonl",
        "{\"run_id\": \"RUN-A-20260131-120000\", \"state\": \"FLYING\"}\n{\"state\": \"INIT\"}\n",
    );
    let schema = schema(&session, "check");
    let mut codes = Vec::new();
    for args in [
        &["good.jsonl", "parked.jsonl"] as &[&str],
        &["bad.jsonl", "back.jsonl", "--min-coverage", "100"],
        &["cut.jsonl"],
        &["none.jsonl", "absent.jsonl"],
        &["good.jsonl", "--lifecycle", "service_run"],
        &["RUN_STATE.json"],
        &["job.jsonl", "--diagram", "job.mmd"],
        &["RUN_LOG.jsonl", "RUN_STATE.json"],
        &["RUN_LOG.jsonl"],
    ] {
        let said = session.run(&[&["check", "--format", "json"], args].concat());
        let report: Value = serde_json::from_str(&said.stdout).unwrap();
        fits(&schema, &report);
        assert_eq!(report["exit"], json!(said.code));
        codes.push(said.code.unwrap());
    }
    assert_eq!(codes, [0, 1, 2, 2, 2, 2, 1, 2, 1]);
    // A field that is missing or renamed is found.
    let said = session.run(&["check", "good.jsonl", "--format", "json"]);
    let mut report: Value = serde_json::from_str(&said.stdout).unwrap();
    let held = report["coverage"][0]["edges"][0].as_object_mut().unwrap().remove("held").unwrap();
    assert!(JsonSchemas::new().check(&schema, &report).is_err());
    report["coverage"][0]["edges"][0]["is_held"] = held;
    assert!(JsonSchemas::new().check(&schema, &report).is_err());
}

#[test]
fn each_line_of_a_trace_fits_its_schema() {
    let session = Session::new();
    let schema = schema(&session, "trace");
    for line in (good() + &parked() + &violating()).lines() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        fits(&schema, &event);
        event["cost"] = json!(1.5);
        fits(&schema, &event);
        event.as_object_mut().unwrap().remove("from");
        assert!(JsonSchemas::new().check(&schema, &event).is_err());
    }
}

/// In the other direction: what fits is read, and what does not is refused.
#[test]
fn each_line_that_fits_the_schema_is_read() {
    let session = Session::new();
    let schema = schema(&session, "trace");
    let line = |field: &str, value: Value| {
        let mut event: Value = serde_json::from_str(good().lines().next().unwrap()).unwrap();
        event[field] = value;
        event
    };
    for (field, value, is_read) in [
        ("seq", json!(0), true),
        ("seq", json!(u64::MAX), true),
        ("seq", json!(1.8446744073709552e19), false),
        ("seq", json!(-1), false),
        ("seq", json!("1"), false),
        ("at_ms", json!(u64::MAX), true),
        ("at_ms", json!(null), false),
        ("run", json!(""), true),
        ("run", json!(7), false),
        ("lifecycle", json!("état \u{1f980} \"\\\u{7}"), true),
        ("from", json!("Running"), true),
        ("from", json!(["Running"]), false),
        ("to", json!(null), false),
        ("another", json!({"deep": [1, {"b": null}]}), true),
    ] {
        let event = line(field, value);
        session.write("one.jsonl", format!("{event}\n"));
        let said = session.run(&["show", "one.jsonl"]);
        assert_eq!(said.code, Some(if is_read { 0 } else { 2 }), "{}", said.shown());
        assert_eq!(JsonSchemas::new().check(&schema, &event).is_ok(), is_read, "{event}");
    }
}

#[test]
fn each_graph_fits_its_schema() {
    let session = Session::new();
    let schema = schema(&session, "graph");
    session.write("shop.mmd", "stateDiagram-v2\n[*] --> A\nA : waits\nA --> B : pay; now\nB --> [*]\n");
    session.write("job.mmd", NESTED);
    for name in ["run", "tool_call", "run_flow", "governed_run", "shop.mmd", "job.mmd"] {
        let said = session.run(&["diagram", name, "--format", "json"]);
        assert_eq!(said.code, Some(0), "{}", said.shown());
        fits(&schema, &serde_json::from_str(&said.stdout).unwrap());
    }
    fits(&schema, &json!({"name": "x", "states": ["A"], "edges": []}));
    assert!(JsonSchemas::new().check(&schema, &json!({"name": "x", "states": ["A"]})).is_err());
}

/// Each JUnit file is one that a reader of such files takes, and has a test for each trace, whatever became of it.
#[test]
fn each_junit_file_is_read_by_another_program() {
    let session = Session::new();
    session
        .write("good.jsonl", good())
        .write("bad <&\u{7}\u{202e}>.jsonl", violating())
        .write("none.jsonl", "what is this\n");
    session.write("cut.jsonl", good() + "{\"seq\":10,\"at").write("RUN_STATE.json", "{\"run\": 7}");
    session.write(
        "door.jsonl",
        good().lines().next().unwrap().replace("\"run\",\"inst", "\"door\",\"inst") + "\ngarbage\n",
    );
    session.write("RUN_LOG.jsonl", "{\"state\": \"INIT\"}\ngarbage\n{\"state\": \"COMPLETE\"}\n");
    for (args, [failures, errors], code) in [
        (&["good.jsonl"] as &[&str], [0, 0], 0),
        (&["good.jsonl", "bad <&\u{7}\u{202e}>.jsonl", "--min-coverage", "100"], [2, 0], 1),
        (&["good.jsonl", "cut.jsonl", "none.jsonl", "absent.jsonl", "RUN_STATE.json"], [0, 4], 2),
        (&["good.jsonl", "--lifecycle", "service_run"], [0, 1], 2),
        // An event without rules, and garbage behind it.
        (&["door.jsonl"], [1, 1], 2),
        (&["RUN_LOG.jsonl"], [1, 1], 2),
        (&["good.jsonl", "bad <&\u{7}\u{202e}>.jsonl", "--complete", "--monotonic-time"], [1, 0], 1),
    ] {
        let said = session.run(&[&["check", "--format", "junit"], args].concat());
        assert_eq!(said.code, Some(code), "{}", said.shown());
        fits_junit(&said.stdout);
        let report = quick_junit::Report::deserialize_from_str(&said.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", said.shown()));
        assert_eq!([report.failures, report.errors], [failures, errors], "{}", said.shown());
        let suites = &report.test_suites;
        assert_eq!(suites.iter().map(|suite| suite.tests).sum::<usize>(), report.tests);
        assert_eq!(suites.iter().map(|suite| suite.test_cases.len()).sum::<usize>(), report.tests);
        let traces = args.iter().filter(|arg| arg.contains(".json"));
        for trace in traces {
            let named = trace.replace('\u{7}', "\\u{7}").replace('\u{202e}', "\\u{202e}");
            assert!(suites.iter().any(|suite| suite.name.as_str() == named), "{named}: {}", said.shown());
        }
    }
}

/// What the schemas of such files ask for that CI systems publish: which elements are in which, at most one `error` or `failure` of a test
/// and before its output, the attributes that must be and may be, and counts that are those of the elements.
fn fits_junit(xml: &str) {
    const ELEMENTS: [(&str, &str, &[&str], &[&str]); 6] = [
        ("testsuites", "", &[], &["name", "time", "tests", "failures", "errors", "disabled"]),
        (
            "testsuite",
            "testsuites",
            &["name", "tests"],
            &["failures", "errors", "skipped", "time", "timestamp", "hostname"],
        ),
        ("testcase", "testsuite", &["name", "classname"], &["time", "status"]),
        ("error", "testcase", &["type"], &["message"]),
        ("failure", "testcase", &["type"], &["message"]),
        ("system-out", "testcase", &[], &[]),
    ];
    let mut open: Vec<&str> = Vec::new();
    // Of each suite, and of the file: what is said and what there is.
    let mut counts = std::collections::HashMap::<(&str, &str), (usize, usize)>::new();
    let mut in_test: Vec<&str> = Vec::new();
    for tag in xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap().split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap();
        assert!(
            text.trim().is_empty() || matches!(open.last(), Some(&"testcase")) || !tag.starts_with('/'),
            "{text}"
        );
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{xml}");
            if closed == "testsuite" {
                for count in ["tests", "failures", "errors"] {
                    let (said, are) = counts.remove(&(closed, count)).unwrap();
                    assert_eq!(said, are, "{count}: {xml}");
                }
            }
            continue;
        }
        let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let (_, parent, needed, allowed) = ELEMENTS.iter().find(|element| element.0 == name).expect(name);
        assert_eq!(open.last().copied().unwrap_or_default(), *parent, "{name}: {xml}");
        let parts: Vec<&str> = attributes.split('"').collect();
        let pairs: Vec<(&str, &str)> =
            parts.chunks_exact(2).map(|pair| (pair[0].trim().trim_end_matches('='), pair[1])).collect();
        needed
            .iter()
            .for_each(|it| assert!(pairs.iter().any(|(key, _)| key == it), "{name} has no {it}: {xml}"));
        for (key, value) in &pairs {
            assert!(needed.contains(key) || allowed.contains(key), "{name} has {key}: {xml}");
            if matches!(*key, "tests" | "failures" | "errors") {
                counts.insert((name, key), (value.parse().unwrap(), 0));
            }
        }
        let counted = match name {
            "testcase" => {
                in_test.clear();
                Some("tests")
            }
            "failure" => Some("failures"),
            "error" => Some("errors"),
            _ => None,
        };
        for of in ["testsuites", "testsuite"] {
            if let Some(counted) = counted {
                counts.get_mut(&(of, counted)).unwrap().1 += 1;
            }
        }
        if *parent == "testcase" {
            let before = if name == "system-out" {
                &["system-out"] as &[&str]
            } else {
                &["system-out", "error", "failure"]
            };
            assert!(!in_test.iter().any(|it| before.contains(it)), "{name} follows {in_test:?}: {xml}");
            in_test.push(name);
        }
        if !is_closed {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{xml}");
    assert!(counts.values().all(|(said, are)| said == are), "{counts:?}: {xml}");
}
