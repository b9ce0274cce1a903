//! Inputs of the command at their limits, and one above them.

use std::fs;

use serde_json::Value;

use crate::session::Session;

const SCENARIO: &str = "name: big\nmessage: go\nmodel:\n  - text: done\n";

/// A plan of a governed run that needs no person.
const PLAN: &str = "project: BIG\nfolder: site\ngates: {auto: [build]}\ntools:\n  - {name: build, run: ['true']}\n\
                    verify:\n  - run: ['true']\naudit:\n  - {reviewer: quality, run: ['true']}\n";

#[test]
fn a_scenario_has_4_mib_and_no_more() {
    let session = Session::new();
    let of = |bytes: usize| format!("{SCENARIO}#{}", "x".repeat(bytes - SCENARIO.len() - 1));
    session.write("most.yaml", of(4 << 20)).write("more.yaml", of((4 << 20) + 1));
    assert_eq!(session.run(&["run", "most.yaml"]).code, Some(0));
    let said = session.run(&["run", "more.yaml"]);
    assert!(
        said.code == Some(2) && said.stderr.contains("expected at most 4194304 bytes"),
        "{}",
        said.shown()
    );
}

#[test]
fn a_text_has_64_mib_and_no_more() {
    let session = Session::new();
    let diagram = "stateDiagram-v2\n[*] --> A\nA --> [*] : end\n%%";
    let of = |bytes: usize| format!("{diagram}{}", "x".repeat(bytes - diagram.len()));
    session.write("most.mmd", of(64 << 20)).write("more.mmd", of((64 << 20) + 1));
    let said = session.run(&["diagram", "most.mmd"]);
    assert!(!said.stderr.contains("67108864 bytes"), "{}", said.shown());
    let said = session.run(&["diagram", "more.mmd"]);
    assert!(
        said.code == Some(2) && said.stderr.contains("expected at most 67108864 bytes"),
        "{}",
        said.shown()
    );
}

#[test]
fn a_plan_has_1_mib_and_no_more() {
    let session = Session::new();
    session.write("site/a.txt", "a");
    let of = |bytes: usize| format!("{PLAN}#{}", "x".repeat(bytes - PLAN.len() - 1));
    session.write("most.yaml", of(1 << 20)).write("more.yaml", of((1 << 20) + 1));
    let run = |plan: &str| session.run(&["governed", "run", plan, "--state-dir", "runs"]);
    let said = run("most.yaml");
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let said = run("more.yaml");
    assert!(
        said.code == Some(2) && said.stderr.contains("expected at most 1048576 bytes"),
        "{}",
        said.shown()
    );
}

/// One that is as large as it may be takes minutes to be kept.
#[test]
fn a_folder_of_a_governed_run_of_more_than_2_gib_is_refused() {
    let session = Session::new();
    session.write("site/a", "").write("plan.yaml", PLAN);
    // It has no blocks.
    fs::File::options().write(true).open(session.path("site/a")).unwrap().set_len((2 << 30) + 1).unwrap();
    let said = session.run(&["governed", "run", "plan.yaml", "--state-dir", "runs"]);
    assert!(said.code == Some(2), "{}", said.shown());
    assert!(said.stderr.contains("more than 200000 names or 2147483648 bytes"), "{}", said.shown());
}

#[test]
fn the_folder_of_a_scenario_has_10_000_entries_and_no_more() {
    let session = Session::new();
    session.write("s.yaml", SCENARIO.replace("message:", "folder: many\nmessage:"));
    for number in 0..10_000 {
        session.write(&format!("many/{number}"), "");
    }
    let run = ["run", "--detach", "s.yaml", "--state-dir", "runs"];
    assert_eq!(session.run(&run).code, Some(0));
    session.write("many/more", "");
    let said = session.run(&run);
    assert!(said.code == Some(2) && said.stderr.contains("more than 10000 entries"), "{}", said.shown());
    assert!(!session.path("runs/big-2").exists(), "nothing is left behind");
}

#[test]
fn the_folder_of_a_scenario_has_256_mib_and_no_more() {
    let session = Session::new();
    session.write("s.yaml", SCENARIO.replace("message:", "folder: big\nmessage:")).write("big/a", "");
    let file = fs::File::options().write(true).open(session.path("big/a")).unwrap();
    let run = ["run", "--detach", "s.yaml", "--state-dir", "runs"];
    // It has no blocks, so that only its copy costs anything.
    file.set_len(256 << 20).unwrap();
    assert_eq!(session.run(&run).code, Some(0));
    file.set_len((256 << 20) + 1).unwrap();
    let said = session.run(&run);
    assert!(said.code == Some(2) && said.stderr.contains("or 268435456 bytes"), "{}", said.shown());
}

#[test]
fn a_stream_scenario_has_4_mib_and_no_more() {
    let session = Session::new();
    let scenario = "name: big\nstreams: [{attempts: [{script: [{token: done}, complete]}]}]\n";
    let of = |bytes: usize| format!("{scenario}#{}", "x".repeat(bytes - scenario.len() - 1));
    session.write("most.stream.yaml", of(4 << 20)).write("more.stream.yaml", of((4 << 20) + 1));
    let said = session.run(&["stream", "most.stream.yaml"]);
    assert!(!said.stderr.contains("4194304 bytes"), "{}", said.shown());
    let said = session.run(&["stream", "more.stream.yaml"]);
    assert!(
        said.code == Some(2) && said.stderr.contains("expected at most 4194304 bytes"),
        "{}",
        said.shown()
    );
}

#[test]
fn a_file_of_a_tool_has_1_mib_if_nothing_else_is_said() {
    let session = Session::new();
    session.write("f/most", "x".repeat(1 << 20)).write("f/more", "x".repeat((1 << 20) + 1));
    let call = |name: &str| format!("{{id: {name}, tool: read_file, arguments: {{path: {name}}}}}");
    let calls = ["most", "more"].map(call).join(", ");
    session.write(
        "s.yaml",
        format!("name: files\nmessage: go\nfolder: f\nmodel:\n  - calls: [{calls}]\n  - text: done\n"),
    );
    assert_eq!(session.run(&["run", "s.yaml"]).code, Some(0));
    let json: Value =
        serde_json::from_str(&session.run(&["show", "files-1", "--format", "json"]).stdout).unwrap();
    let calls = json["run"]["calls"].as_array().unwrap();
    let error = |id: &str| calls.iter().find(|call| call["call"] == id).unwrap()["error"].to_string();
    assert_eq!(error("most"), "null");
    assert!(error("more").contains("1048576 bytes"), "{}", error("more"));
}

/// The tools of a run have limits on paths, listings and files.
#[test]
fn file_tools_have_limits() {
    let session = Session::new();
    let path = |bytes: usize| "./".repeat(2_046) + &"a".repeat(bytes - 2 * 2_046);
    let call = |id: &str, tool: &str, arguments: &str| {
        format!("{{id: {id}, tool: {tool}, arguments: {{{arguments}}}}}")
    };
    let calls = [
        call("path_most", "write_file", &format!("path: {}, content: x", path(4095))),
        call("path_more", "write_file", &format!("path: {}, content: x", path(4096))),
        call("file_most", "write_file", &format!("path: b, content: {}", "x".repeat(100))),
        call("file_more", "write_file", &format!("path: c, content: {}", "x".repeat(101))),
        call("list_most", "list_files", "path: most"),
        call("list_more", "list_files", "path: more"),
    ];
    let scenario = format!(
        "name: tools\nmessage: go\nfolder: many\nlimits: {{max_file_bytes: 100}}\nmodel:\n  - calls: [{}]\n  - text: done\n",
        calls.join(", ")
    );
    session.write("s.yaml", scenario);
    for number in 0..1_000 {
        session.write(&format!("many/most/{number}"), "").write(&format!("many/more/{number}"), "");
    }
    session.write("many/more/one", "");
    let said = session.run(&["run", "s.yaml"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let json: Value =
        serde_json::from_str(&session.run(&["show", "tools-1", "--format", "json"]).stdout).unwrap();
    let calls = json["run"]["calls"].as_array().unwrap();
    let of = |id: &str| calls.iter().find(|call| call["call"] == id).unwrap();
    for good in ["path_most", "file_most", "list_most"] {
        assert!(of(good)["error"].is_null() && of(good)["warning"].is_null(), "{}", of(good));
    }
    assert!(of("path_more")["error"].to_string().contains("expected at most 4095"), "{}", of("path_more"));
    assert!(
        of("file_more")["error"].to_string().contains("expected at most 100 bytes"),
        "{}",
        of("file_more")
    );
    assert_eq!(of("list_more")["warning"], "1 more entries are omitted");
}

#[test]
fn file_above_its_size_limit_is_refused_with_its_size() {
    let session = Session::new();
    session.write("s.yaml", SCENARIO);
    assert_eq!(session.run(&["test", "s.yaml", "--accept"]).code, Some(0));
    let of_bytes = |path: &str, bytes: u64| {
        fs::File::options().write(true).open(session.path(path)).unwrap().set_len(bytes).unwrap();
    };
    // It has no blocks.
    of_bytes("s.trace", 64 << 20);
    assert_eq!(session.run(&["test", "s.yaml", "--accept"]).code, Some(0));
    of_bytes("s.trace", (64 << 20) + 1);
    let said = session.run(&["test", "s.yaml", "--accept"]);
    let told = "expected at most 67108864 bytes, got 67108865; split the file";
    assert!(said.code == Some(2) && said.shown().contains(told), "{}", said.shown());

    let key = format!("k1 {}\n", "ab".repeat(32));
    let keys = |bytes: usize| format!("{key}{}", "\n".repeat(bytes - key.len()));
    session.write("most.key", keys(64 << 10)).write("more.key", keys((64 << 10) + 1));
    let runs = |keys: &str| session.run(&["run", "s.yaml", "--key-file", keys, "--state-dir", "runs"]);
    assert_eq!(runs("most.key").code, Some(0));
    let said = runs("more.key");
    assert!(said.code == Some(2) && said.stderr.contains("expected at most 65536 bytes"), "{}", said.shown());
    session.write("odd.key", [key.trim_end().as_bytes(), &[0xff]].concat());
    let said = runs("odd.key");
    assert!(said.code == Some(2) && said.stderr.contains("invalid utf-8"), "{}", said.shown());

    session.write("runs/numbers/big", format!("{:>64}", 7));
    assert!(runs("most.key").stdout.contains("big-8"));
    session.write("runs/numbers/big", format!("{:>65}", 7));
    let said = runs("most.key");
    assert!(said.code == Some(2) && said.stderr.contains("expected at most 64 bytes"), "{}", said.shown());
}

#[test]
fn a_time_of_a_stream_scenario_has_a_year_and_no_more() {
    let session = Session::new();
    let of = |ms: u64| {
        format!(
            "name: s\nstreams: [{{attempts: [{{open: {{after_ms: {ms}}}, script: [{{wait: {ms}}}, {{token: a}}, complete]}}]}}]\n"
        )
    };
    session.write("most.stream.yaml", of(31_536_000_000)).write("more.stream.yaml", of(31_536_000_001));
    let said = session.run(&["stream", "most.stream.yaml"]);
    assert!(said.code != Some(2), "{}", said.shown());
    let said = session.run(&["stream", "more.stream.yaml"]);
    let told = "expected a time up to 31536000000 milliseconds, about a year, got 31536000001";
    assert!(said.code == Some(2) && said.stderr.contains(told), "{}", said.shown());
}

/// With its line feed.
#[test]
fn an_answer_has_1_mib_and_no_more() {
    const PAY: &str = "name: pay\nmessage: go\napprove: [pay]\ntools: {pay: {}}\nmodel:\n  - calls: [{id: p, tool: pay}]\n  - text: done\n";
    let session = Session::new();
    session.write("pay.yaml", PAY);
    let answer = |bytes: usize| format!("y{}\n", " ".repeat(bytes - 2));
    let said = session.run_with(&["run", "pay.yaml", "--ask"], answer(1 << 20));
    assert_eq!(said.code, Some(0), "{}", said.shown());
    // It is asked again, and then the input is at its end.
    let said = session.run_with(&["run", "pay.yaml", "--ask"], answer((1 << 20) + 1));
    assert_eq!(said.code, Some(3), "{}", said.shown());
    let said = session.run_with(&["run", "pay.yaml", "--ask"], answer((1 << 20) + 1) + "y\n");
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

#[test]
fn a_sealed_file_and_a_graph_have_64_mib_and_no_more() {
    let session = Session::new();
    session.write("d.mmd", "stateDiagram-v2\n[*] --> A\nA --> [*] : end\n");
    let graph = session.run(&["diagram", "d.mmd", "--format", "json"]).stdout;
    let of = |json: &str, bytes: usize| json.to_owned() + &" ".repeat(bytes - json.len());
    for (json, args) in [("{}\n", &["seal"] as &[&str]), (&graph, &["diff", "d.mmd"])] {
        session.write("most.json", of(json, 64 << 20)).write("more.json", of(json, (64 << 20) + 1));
        let said = session.run(&[args, &["most.json"]].concat());
        assert!(!said.shown().contains("67108864 bytes"), "{}", said.shown());
        let said = session.run(&[args, &["more.json"]].concat());
        assert!(
            said.code == Some(2) && said.stderr.contains("expected at most 67108864 bytes"),
            "{}",
            said.shown()
        );
    }
}

#[test]
fn a_suite_has_16_levels_of_folders_and_no_more() {
    let session = Session::new();
    let folder = |levels: usize| format!("suite{}", "/f".repeat(levels));
    session.write(&format!("{}/most.yaml", folder(16)), SCENARIO);
    let said = session.run(&["test", "suite", "--accept"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(said.stdout.contains("1 scenario"), "{}", said.shown());
    assert!(!said.stderr.contains("warning"), "{}", said.shown());
    session.write(&format!("{}/more.yaml", folder(17)), SCENARIO);
    let said = session.run(&["test", "suite"]);
    assert!(said.code == Some(0) && said.stdout.contains("1 scenario"), "{}", said.shown());
    let told = "warning: 1 folder(s) more than 16 levels below suite are not searched";
    assert!(said.stderr.contains(told), "{}", said.shown());
}

#[test]
fn a_stream_scenario_has_16_regular_expressions_and_no_more() {
    let session = Session::new();
    let rule = "  - forbid_regex: {regex: 'x[0-9]{2}'}\n";
    let of = |rules: &str| {
        let streams = "streams: [{attempts: [{script: [{token: fine}, complete]}]}]";
        format!("name: s\n{streams}\nguardrails:\n{rules}")
    };
    session.write("most.yaml", of(&rule.repeat(16))).write("more.yaml", of(&rule.repeat(17)));
    session.write("large.yaml", of("  - forbid_regex: {regex: '(x{1000}){1000}', within_bytes: 9}\n"));
    let said = session.run(&["stream", "most.yaml"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let said = session.run(&["stream", "more.yaml"]);
    assert!(
        said.code == Some(2) && said.stderr.contains("expected at most 16 of forbid_regex, got 17"),
        "{}",
        said.shown()
    );
    let said = session.run(&["stream", "large.yaml"]);
    assert!(said.code == Some(2) && said.stderr.contains("size limit"), "{}", said.shown());
}

#[test]
fn a_scenario_has_16_patterns_and_no_more() {
    let session = Session::new();
    let of = |count: usize| {
        let condition = "  - {type: content_match, pattern: 'x[0-9]{2}'}\n";
        format!("{SCENARIO}stop:\n{}", condition.repeat(count))
    };
    session.write("most.yaml", of(16)).write("more.yaml", of(17));
    let said = session.run(&["run", "most.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let said = session.run(&["run", "more.yaml", "--state-dir", "runs"]);
    let told = "expected at most 16 of content_match, got 17";
    assert!(said.code == Some(2) && said.stderr.contains(told), "{}", said.shown());
}
