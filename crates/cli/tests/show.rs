use serde_json::Value;

use crate::session::{Session, assert_shown};
use crate::traces::{bad, good, parked, violating};

#[test]
fn a_trace_is_shown_as_text_as_a_table_and_as_a_diagram() {
    let session = Session::new();
    session.write("good.jsonl", good()).write("bad.jsonl", violating());
    let mut shown = String::new();
    for args in [
        &["show", "good.jsonl"] as &[&str],
        &["show", "good.jsonl", "--format", "timeline"],
        &["show", "good.jsonl", "--format", "mermaid"],
        &["show", "bad.jsonl", "--format", "mermaid", "--lifecycle", "tool_call"],
    ] {
        let said = session.run(args);
        assert_eq!(said.code, Some(0));
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("show", &shown);
    // A diagram that is shown is one that can be read.
    session.write("shown.md", session.run(&["show", "good.jsonl", "--format", "mermaid"]).stdout);
    let read = session.run(&["diagram", "shown.md#tool_call", "--format", "json"]);
    assert_eq!((read.code, read.stderr.as_str()), (Some(0), ""), "{}", read.shown());
}

/// A trace of an own lifecycle, of two hours.
const ORDERS: &str = "\
{\"seq\":1,\"at_ms\":1700000000000,\"run\":\"r\",\"lifecycle\":\"order\",\"instance\":\"7f3c9a52-90be-4d1e-8a3f-2b1c5d6e7f80\",\"event\":\"create\",\"from\":null,\"to\":\"Cart\"}
{\"seq\":2,\"at_ms\":1700000001250,\"run\":\"r\",\"lifecycle\":\"order\",\"instance\":\"7f3c9a52-90be-4d1e-8a3f-2b1c5d6e7f80\",\"event\":\"pay\",\"from\":\"Cart\",\"to\":\"Paid\"}
{\"seq\":3,\"at_ms\":1700007381250,\"run\":\"r\",\"lifecycle\":\"order\",\"instance\":\"7f3c9a52-90be-4d1e-8a3f-2b1c5d6e7f80\",\"event\":\"ship\",\"from\":\"Paid\",\"to\":\"Shipped\"}
{\"seq\":4,\"at_ms\":1700000000500,\"run\":\"r\",\"lifecycle\":\"payment\",\"instance\":\"1\",\"event\":\"create\",\"from\":null,\"to\":\"Open\"}
";

#[test]
fn the_timeline_of_any_lifecycle_is_shown() {
    let session = Session::new();
    session.write("orders.jsonl", ORDERS);
    let show = |more: &[&str], columns: &str| {
        let args = [&["show", "orders.jsonl", "--format", "timeline"], more].concat();
        session.said(&args, &session.command(&args).env("COLUMNS", columns).output().unwrap())
    };
    let mut shown = String::new();
    for (more, columns) in [
        (&[] as &[&str], "120"),
        (&[], "60"),
        (&["--last", "2"], "60"),
        (&["--lifecycle", "payment", "--diagram", "pay.mmd"], "none"),
    ] {
        session.write("pay.mmd", "stateDiagram-v2\n[*] --> Open\n");
        shown.push_str(&show(more, columns).shown());
    }
    assert_shown("show_timeline", &shown);
    for columns in ["0", "1", "17", "99999999999999999999999"] {
        assert_eq!(show(&[], columns).code, Some(0));
    }
}

#[test]
fn the_last_rows_are_for_a_timeline() {
    let session = Session::new();
    session.write("orders.jsonl", ORDERS);
    let said = session.run(&["show", "orders.jsonl", "--last", "2"]);
    assert!(
        said.code == Some(2) && said.stderr.contains("--last: expected --format timeline"),
        "{}",
        said.shown()
    );
    assert_eq!(session.run(&["show", "orders.jsonl", "--format", "timeline", "--last", "0"]).code, Some(2));
}

#[test]
fn a_lifecycle_without_an_event_is_told_of() {
    let session = Session::new();
    session.write("orders.jsonl", ORDERS).write("order.mmd", "stateDiagram-v2\n[*] --> Cart\n");
    for format in ["text", "timeline", "mermaid", "json", "jsonl"] {
        let said = session.run(&[
            "show",
            "orders.jsonl",
            "--diagram",
            "order.mmd",
            "--lifecycle",
            "ordr",
            "--format",
            format,
        ]);
        assert!(said.code == Some(2) && said.stdout.is_empty(), "{}", said.shown());
        assert!(
            said.stderr.contains("events of order, payment (did you mean \"order\"?)"),
            "{}",
            said.shown()
        );
    }
}

#[test]
fn json_keeps_every_event() {
    let session = Session::new();
    let trace = good().replace("\"seq\":3,", "\"seq\":3,\"cost\":1.50,");
    let said = session.run_with(&["show", "-", "--format", "json"], &trace);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let events: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json["events"], Value::from(events));
    assert_eq!(json["report"]["verdict"], "conforms");
}

#[test]
fn malformed_trace_is_bad_input() {
    let session = Session::new();
    for (case, content) in bad() {
        // One of them is 17 MB long, and is read in the same way for each.
        let formats = if content.len() > 1 << 20 {
            &["text"] as &[&str]
        } else {
            &["text", "timeline", "mermaid", "json"]
        };
        session.write("trace.jsonl", &content);
        for format in formats {
            let said = session.run(&["show", "trace.jsonl", "--format", format]);
            assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{case} {format}: {}", said.shown());
            assert!(said.stderr.starts_with("error: trace.jsonl:"), "{case}: {}", said.stderr);
        }
    }
    session.write(
        "trace.jsonl",
        good().replace("tool_call", "door").replace("\"lifecycle\":\"run\"", "\"lifecycle\":\"gate\""),
    );
    let said = session.run(&["show", "trace.jsonl", "--format", "mermaid"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.shown());
}

/// An order that ships from its cart.
const SHOP: &str = "stateDiagram-v2
    direction LR
    [*] --> Cart
    Cart --> Paid : pay
    Paid --> Shipped : ship
    Shipped --> [*]
";

#[test]
fn illegal_lines_are_marked_in_text_and_timeline() {
    let session = Session::new();
    session.write(
        "orders.jsonl",
        ORDERS.replace("\"from\":\"Cart\",\"to\":\"Paid\"", "\"from\":\"Cart\",\"to\":\"Shipped\""),
    );
    session.write("shop.mmd", SHOP);
    let place = ["show", "orders.jsonl", "--diagram", "order=shop.mmd"];
    let text = session.run(&place);
    assert_eq!(
        text.stdout.matches("  <- illegal: no edge leads from Cart to Shipped\n").count(),
        1,
        "{}",
        text.shown()
    );
    let timeline = session.run(&[&place[..], &["--format", "timeline"]].concat());
    assert!(timeline.stdout.starts_with("begins 2023-11-14 22:13:20.000 UTC\n"), "{}", timeline.shown());
    assert!(timeline.stdout.contains("!1.25 s"), "{}", timeline.shown());
}

#[test]
fn lifecycle_without_a_diagram_is_named_as_not_checked() {
    let session = Session::new();
    session.write("orders.jsonl", ORDERS).write("shop.mmd", SHOP).write("good.jsonl", good());
    for format in ["text", "timeline"] {
        let show = |more: &[&str]| session.run(&[&["show", "--format", format], more].concat()).stdout;
        let note = "Note: not checked, since there is no diagram: ";
        assert!(show(&["orders.jsonl"]).ends_with(&format!("{note}order, payment.\n")));
        assert!(
            show(&["orders.jsonl", "--diagram", "order=shop.mmd"]).ends_with(&format!("{note}payment.\n"))
        );
        assert!(!show(&["good.jsonl"]).contains("Note: "));
    }
}

#[test]
fn open_waits_are_shown_in_each_format() {
    let session = Session::new();
    session.write("parked.jsonl", parked());
    let show = |format: &str| session.run(&["show", "parked.jsonl", "--format", format]).stdout;
    for (format, expected) in [
        ("timeline", "  tool_call "),
        ("timeline", "~ still waits in Suspended\n"),
        ("html", "still waits in <code>Suspended</code>"),
        ("gantt", " Suspended, still waits :active, "),
        ("perfetto", "\"still waits\":true"),
    ] {
        let shown = show(format);
        assert!(shown.contains(expected), "{format}: {shown}");
        assert_eq!(shown, show(format), "the clock of the machine has no effect");
    }
}

#[test]
fn reviews_are_written_in_each_format() {
    let session = Session::new();
    session.write("orders.jsonl", ORDERS).write("shop.mmd", SHOP);
    let show = |format: &str, more: &[&str]| {
        let place = ["show", "orders.jsonl", "--diagram", "order=shop.mmd", "--format", format];
        let said = session.run(&[&place[..], more].concat());
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{}", said.shown());
        said.stdout
    };
    let page = show("html", &[]);
    assert!(
        page.starts_with("<!doctype html>")
            && page.contains("not checked, since there is no diagram: payment")
    );
    assert!(show("gantt", &[]).starts_with("gantt\n    title orders.jsonl"));
    assert!(show("markdown", &["orders.jsonl"]).contains("| `order` | 2 of 2 | 100.0 % |"));
    let chrome: Value = serde_json::from_str(&show("perfetto", &["orders.jsonl"])).unwrap();
    let is_process = |event: &&Value| event["name"] == "process_name";
    assert_eq!(chrome["traceEvents"].as_array().unwrap().iter().filter(is_process).count(), 2);
    // Ids and times differ, behaviour does not.
    let stable = show("html", &["--stable", "--redact", "order"]);
    assert!(!stable.contains("7f3c9a52") && !stable.contains("2023") && stable.contains("[redacted]#1"));
}

#[test]
fn options_of_reviews_are_refused_for_other_formats() {
    let session = Session::new();
    session.write("orders.jsonl", ORDERS);
    for (args, why) in [
        (&["orders.jsonl", "--stable"] as &[&str], "got --format text"),
        (&["orders.jsonl", "--redact", "x", "--format", "json"], "got --format json"),
        // A variable without a value would redact nothing.
        (&["orders.jsonl", "--redact", "", "--format", "html"], "a value is required for '--redact <TEXT>'"),
        (
            &["orders.jsonl", "orders.jsonl", "--format", "html"],
            "expected one run or trace with --format html, got 2",
        ),
    ] {
        let said = session.run(&[&["show"], args].concat());
        assert!(said.code == Some(2) && said.stderr.contains(why), "{}", said.shown());
    }
}

#[test]
fn a_stored_run_is_a_page_with_arguments_and_decisions() {
    let session = Session::new();
    let scenario = "name: pay\nmessage: go\napprove: [transfer]\ntools:\n  transfer: {does: [{gives: {success: sent}}]}\nmodel:\n  \
                    - calls: [{id: t, tool: transfer, arguments: {amount: 48213}}]\n  - text: done\ndecisions:\n  \
                    - {call: t, action: approve, reason: agreed}\n";
    session
        .write("pay.yaml", scenario)
        .write("hidden.yaml", scenario.replace("name: pay", "name: hidden\nredact: true"));
    for (file, run, has, lacks) in [
        ("pay.yaml", "pay-1", "{&quot;amount&quot;:48213}", "[arguments]"),
        ("pay.yaml", "pay-2", "<dd>done", "[answer]"),
        ("hidden.yaml", "hidden-1", "[arguments]", "48213"),
        ("hidden.yaml", "hidden-2", "[answer]", "<dd>done<"),
    ] {
        let place = ["--state-dir", "runs"];
        assert_eq!(session.run(&[&["run", file], &place[..]].concat()).code, Some(0));
        let page = session.run(&[&["show", run, "--format", "html"], &place[..]].concat());
        assert!(
            page.code == Some(0) && page.stdout.contains(has) && !page.stdout.contains(lacks),
            "{}",
            page.shown()
        );
        assert!(page.stdout.contains("<dt>decision<dd>approved by "), "{}", page.shown());
        // A decision belongs to the slice of its wait.
        let trace = session.run(&[&["show", run, "--format", "perfetto"], &place[..]].concat()).stdout;
        let decision = |args: &Value| args["fact decision"].as_str().map(str::to_owned);
        let decided = slices_with(&trace, decision);
        assert!(matches!(&decided[..], [(state, _)] if state == "Suspended"), "{decided:?}");
    }
}

/// The states of the slices with that fact in their arguments, with the fact.
fn slices_with(trace: &str, fact: impl Fn(&Value) -> Option<String>) -> Vec<(String, String)> {
    let trace: Value = serde_json::from_str(trace).unwrap();
    let slices = trace["traceEvents"].as_array().unwrap().iter();
    let of = |slice: &Value| Some((slice["name"].as_str()?.to_owned(), fact(&slice["args"])?));
    slices.filter_map(of).collect()
}

#[test]
fn the_page_of_a_stored_run_has_its_decision_and_its_cancellation() {
    let session = Session::new();
    session.write(
        "w.yaml",
        "name: w\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}]\n",
    );
    let say = |args: &[&str]| session.run(&[args, &["--state-dir", "runs"]].concat());
    assert_eq!(say(&["run", "w.yaml"]).code, Some(3));
    let page = || say(&["show", "w-1", "--format", "html"]).stdout;
    let wait = |page: &str| {
        let waits = page.lines().find(|line| line.contains("tool_call p still waits in"));
        waits.unwrap_or_default().to_owned()
    };
    assert!(wait(&page()).contains("still waits in") && !wait(&page()).contains("approved"), "{}", page());
    let approved = say(&["approve", "w-1/p/1", "--run", "w-1", "--actor", "ada"]);
    assert_eq!(approved.code, Some(0), "{}", approved.shown());
    let decided = page();
    assert!(wait(&decided).contains(": approved by ada, at 20"), "{decided}");
    assert!(wait(&decided).contains("(not taken yet)"), "{decided}");
    let stable = say(&["show", "w-1", "--format", "html", "--stable"]).stdout;
    assert!(stable.contains("approved by ada (not taken yet)") && !stable.contains(", at 20"), "{stable}");
    let cancelled = say(&["cancel", "w-1", "--reason", "no longer needed"]);
    assert!(matches!(cancelled.code, Some(0 | 1)), "{}", cancelled.shown());
    let page = page();
    assert!(page.contains("<dt>cancellation<dd>no longer needed") && !page.contains("<dt>ended"), "{page}");
    assert_eq!(say(&["resume", "w-1"]).code, Some(1));
    let ended = say(&["show", "w-1", "--format", "html"]).stdout;
    assert!(ended.contains("<dt>ended<dd>cancelled</dl>"), "{ended}");
    assert!(!ended.contains("<dt>cancellation") && !ended.contains("still waits in"), "{ended}");
}

#[test]
fn two_runs_of_a_scenario_have_one_stable_page() {
    let session = Session::new();
    session.write("s.yaml", "name: s\nmessage: go\nmodel:\n  - text: done\n");
    let waits =
        "name: w\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}]\n";
    session.write("w.yaml", waits);
    let place = ["--state-dir", "runs"];
    for (name, code) in [("s", 0), ("w", 3)] {
        let page = |run: &str| {
            let ran = session.run(&[&["run", &format!("{name}.yaml")], &place[..]].concat());
            assert_eq!(ran.code, Some(code), "{}", ran.shown());
            session.run(&[&["show", run, "--format", "html", "--stable"], &place[..]].concat()).stdout
        };
        let (one, two) = (page(&format!("{name}-1")), page(&format!("{name}-2")));
        assert!(one.contains("a stored run") && !one.contains(&format!("{name}-1")), "{one}");
        assert_eq!(one, two);
    }
}

#[test]
fn a_stream_and_a_governed_log_are_reviewed_too() {
    let session = Session::new();
    session.write("s.yaml", "name: s\nstreams: [{attempts: [{script: [{token: a}, complete]}]}]\n");
    let trace = session.run(&["stream", "s.yaml", "--trace"]);
    assert_eq!(trace.code, Some(0), "{}", trace.shown());
    let page = session.run_with(&["show", "-", "--format", "html"], &trace.stdout);
    assert!(page.stdout.contains("conforms: ") && page.stdout.contains("stream_session"), "{}", page.shown());
    let entry = |state: &str, second: u32| {
        format!(
            "{{\"run_id\":\"RUN-A-20260131-120000\",\"state\":\"{state}\",\"timestamp\":\"2026-01-31T12:00:{second:02}Z\"}}\n"
        )
    };
    session.write("RUN_LOG.jsonl", entry("INIT", 0) + &entry("PLANNING", 5));
    let page = session.run(&["show", "RUN_LOG.jsonl", "--format", "html"]);
    assert!(page.stdout.contains("begins 2026-01-31 12:00:00.000 UTC, lasts 5.00 s"), "{}", page.shown());
    // An unreadable line is named, and the lines around it are shown.
    session.write("RUN_LOG.jsonl", entry("INIT", 0) + "{\"run_id\":\n" + &entry("PLANNING", 5));
    let page = session.run(&["show", "RUN_LOG.jsonl", "--format", "html"]);
    assert_eq!(page.code, Some(2));
    assert!(
        page.stdout.contains("<strong>The trace is not whole:</strong> line 2 is no event"),
        "{}",
        page.shown()
    );
    assert!(page.stdout.contains("lasts 5.00 s"), "{}", page.shown());
    session.write("RUN_LOG.jsonl", "{\"run_id\":\n");
    assert_eq!(session.run(&["show", "RUN_LOG.jsonl"]).code, Some(2));
}

#[test]
fn an_interrupted_trace_is_shown_with_its_loss() {
    let session = Session::new();
    let whole = good();
    let cut = &whole[..whole.len() - 30];
    let mixed = whole.replacen("{\"seq\":4", "panicked at src/main.rs\n{\"seq\":4", 1);
    session.write("cut.jsonl", cut).write("mixed.jsonl", &mixed);
    for format in ["text", "timeline", "html", "markdown"] {
        for (file, line, loss) in [
            ("cut.jsonl", "line 9 is cut", "its event is lost"),
            ("mixed.jsonl", "line 4 is no event", "6 lines after it are left out"),
        ] {
            let said = session.run(&["show", file, "--format", format]);
            assert_eq!(said.code, Some(2), "{}", said.shown());
            let shown = said.stdout.replace(['\n', ' '], " ");
            assert!(shown.contains(line) && shown.contains(loss), "{format}: {}", said.shown());
            assert!(said.stderr.starts_with(&format!("error: {file}:")), "{}", said.shown());
            // What precedes the line is there.
            assert!(shown.contains("Suspended"), "{}", said.shown());
        }
    }
    for format in ["mermaid", "json"] {
        let said = session.run(&["show", "cut.jsonl", "--format", format]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.shown());
    }
    // A line that is too long is one line.
    let long = format!("{}{}\n\n{}", whole, "x".repeat(17 << 20), good());
    session.write("long.jsonl", long);
    let said = session.run(&["show", "long.jsonl", "--format", "timeline"]);
    assert!(
        said.stdout.replace('\n', " ").contains("and 10 lines after it are left out"),
        "{}",
        said.shown()
    );
}

/// The state of a governed run with an approval, as the program writes it.
fn governed_run(session: &Session) -> String {
    let plan = "project: SITE\nfolder: site\ngates: {auto: [build]}\ntools:\n  - {name: build, run: ['true']}\n  \
                - {name: deploy, run: ['true']}\nverify:\n  - run: ['true']\naudit:\n  - {reviewer: quality, run: ['true']}\n";
    session.write("plan.yaml", plan);
    std::fs::create_dir_all(session.path("site")).unwrap();
    session.write("site/index.html", "old");
    let governed = |args: &[&str]| session.run(&[&["governed"], args, &["--state-dir", "runs"]].concat());
    let said = governed(&["run", "plan.yaml", "--json"]);
    assert_eq!(said.code, Some(3), "{}", said.shown());
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let run = json["run"].as_str().unwrap().to_owned();
    let said = governed(&["approve", &format!("{run}-A1"), "--by", "ada <b>"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert_eq!(governed(&["recover", &run]).code, Some(0));
    run
}

#[test]
fn a_governed_run_is_a_page_with_its_decisions_and_actors() {
    let session = Session::new();
    let run = governed_run(&session);
    let (state, log) = (format!("runs/{run}/RUN_STATE.json"), format!("runs/{run}/RUN_LOG.jsonl"));
    for file in [&state, &log] {
        let page = session.run(&["show", file, "--format", "html"]);
        assert_eq!((page.code, page.stderr.as_str()), (Some(0), ""), "{}", page.shown());
        let decision = format!("<dt>decision {run}-A1<dd>approved by ada &lt;b&gt;, at ");
        assert!(page.stdout.contains(&decision), "{}", page.shown());
        let question = format!("<dt>question {run}-A1<dd>deploy (High risk): run true");
        assert!(page.stdout.contains(&question), "{}", page.shown());
        assert!(page.stdout.contains("<dt>tool deploy, attempt 1<dd>pass after "), "{}", page.shown());
        assert!(page.stdout.contains("conforms: 8 events, 1 instance"), "{}", page.shown());
        let number = if file.ends_with(".json") { "<th>Entry<th>" } else { "<th>Line<th>" };
        assert!(page.stdout.contains(number), "{}", page.shown());
        let trace = session.run(&["show", file, "--format", "perfetto"]).stdout;
        let question = format!("fact question {run}-A1");
        let asked = slices_with(&trace, |args| args[&question].as_str().map(str::to_owned));
        assert!(matches!(&asked[..], [(state, _)] if state == "AWAITING_APPROVAL"), "{asked:?}");
        let hidden = session.run(&["show", file, "--format", "html", "--redact", "ada"]);
        assert!(hidden.stdout.contains("by [redacted] &lt;b&gt;"), "{}", hidden.shown());
        // A stable page has no id and no time of the run.
        let stable = session.run(&["show", file, "--format", "html", "--stable"]);
        let action = format!("{run}/work");
        assert!(!stable.stdout.replace(&action, "").contains(&run[..8]), "{}", stable.shown());
        assert!(
            stable.stdout.contains("<dd>approved by ada &lt;b&gt;; the action was attempted<"),
            "{}",
            stable.shown()
        );
        let text = session.run(&["show", file]);
        assert_eq!(text.stdout.lines().count(), 8, "{}", text.shown());
    }
    // The history of the state is the trace of the log.
    assert_eq!(session.run(&["show", &state]).stdout, session.run(&["show", &log]).stdout);
    let said = session.run(&["show", &state, "--diagram", "x.mmd"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    session.write("broken/RUN_STATE.json", "{\"state_history\": 1}");
    let said = session.run(&["show", "broken/RUN_STATE.json"]);
    assert!(
        said.code == Some(2) && said.stderr.contains("or the RUN_LOG.jsonl of a governed run"),
        "{}",
        said.shown()
    );
}

#[test]
fn diagram_of_another_editor_keeps_its_lines() {
    let session = Session::new();
    session.write("orders.jsonl", ORDERS).write("shop.mmd", SHOP.replace('\n', "\r\n"));
    for args in [
        &["show", "orders.jsonl", "--diagram", "order=shop.mmd", "--format", "mermaid"][..],
        &["diagram", "shop.mmd"],
    ] {
        let said = session.run(args);
        assert!(said.code == Some(0) && !said.stdout.contains("u{d}"), "{}", said.shown());
    }
}

/// A log with a wrong event, an unknown state, a time that goes back, and an event of another lifecycle.
const FAULTY_LOG: &str = r#"{"seq":1,"at_ms":1700000000000,"run":"RUN-A-20260131-120000","lifecycle":"governed_run","instance":"RUN-A-20260131-120000","event":"create","from":null,"to":"INIT"}
{"seq":2,"at_ms":1700000002000,"run":"RUN-A-20260131-120000","lifecycle":"governed_run","instance":"RUN-A-20260131-120000","event":"wrong","from":"INIT","to":"PLANNING"}
{"seq":3,"at_ms":1700000001000,"run":"RUN-A-20260131-120000","lifecycle":"governed_run","instance":"RUN-A-20260131-120000","event":"execute","from":"PLANNING","to":"EXECUTING"}
{"seq":4,"at_ms":1700000003000,"run":"RUN-A-20260131-120000","lifecycle":"governed_run","instance":"RUN-A-20260131-120000","event":"x","from":"EXECUTING","to":"NOWHERE"}
{"seq":5,"at_ms":1700000004000,"run":"RUN-A-20260131-120000","lifecycle":"order","instance":"o","event":"create","from":null,"to":"Cart"}
"#;

#[test]
fn a_governed_log_is_shown_as_recorded_with_the_faults_of_its_check() {
    let session = Session::new();
    session.write("RUN_LOG.jsonl", FAULTY_LOG);
    let checked = session.run(&["check", "RUN_LOG.jsonl"]);
    assert_eq!(checked.code, Some(1), "{}", checked.shown());
    let text = session.run(&["show", "RUN_LOG.jsonl"]);
    for line in checked.stdout.lines().filter_map(|line| line.trim().strip_prefix("line ")) {
        let (_, fault) = line.split_once(": ").unwrap();
        assert!(text.stdout.contains(&format!("<- illegal: {fault}")), "{fault}\n{}", text.shown());
    }
    assert_eq!(text.stdout.matches("<- illegal").count(), 4, "{}", text.shown());
    assert_eq!(session.run(&["show", "RUN_LOG.jsonl", "--format", "jsonl"]).stdout, FAULTY_LOG);
    let page = session.run(&["show", "RUN_LOG.jsonl", "--format", "html"]);
    assert!(page.stdout.contains("violates: 5 events, 2 instances, 4 illegal events"), "{}", page.shown());
    assert!(page.stdout.contains("time runs backwards on line 3"), "{}", page.shown());
    let shown = session.run(&["show", "RUN_LOG.jsonl", "--format", "json"]);
    let json: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(json["faults"].as_array().unwrap().len(), 4, "{json}");
    assert_eq!(json["events"].as_array().unwrap().len(), 5);
}

#[test]
fn a_log_of_another_program_keeps_its_states() {
    let session = Session::new();
    let line = |state: &str, second: u32| {
        format!(
            "{{\"run_id\":\"RUN-A-20260131-120000\",\"state\":\"{state}\",\"at\":\"2026-01-31T12:00:{second:02}Z\"}}\n"
        )
    };
    session.write("log.jsonl", line("INIT", 0) + &line("COOKING", 1) + &line("VERIFYING", 2));
    let text = session.run(&["show", "log.jsonl"]);
    assert!(
        text.stdout.contains("INIT --> COOKING : unknown  <- illegal: state is \"COOKING\""),
        "{}",
        text.shown()
    );
    assert!(text.stdout.contains("COOKING --> VERIFYING : unknown"), "{}", text.shown());
    assert!(!text.stdout.contains("[*] --> VERIFYING"), "{}", text.shown());
}

#[test]
fn a_trace_of_a_stream_has_the_times_of_its_session() {
    let session = Session::new();
    session
        .write("s.yaml", "name: s\nstreams: [{attempts: [{script: [{token: a}, {wait: 250}, complete]}]}]\n");
    let trace = session.run(&["stream", "s.yaml", "--trace"]);
    assert!(trace.stdout.contains("\"at_ms\":250"), "{}", trace.shown());
}

#[test]
fn a_redacted_page_quotes_no_line_on_standard_error() {
    let session = Session::new();
    session.write("cut.jsonl", good() + "{\"secret\":\"abc123\"}\n");
    let plain = session.run(&["show", "cut.jsonl", "--format", "html"]);
    assert!(plain.stderr.contains("abc123"), "{}", plain.shown());
    let page = session.run(&["show", "cut.jsonl", "--format", "html", "--redact", "abc123"]);
    assert!(!page.stderr.contains("abc123") && !page.stdout.contains("abc123"), "{}", page.shown());
    assert_eq!(page.code, Some(2));
}

#[test]
fn a_line_of_a_log_without_a_time_has_no_invented_duration() {
    let session = Session::new();
    let line = |state: &str, at: &str| {
        format!("{{\"run_id\":\"RUN-A-20260131-120000\",\"state\":\"{state}\"{at}}}\n")
    };
    let at = |time: &str| format!(",\"at\":\"2026-01-31T{time}Z\"");
    let log = line("INIT", &at("12:00:00"))
        + &line("PLANNING", &at("12:00:01"))
        + &line("EXECUTING", &at("12:00:02"))
        + &line("AWAITING_APPROVAL", "")
        + &line("EXECUTING", &at("21:00:00"));
    session.write("RUN_LOG.jsonl", log);
    let shown = session.run(&["show", "RUN_LOG.jsonl", "--format", "timeline"]);
    assert!(!shown.stdout.contains("8 h") && shown.stdout.contains("? has no time"), "{}", shown.shown());
}

#[test]
fn events_of_other_lifecycles_are_counted() {
    let session = Session::new();
    session.write("trace.jsonl", good());
    for format in ["text", "timeline", "markdown", "html", "gantt"] {
        let shown = session.run(&["show", "trace.jsonl", "--lifecycle", "run", "--format", format]);
        assert!(shown.stdout.contains("of other lifecycles are not shown"), "{format}: {}", shown.shown());
    }
}

#[test]
fn a_cut_trace_has_one_verdict_in_markdown() {
    let session = Session::new();
    let whole = good();
    session.write("cut.jsonl", &whole[..whole.len() - 30]);
    for command in ["check", "show"] {
        let shown = session.run(&[command, "cut.jsonl", "--format", "markdown"]);
        assert!(shown.stdout.contains("| ⚠ interrupted | "), "{}", shown.shown());
        assert!(shown.stdout.contains("| 0 |\n") && !shown.stdout.contains("- legal"), "{}", shown.shown());
        assert!(shown.stdout.contains("the trace is not whole"), "{}", shown.shown());
        assert_eq!(shown.code, Some(2));
    }
}

#[test]
fn a_state_file_is_shown_with_the_faults_of_its_check() {
    let session = Session::new();
    let entry = |state: &str, from: u32, to: &str| {
        format!(r#"{{"state": "{state}", "entered_at": "2026-01-31T12:00:{from:02}Z", "exited_at": {to}}}"#)
    };
    let history = [
        entry("INIT", 0, "\"2026-01-31T12:00:01Z\""),
        entry("PLANNING", 1, "null"),
        entry("EXECUTING", 2, "null"),
    ];
    let state = format!(
        r#"{{"run_id": "RUN-A-20260131-120000", "project_id": "A", "current_state": "COMPLETE", "previous_state": "PLANNING",
        "state_history": [{}], "tools_planned": [], "tools_completed": [], "tools_remaining": [], "current_tool": null,
        "approvals_pending": [], "approvals_granted": [], "created_at": "2026-01-31T12:00:00Z", "updated_at": "2026-01-31T12:00:02Z"}}"#,
        history.join(", ")
    );
    session.write("RUN_STATE.json", state);
    let checked = session.run(&["check", "RUN_STATE.json"]);
    let faults: Vec<&str> = checked.stdout.lines().skip(1).map(str::trim).collect();
    assert!(
        faults.len() == 2 && faults[0].starts_with("state_history, entry 2 (PLANNING)"),
        "{}",
        checked.shown()
    );
    let text = session.run(&["show", "RUN_STATE.json"]);
    assert!(
        text.stdout.lines().nth(1).unwrap().ends_with(&format!("  <- illegal: {}", faults[0])),
        "{}",
        text.shown()
    );
    assert!(
        text.stdout.lines().nth(2).unwrap().ends_with(&format!("  <- illegal: {}", faults[1])),
        "{}",
        text.shown()
    );
    for (format, expected) in [
        ("html", "violates: 3 events, 1 instance, 2 illegal events"),
        ("gantt", "violates"),
        ("markdown", "violates"),
        ("timeline", "!"),
        ("json", "\"verdict\": \"violates\""),
    ] {
        let shown = session.run(&["show", "RUN_STATE.json", "--format", format]);
        assert!(shown.stdout.contains(expected), "{format}: {}", shown.shown());
    }
}

#[test]
fn a_trace_without_a_checked_event_has_no_verdict() {
    let session = Session::new();
    session.write("orders.jsonl", ORDERS);
    let shown = session.run(&["show", "orders.jsonl", "--format", "json"]);
    let json: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(json["report"]["verdict"], "not_checked");
    assert_eq!(json["not_checked"], serde_json::json!(["order", "payment"]));
    let many = |number: usize| {
        format!(
            "{{\"seq\":{number},\"at_ms\":0,\"run\":\"r\",\"lifecycle\":\"l{number}\",\"instance\":\"i\",\"event\":\"e\",\"from\":null,\"to\":\"A\"}}\n"
        )
    };
    session.write("many.jsonl", (10..22).map(many).collect::<String>());
    let note =
        "not checked, since there is no diagram: l10, l11, l12, l13, l14, l15, l16, l17, l18, l19 and 2 more";
    assert!(session.run(&["show", "many.jsonl"]).stdout.ends_with(&format!("Note: {note}.\n")));
    let json = session.run(&["show", "many.jsonl", "--format", "json"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["not_checked"].as_array().unwrap().len(), 12);
    session.write("two.jsonl", good() + &many(10));
    let shown = session.run(&["show", "two.jsonl", "--format", "mermaid"]);
    assert_eq!(shown.stderr, "note: not checked, since there is no diagram: l10\n");
}
