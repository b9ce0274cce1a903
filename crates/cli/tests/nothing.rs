//! What was not checked is not green: typos, empty files, traces beside states, logs that are known for what they are.

use crate::held::{ORDER, line, shop};

#[test]
fn a_lifecycle_that_is_mistyped_is_not_green() {
    let session = shop();
    let typo = ["check", "order.jsonl", "--diagram", "order.mmd", "--lifecycle", "ordr"];
    for format in ["text", "json", "junit"] {
        let said = session.run(&[&typo[..], &["--format", format]].concat());
        let told = format!("{}{}", said.stdout, said.stderr);
        assert!(said.code == Some(2) && told.contains("nothing was checked"), "{}", said.shown());
        assert!(told.contains("did you mean"), "{}", said.shown());
    }
    assert_eq!(session.run(&[&typo[..], &["--allow-empty"]].concat()).code, Some(0));
    session.write("empty.jsonl", "");
    let said = session.run(&["check", "empty.jsonl"]);
    assert!(said.code == Some(2) && said.stderr.contains("got no events; --allow-empty"), "{}", said.shown());
    for format in ["text", "json", "junit"] {
        let said = session.run(&["check", "empty.jsonl", "--allow-empty", "--format", format]);
        assert!(said.code == Some(0) && said.stderr.is_empty(), "{}", said.shown());
    }
    let said = session.run(&["check", "order.jsonl", "--lifecycle", "tool_cal"]);
    assert!(said.code == Some(2) && said.stderr.contains("did you mean \"tool_call\"?"), "{}", said.shown());
}

/// Of two traces each is one to check.
#[test]
fn each_trace_has_events_that_are_checked() {
    let session = shop();
    session.write("typo.jsonl", line(1, "ordr", "1", "teleport", None, "Nowhere"));
    let check = ["check", "order.jsonl", "typo.jsonl", "--diagram", "order.mmd", "--lifecycle", "order"];
    for format in ["text", "json", "junit"] {
        let said = session.run(&[&check[..], &["--format", format]].concat());
        let told = "nothing was checked: typo.jsonl: no event is of the lifecycle";
        assert!(said.code == Some(2) && said.stderr.contains(told), "{}", said.shown());
        assert!(
            format != "junit" || said.stdout.contains("tests=\"2\" failures=\"0\" errors=\"1\""),
            "{}",
            said.shown()
        );
    }
    assert_eq!(session.run(&[&check[..], &["--allow-empty"]].concat()).code, Some(0));
}

/// A diagram with a name is one to hold events against.
#[test]
fn each_named_diagram_has_events_that_are_checked() {
    let session = shop();
    let check = |name: &str, more: &[&str]| {
        let payment = format!("{name}=payment.mmd");
        session.run(
            &[&["check", "both.jsonl", "--diagram", "order=order.mmd", "--diagram", &payment], more].concat(),
        )
    };
    assert_eq!(check("payment", &[]).code, Some(0));
    let said = check("paymnt", &["--format", "junit"]);
    let told = "payment.mmd: no event is of the lifecycle \"paymnt\"; there are events of order, payment (did you mean \"payment\"?)";
    assert!(said.code == Some(2) && said.stderr.contains(told), "{}", said.shown());
    assert!(said.stdout.contains("errors=\"1\""), "{}", said.shown());
    // The events of the other one have no rules then.
    assert_eq!(check("paymnt", &["--allow-empty"]).code, Some(1));
    // That one is asked for alone says that the other one is not.
    assert_eq!(check("paymnt", &["--lifecycle", "order"]).code, Some(0));
}

#[test]
fn a_diagram_that_is_not_asked_for_asks_for_nothing() {
    let session = shop();
    session.write("noend.mmd", "stateDiagram-v2\n[*] --> Open : on a call; now\nOpen --> Closed : settle\n");
    let check = ["check", "order.jsonl", "--diagram", "order=order.mmd", "--diagram", "payment=noend.mmd"];
    let said = session.run(&[&check[..], &["--lifecycle", "order", "--complete"]].concat());
    assert!(said.code == Some(0) && !said.stderr.contains("noend.mmd"), "{}", said.shown());
    session.write("order.mmd", ORDER.replace("ship order", "ship"));
    session.write("order.jsonl", session.read("order.jsonl").replace("sent off", "ship"));
    let strict =
        |more: &[&str]| session.run(&[&check[..], &["--strict-events", "--allow-empty"], more].concat()).code;
    assert_eq!([strict(&[]), strict(&["--lifecycle", "order"])], [Some(2), Some(0)]);
}

/// No rule of the diagram is for the file.
#[test]
fn a_state_beside_another_lifecycle_is_refused() {
    let session = shop();
    session.write("state.json", STATE);
    for more in [
        &["--diagram", "order.mmd"] as &[&str],
        &["--lifecycle", "tool_call"],
        &["--diagram", "order.mmd", "--lifecycle", "ordr"],
    ] {
        for files in [&["state.json"] as &[&str], &["order.jsonl", "state.json"]] {
            let said = session.run(&[&["check"], files, more].concat());
            let told = "state.json is the state of a governed run";
            assert!(said.code == Some(2) && said.stderr.contains(told), "{}", said.shown());
        }
    }
    assert_eq!(session.run(&["check", "state.json"]).code, Some(0));
    assert_eq!(session.run(&["check", "state.json", "--lifecycle", "governed_run"]).code, Some(0));
}

const STATE: &str = r#"{
  "run_id": "RUN-A-20260131-120000", "project_id": "A", "current_state": "INIT", "previous_state": null,
  "state_history": [{"state": "INIT", "entered_at": "2026-01-31T12:00:00Z", "exited_at": null}],
  "tools_planned": [], "tools_completed": [], "tools_remaining": [], "current_tool": null,
  "approvals_pending": [], "approvals_granted": [],
  "created_at": "2026-01-31T12:00:00Z", "updated_at": "2026-01-31T12:00:00Z"
}"#;

const RUN: &str = "RUN-A-20260131-120000";

/// A trace is held against its diagrams wherever it stands, and its governed runs against their states.
#[test]
fn a_trace_beside_a_state_is_checked_as_a_trace() {
    let session = shop();
    session.write("state.json", STATE);
    let of_run = |seq: u64, event: &str, from: Option<&str>, to: &str| {
        line(seq, "governed_run", RUN, event, from, to)
            .replace("\"run\":\"r\"", &format!("\"run\":\"{RUN}\""))
    };
    let created = of_run(1, "create", None, "INIT");
    let check = |lines: &[&str]| {
        session.write("trace.jsonl", lines.concat());
        session.run(&["check", "state.json", "trace.jsonl"])
    };
    assert_eq!(check(&[&created]).code, Some(0), "{}", check(&[&created]).shown());
    let stray = line(2, "tool_call", "1", "teleport", Some("New"), "Succeeded");
    let said = check(&[&created, &stray]);
    assert!(said.code == Some(1) && said.stdout.contains("tool_call 1 of run r"), "{}", said.shown());
    assert_eq!(check(&[&created, "{\"seq\":3}\n"]).code, Some(2));
    let said = check(&[&created, &of_run(2, "plan", Some("INIT"), "PLANNING")]);
    let told = "trace.jsonl: state_history ends with INIT, line 2 of the log enters PLANNING";
    assert!(said.code == Some(1) && said.stdout.contains(told), "{}", said.shown());
    // By its name it is a log, and the stray event is a fault.
    session.write("RUN_LOG.jsonl", created.clone() + &stray);
    let said = session.run(&["check", "RUN_LOG.jsonl"]);
    let told = "line 2: it is an event of the lifecycle \"tool_call\"";
    assert!(said.code == Some(1) && said.stdout.contains(told), "{}", said.shown());
}

/// The states of another version may be in the first line, or in all.
#[test]
fn a_log_that_begins_with_an_unknown_state_is_a_log() {
    let session = shop();
    let line = |state: &str| format!("{{\"run_id\":\"{RUN}\",\"state\":\"{state}\"}}\n");
    session.write("RUN_LOG.jsonl", line("FLYING") + &line("LANDING"));
    let said = session.run(&["check", "RUN_LOG.jsonl", "--format", "junit"]);
    assert!(
        said.code == Some(1) && said.stdout.contains("line 2: state is &quot;LANDING&quot;"),
        "{}",
        said.shown()
    );
    session.write("my.jsonl", line("CREATED") + &line("INIT") + &line("COMPLETE"));
    let said = session.run(&["check", "my.jsonl"]);
    let told = ["line 1: state is \"CREATED\"", "line 3: no legal transition: INIT --> COMPLETE"];
    assert!(said.code == Some(1) && told.iter().all(|told| said.stdout.contains(told)), "{}", said.shown());
    // A line that cannot be read is an error, and no failure.
    session.write("my.jsonl", line("INIT") + "garbage\n" + &line("COMPLETE"));
    let said = session.run(&["check", "my.jsonl", "--format", "junit"]);
    assert!(
        said.code == Some(2) && said.stdout.contains("tests=\"2\" failures=\"1\" errors=\"1\""),
        "{}",
        said.shown()
    );
}

/// A log that was cut into files by size is one log: each part goes on where the one before it stops.
#[test]
fn parts_of_a_log_are_held_against_the_state_together() {
    let session = shop();
    session.write("state.json", STATE.replace("\"INIT\", \"previous_state\": null", "\"EXECUTING\", \"previous_state\": \"PLANNING\"").replace(
        "{\"state\": \"INIT\", \"entered_at\": \"2026-01-31T12:00:00Z\", \"exited_at\": null}",
        &["INIT", "PLANNING", "EXECUTING"].map(|state| {
            let exited = if state == "EXECUTING" { "null" } else { "\"2026-01-31T12:00:00Z\"" };
            format!("{{\"state\": \"{state}\", \"entered_at\": \"2026-01-31T12:00:00Z\", \"exited_at\": {exited}}}")
        }).join(", "),
    ));
    let lines = |states: &[&str]| -> String {
        states.iter().map(|state| format!("{{\"run_id\":\"{RUN}\",\"state\":\"{state}\"}}\n")).collect()
    };
    let check = |parts: [&[&str]; 2], more: &[&str]| {
        session.write("one.jsonl", lines(parts[0])).write("two.jsonl", lines(parts[1]));
        session.run(&[&["check", "state.json", "one.jsonl", "two.jsonl"], more].concat())
    };
    let said = check([&["INIT", "PLANNING"], &["EXECUTING"]], &[]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    // Each of two whole logs is held against it by itself.
    let whole: &[&str] = &["INIT", "PLANNING", "EXECUTING"];
    assert_eq!(check([whole, whole], &[]).code, Some(0));
    let said = check([whole, &["INIT", "PLANNING"]], &[]);
    assert!(
        said.code == Some(1) && said.stdout.contains("two.jsonl: entry 3 of state_history"),
        "{}",
        said.shown()
    );
    // A part that does not go on where the other one stops is told of.
    let said = check([&["INIT"], &["EXECUTING"]], &[]);
    assert!(
        said.code == Some(1) && said.stdout.contains("no legal transition: INIT --> EXECUTING"),
        "{}",
        said.shown()
    );
    let said = check([&["INIT", "PLANNING"], &["EXECUTING", "VERIFYING"]], &[]);
    assert!(
        said.code == Some(1)
            && said.stdout.contains("one.jsonl, two.jsonl: state_history ends with EXECUTING"),
        "{}",
        said.shown()
    );
}

/// What to do is said.
#[test]
fn a_trace_without_its_diagram_is_told_of_the_option() {
    let session = shop();
    for format in ["text", "json", "junit"] {
        let said = session.run(&["check", "order.jsonl", "--format", format]);
        let told = "help: order.jsonl: --diagram order=FILE checks the events of order against a diagram";
        assert!(said.code == Some(1) && said.stderr.contains(told), "{}", said.shown());
    }
    let check = ["check", "order.jsonl", "--diagram", "order.mmd", "--require-edge"];
    let said = session.run(&[&check[..], &["Cart:Piad"]].concat());
    let told = ["(did you mean \"Cart:Paid\"?)", "`runstate diagram order.mmd` shows"];
    assert!(said.code == Some(2) && told.iter().all(|told| said.stderr.contains(told)), "{}", said.shown());
    let said = session.run(&[
        "check",
        "both.jsonl",
        "--diagram",
        "order=order.mmd",
        "--diagram",
        "payment=payment.mmd",
        "--lifecycle",
        "paymnt",
    ]);
    assert!(said.code == Some(2) && said.stderr.contains("(did you mean \"payment\"?)"), "{}", said.shown());
}

/// A line that is no event is one kind of trouble, in each kind of file.
#[test]
fn unreadable_log_line_is_bad_input_at_any_position() {
    let session = shop();
    let line = |state: &str| format!("{{\"run_id\":\"RUN-A-20260131-120000\",\"state\":\"{state}\"}}");
    let good = [line("INIT"), line("PLANNING")];
    for name in ["RUN_LOG.jsonl", "my.jsonl"] {
        for at in 0..3 {
            let mut lines = good.to_vec();
            lines.insert(at, "no event".to_owned());
            session.write(name, lines.join("\n") + "\n");
            let said = session.run(&["check", name]);
            assert_eq!(said.code, Some(2), "{name}, line {}: {}", at + 1, said.shown());
            assert!(said.stdout.contains(&format!("line {}: it is no event", at + 1)), "{}", said.shown());
        }
        session.write(name, good.join("\n") + "\n");
        assert_eq!(session.run(&["check", name]).code, Some(0));
    }
}

/// A log that tells of another run, or under another name, is compared or said not to be.
#[test]
fn a_state_that_no_log_tells_of_is_said_to_be_alone() {
    let session = shop();
    session.write("state.json", STATE);
    let line = |run: &str, state: &str| format!("{{\"run_id\":\"{run}\",\"state\":\"{state}\"}}\n");
    let ours = |state: &str| line("RUN-A-20260131-120000", state);
    session.write("log.bak", ours("INIT") + &ours("PLANNING"));
    let said = session.run(&["check", "state.json", "log.bak"]);
    assert!(
        said.code == Some(1) && said.stdout.contains("line 2 of the log enters PLANNING"),
        "{}",
        said.shown()
    );
    session.write("log.bak", line("RUN-B-20260131-120000", "INIT"));
    for format in ["text", "json", "junit"] {
        let check = ["check", "state.json", "log.bak", "--format", format];
        let said = session.run(&check);
        let told = "no given log has a line of";
        assert!(
            said.code == Some(2) && said.stdout.contains(told) && said.stderr.contains(told),
            "{}",
            said.shown()
        );
        assert_eq!(session.run(&[&check[..], &["--allow-empty"]].concat()).code, Some(0));
    }
    // A trace that is no log of governed runs is not one that might have told of it.
    session.write("call.jsonl", crate::held::line(1, "tool_call", "1", "create", None, "New"));
    let said = session.run(&["check", "state.json", "call.jsonl"]);
    assert!(
        said.code == Some(0) && said.stdout.contains("note: no given log has a line"),
        "{}",
        said.shown()
    );
    let said = session.run(&["check", "state.json"]);
    assert!(said.code == Some(0) && !said.stdout.contains("note"), "{}", said.shown());
}

/// Coverage of nothing is no coverage.
#[test]
fn a_diagram_of_which_no_event_came_is_in_the_coverage() {
    let session = shop();
    session.write("state.json", STATE);
    let said = session.run(&["check", "state.json", "--min-coverage", "1"]);
    assert!(
        said.code == Some(1) && said.stdout.contains("no lifecycle with edges is covered"),
        "{}",
        said.shown()
    );
    let both = [
        "check",
        "order.jsonl",
        "--diagram",
        "order=order.mmd",
        "--diagram",
        "paymnt=payment.mmd",
        "--coverage",
        "--allow-empty",
    ];
    let said = session.run(&[&both[..], &["--min-coverage", "80"]].concat());
    assert!(said.code == Some(1) && said.stdout.contains("paymnt: 0 of 1 edges taken"), "{}", said.shown());
    // A share that is shown is reached.
    let said = session.run(&[&both[..], &["--min-coverage", "66.6"]].concat());
    assert!(said.code == Some(0) && said.stdout.contains("order: 2 of 2"), "{}", said.shown());
}

#[test]
fn the_file_that_is_meant_is_named() {
    let session = shop();
    session.write("a.stream.yaml", "");
    for (typo, meant) in [("ordr.mmd", "order.mmd"), ("./a.steam.yaml", "./a.stream.yaml")] {
        let said = session.run(&["diagram", typo]);
        assert!(said.stderr.contains(&format!("did you mean {meant}?")), "{}", said.shown());
    }
    for other in ["absent.mmd", "nowhere/order.mmd", "order.md"] {
        let said = session.run(&["diagram", other]);
        assert!(!said.stderr.contains("did you mean"), "{}", said.shown());
    }
    session.write("suites/one.yaml", "");
    let said = session.run(&["test", "siutes"]);
    assert!(said.stderr.contains("did you mean suites?"), "{}", said.shown());
}
