//! What the command writes fits the schemas that it prints.

use runstate::agent::SchemaCheck;
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
        .write("bad <&\u{7}>.jsonl", violating())
        .write("none.jsonl", "what is this\n");
    session.write("cut.jsonl", good() + "{\"seq\":10,\"at").write("RUN_STATE.json", "{\"run\": 7}");
    for (args, [failures, errors], code) in [
        (&["good.jsonl"] as &[&str], [0, 0], 0),
        (&["good.jsonl", "bad <&\u{7}>.jsonl", "--min-coverage", "100"], [2, 0], 1),
        (&["good.jsonl", "cut.jsonl", "none.jsonl", "absent.jsonl", "RUN_STATE.json"], [0, 4], 2),
        (&["good.jsonl", "--lifecycle", "service_run"], [0, 1], 2),
    ] {
        let said = session.run(&[&["check", "--format", "junit"], args].concat());
        assert_eq!(said.code, Some(code), "{}", said.shown());
        let report = quick_junit::Report::deserialize_from_str(&said.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", said.shown()));
        assert_eq!([report.failures, report.errors], [failures, errors], "{}", said.shown());
        let suites = &report.test_suites;
        assert_eq!(suites.iter().map(|suite| suite.tests).sum::<usize>(), report.tests);
        assert_eq!(suites.iter().map(|suite| suite.test_cases.len()).sum::<usize>(), report.tests);
        let traces = args.iter().filter(|arg| arg.contains(".json"));
        for trace in traces {
            let named = trace.replace('\u{7}', "\u{fffd}");
            assert!(suites.iter().any(|suite| suite.name.as_str() == named), "{named}: {}", said.shown());
        }
    }
}
