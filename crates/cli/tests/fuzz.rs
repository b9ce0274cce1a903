//! `runstate fuzz`: the adapters of the examples, and inputs that cannot be used.

use std::path::Path;

use serde_json::Value;

use crate::session::{ROOT, Said, Session};

fn example(file: &str) -> String {
    format!("{ROOT}/examples/fuzz/{file}")
}

fn parcel(session: &Session, fault: &str, more: &[&str]) -> Said {
    let (diagram, config, adapter) = (example("parcel.md"), example("parcel.yaml"), example("parcel.py"));
    let args =
        [&["fuzz", "--diagram", &diagram, "--config", &config], more, &["--", "python3", &adapter]].concat();
    session.said(&args, &session.command(&args).env("FAULT", fault).output().unwrap())
}

#[test]
fn program_that_follows_its_diagram_is_clean() {
    let session = Session::new();
    let said = parcel(&session, "", &[]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(
        said.stdout.starts_with(
            "A parcel: 4 of 4 transitions taken, 12 of 12 illegal events sent, no difference in "
        ),
        "{}",
        said.shown()
    );
    assert!(said.stdout.ends_with("seed 0\n"), "{}", said.shown());
    assert_eq!(
        said.stdout,
        parcel(&session, "", &[]).stdout,
        "a deterministic program gives the same report"
    );
}

#[test]
fn difference_is_shrunk_stored_and_replayed_first() {
    let session = Session::new();
    let said = parcel(&session, "lost", &["--regressions", "found.jsonl"]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    let expected = "\
accepted-illegal: Lost takes `deliver` and becomes Delivered
  [*] --> Packed
  Packed --> Sent : dispatch {\"cents\":100}
  Sent --> Lost : lose
  Lost --> Delivered : deliver
";
    assert!(said.stdout.contains(expected), "{}", said.shown());
    assert!(said.stderr.contains("the new differences are in found.jsonl"), "{}", said.shown());

    let stored = session.read("found.jsonl");
    let again = parcel(&session, "lost", &["--regressions", "found.jsonl", "--sequences", "0"]);
    assert!(again.stdout.contains("a stored regression shows it"), "{}", again.shown());
    assert_eq!(session.read("found.jsonl"), stored, "a known difference is not added again");
    let fixed = parcel(&session, "", &["--regressions", "found.jsonl"]);
    assert_eq!(fixed.code, Some(0), "{}", fixed.shown());
    assert!(fixed.stdout.contains("fixed: the regression A parcel-1"), "{}", fixed.shown());

    // The file is a trace.
    let checked = session.run(&["check", "found.jsonl", "--diagram", &example("parcel.md")]);
    assert_eq!(checked.code, Some(1), "{}", checked.shown());
    assert!(checked.stdout.contains("no edge leads from Lost to Delivered"), "{}", checked.shown());
    assert_eq!(session.run(&["show", "found.jsonl"]).code, Some(0));
}

#[test]
fn report_in_json_has_the_exit_code_and_each_finding() {
    let session = Session::new();
    let said = parcel(&session, "lost", &["--format", "json"]);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["exit"], 1);
    assert_eq!(report["findings"][0]["kind"], "accepted-illegal");
    assert_eq!(report["findings"][0]["exchanges"].as_array().unwrap().len(), 3);
    assert_eq!(report["transitions"], 4);
    assert_eq!((&report["ended"], &report["unsent"]), (&Value::Null, &Value::Array(Vec::new())));
}

#[test]
fn failure_of_the_adapter_keeps_the_part_before() {
    let session = Session::new();
    let (diagram, config, adapter) = (example("parcel.md"), example("parcel.yaml"), example("parcel.py"));
    // The database of the adapter is gone after a while.
    session.write(
        "broken.py",
        format!("import sys\nn = 0\nout = sys.stdout\nclass Out:\n    def write(self, text):\n        global n\n        n += text.count('id')\n        out.write(text if n < 200 else text.replace('\"taken\"', '\"error\"').replace('\"refused\"', '\"error\"'))\n    def flush(self):\n        out.flush()\nsys.stdout = Out()\nexec(open({adapter:?}).read())\n"),
    );
    let args = [
        "fuzz",
        "--diagram",
        &diagram,
        "--config",
        &config,
        "--regressions",
        "found.jsonl",
        "--",
        "python3",
        "broken.py",
    ];
    let said = session.said(&args, &session.command(&args).env("FAULT", "lost").output().unwrap());
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stdout.contains("accepted-illegal: Lost takes `deliver`"), "{}", said.shown());
    assert!(said.stdout.contains("stopped: the program cannot execute"), "{}", said.shown());
    assert!(said.stderr.contains("the report has the part before that"), "{}", said.shown());
    assert!(session.read("found.jsonl").contains("accepted-illegal"), "{}", said.shown());
}

#[test]
fn untaken_transition_fails_unless_it_is_allowed() {
    let session = Session::new();
    let (diagram, adapter) = (example("parcel.md"), example("parcel.py"));
    let args = ["fuzz", "--diagram", &diagram, "--", "python3", &adapter];
    let said = session.run(&args);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    assert!(said.stdout.contains("the last refusal is \"the postage is not enough\""), "{}", said.shown());
    assert!(said.stdout.contains("deliver (line 7) was not sent: Sent was not reached"), "{}", said.shown());
    let args = ["fuzz", "--allow-uncovered", "--diagram", &diagram, "--", "python3", &adapter];
    assert_eq!(session.run(&args).code, Some(0));
}

#[test]
fn time_limit_draws_a_seed_and_says_it() {
    let session = Session::new();
    let said = parcel(&session, "", &["--for", "50ms"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let seed = said.stdout.trim_end().rsplit_once("seed ").unwrap().1;
    assert!(seed.parse::<u64>().is_ok(), "{}", said.shown());
    assert_eq!(parcel(&session, "", &["--for", "50ms", "--seed", seed]).code, Some(0));
}

#[test]
fn unusable_inputs_are_refused_with_what_is_expected() {
    let session = Session::new();
    session
        .write("typo.yaml", "payloads: {dispach: bool}")
        .write("words.md", "```mermaid\nstateDiagram-v2\n[*] --> A\nA --> B : it is sent\n```");
    session.write("no.jsonl", "{}");
    let diagram = example("parcel.md");
    for (args, expected) in [
        (
            vec!["--diagram", &diagram, "--config", "typo.yaml", "--", "cat"],
            "names the event `dispach`; the diagram has deliver",
        ),
        (vec!["--diagram", "words.md", "--", "cat"], "line 4: \"it is sent\""),
        (vec!["--diagram", "missing.md", "--", "cat"], "missing.md"),
        (vec!["--diagram", &diagram, "--", "cat"], "expected the fields `ready` and `state`"),
        (vec!["--diagram", &diagram, "--", "./missing"], "cannot be started"),
        (vec!["--diagram", &diagram, "--regressions", "no.jsonl", "--", "cat"], "no.jsonl: line 1"),
        (vec!["--diagram", &diagram], "<PROGRAM>..."),
        (vec!["--diagram", &diagram, "--depth", "0", "--", "cat"], "--depth"),
    ] {
        let said = session.run(&[&["fuzz"], &*args].concat());
        assert_eq!(said.code, Some(2), "{}", said.shown());
        assert!(said.stderr.contains(expected), "{expected}: {}", said.shown());
    }
    assert!(!Path::new(&session.path("home")).exists());
}

#[cfg(unix)]
#[test]
fn interrupted_run_reports_the_part_before_and_leaves_no_process() {
    let session = Session::new();
    let (diagram, config, adapter) = (example("parcel.md"), example("parcel.yaml"), example("parcel.py"));
    // The program runs once the command listens to signals.
    let script = format!("touch started; exec python3 {adapter}");
    let args = ["fuzz", "--diagram", &diagram, "--config", &config, "--for", "1h", "--", "sh", "-c", &script];
    let child = session.command(&args).spawn().unwrap();
    while !session.path("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"), "{output:?}");
}
