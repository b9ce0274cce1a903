//! A run from its plan to its report, as a new user sees it.

use serde_json::Value;

use super::{REVIEW, STATE_DIR, assert_in_order, files, governed, json, plan, run_id};
use crate::session::{ROOT, Session};

#[test]
fn example_is_built_tested_and_deployed_after_approval() {
    let session = Session::new();
    let example = format!("{ROOT}/examples/tiny-crate.yaml");
    let waiting = governed(&session, &["run", &example, "--json"]);
    assert_eq!(waiting.code, Some(3), "{}", waiting.shown());
    let said = json(&waiting);
    let run = run_id(&said);
    let released = format!("{STATE_DIR}/{run}/work/released/libtiny_crate.rlib");
    assert!(!session.path(&released).exists(), "nobody approved yet");
    let action = said["waits"]["request"]["action"].as_str().unwrap();
    assert!(action.starts_with("run cp target/debug/libtiny_crate.rlib released/ in "), "{action}");
    let approval = said["waits"]["approval"].as_str().unwrap();
    let approved = governed(&session, &["approve", approval, "--by", "ada", "--because", "tests pass"]);
    assert_eq!(approved.code, Some(0), "{}", approved.shown());
    assert!(!session.path(&released).exists(), "an approval alone does nothing");
    let done = governed(&session, &["recover", &run, "--json"]);
    assert_eq!((done.code, json(&done)["status"].as_str()), (Some(0), Some("COMPLETE")), "{}", done.shown());
    assert!(session.path(&released).exists());
    let report = session.read(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md"));
    for part in ["approved by ada", "tests pass", "security: pass", "quality: pass", "1 passed"] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert_in_order(&session, &run);
}

/// What a new user sees: how to answer and to go on, with the folder that was given, and where the report is.
#[test]
fn a_run_that_waits_says_how_to_go_on() {
    let session = Session::new();
    plan(&session, &[("deploy", "echo new > index.html")], REVIEW);
    let waiting = governed(&session, &["run", "plan.yaml"]);
    assert_eq!(waiting.code, Some(3), "{}", waiting.shown());
    assert!(!waiting.stdout.contains("/work/\n"), "{}", waiting.shown());
    let command = |verb: &str| {
        let line = waiting.stdout.lines().find(|line| line.contains(&format!("governed {verb} "))).unwrap();
        let line = line.split("    ").next().unwrap().trim().replace("NAME", "ada");
        line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    for verb in ["approve", "recover"] {
        let args = command(verb);
        let said = session.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(said.code, Some(0), "{}", said.shown());
        if verb == "recover" {
            let report = said.stdout.lines().last().unwrap().trim().to_owned();
            assert!(session.read(&report).contains("approved by ada"), "{report}");
        }
    }
}

/// In place: what the tools did to the folder itself is taken back, a link that leads out of it is not followed.
#[test]
fn a_rejected_run_leaves_the_folder_as_it_was() {
    let session = Session::new();
    let build = "echo new > index.html; rm keep.txt; mkdir -p made/deep; echo x > made/deep/x; \
                 ln -s ../outside made/link; ln -s ../outside.txt link";
    plan(&session, &[("build", build), ("deploy", "false")], &format!("in_place: true\n{REVIEW}"));
    session.write("outside.txt", "not yours");
    let before = files(&session, "site");
    let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    assert_ne!(files(&session, "site"), before);
    let state = session.read(&format!("{STATE_DIR}/{}/RUN_STATE.json", run_id(&waiting)));
    let state: Value = serde_json::from_str(&state).unwrap();
    let changes = &state["runstate"]["notes"]["tools"][0]["changes"];
    let changes: Vec<String> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|change| format!("{} {}", change["kind"].as_str().unwrap(), change["what"].as_str().unwrap()))
        .collect();
    assert_eq!(
        changes,
        [
            "modified index.html",
            "created link",
            "created made",
            "created made/deep",
            "created made/deep/x",
            "created made/link",
            "removed keep.txt"
        ]
    );
    let approval = waiting["waits"]["approval"].as_str().unwrap();
    let rejected = governed(&session, &["reject", approval, "--by", "ada", "--because", "not today"]);
    assert_eq!(rejected.code, Some(0), "{}", rejected.shown());
    assert!(rejected.stdout.contains("ROLLED_BACK"), "{}", rejected.shown());
    assert_eq!(files(&session, "site"), before);
    assert_eq!(session.read("outside.txt"), "not yours");
    assert_in_order(&session, &run_id(&waiting));
}
