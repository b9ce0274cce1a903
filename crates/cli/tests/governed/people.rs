//! People who approve and reject, of actions and of plans.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::{
    REVIEW, STATE_DIR, assert_in_order, files, governed, json, now, plan, run_id, until, within_a_limit,
};
use crate::session::{Session, harmless};

/// A process that waits goes on when another one decides.
#[test]
fn a_waiting_process_goes_on_when_another_decides() {
    let session = Session::new();
    // The first tool needs no approval, and leaves nothing behind that an answer would end.
    plan(&session, &[("build", "true"), ("deploy", "echo new > index.html")], REVIEW);
    let waiting = session
        .command(&["governed", "run", "plan.yaml", "--wait", "--json", "--state-dir", STATE_DIR])
        .spawn();
    let pending = || {
        let folder = session.path(&format!("{STATE_DIR}/command-center/PENDING"));
        let names =
            fs::read_dir(folder).ok()?.flatten().map(|entry| entry.file_name().into_string().unwrap());
        names.into_iter().find_map(|name| name.strip_suffix(".json").map(str::to_owned))
    };
    until("nobody was asked", || pending().is_some());
    let id = pending().unwrap();
    let told = RefCell::new(String::new());
    until("the run was never free", || {
        let done = governed(&session, &["approve", &id, "--by", "ada"]);
        told.borrow_mut().push_str(&done.shown());
        done.code == Some(0)
    });
    let told = told.into_inner();
    assert!(!told.contains("ended "), "{told}");
    let output = harmless("governed run --wait", waiting.unwrap().wait_with_output().unwrap());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// At the terminal: yes goes on, anything else rolls back. An input that is at its end is no answer, and the question stays open.
#[test]
fn governed_run_asks_at_the_terminal_and_obeys() {
    for (answer, code, status) in
        [("y tests pass\n", 0, "COMPLETE"), ("\n", 1, "ROLLED_BACK"), ("", 3, "AWAITING_APPROVAL")]
    {
        let session = Session::new();
        plan(&session, &[("deploy", "echo new > index.html")], REVIEW);
        let mut child = session
            .command(&["governed", "run", "plan.yaml", "--ask", "--json", "--state-dir", STATE_DIR])
            .env("USER", "ada")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let output = harmless("governed run --ask", child.wait_with_output().unwrap());
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), said["status"].as_str()), (Some(code), Some(status)));
        let asked = String::from_utf8(output.stderr).unwrap();
        assert!(asked.contains("deploy (High risk) wants to run sh -c"), "{asked}");
    }
}

/// All that waits is listed with what it would do, and an answer that names the digest answers that question alone.
#[test]
fn pending_approvals_are_listed_and_answered_by_digest() {
    let session = Session::new();
    fs::create_dir(session.path("runs")).unwrap();
    let none = governed(&session, &["approvals"]);
    assert_eq!(
        (none.code, none.stdout.as_str()),
        (Some(0), "no action waits for an approval\n"),
        "{}",
        none.shown()
    );
    plan(&session, &[("build", "true"), ("deploy", "echo live > live.txt")], REVIEW);
    let ids: Vec<String> = (0..2)
        .map(|_| {
            json(&governed(&session, &["run", "plan.yaml", "--json"]))["waits"]["approval"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let listed = json(&governed(&session, &["approvals", "--json"]));
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.iter().map(|one| one["approval"].as_str().unwrap()).collect::<Vec<_>>(), ids);
    for one in listed {
        assert!(
            one["action"].as_str().unwrap().starts_with("run sh -c \"echo live > live.txt\" in "),
            "{one}"
        );
        assert_eq!((one["tool"].as_str(), one["risk"].as_str()), (Some("deploy"), Some("high")));
        assert!(one["answer_by"].is_string() && one["run"].is_string(), "{one}");
    }
    let digests: Vec<&str> = listed.iter().map(|one| one["digest"].as_str().unwrap()).collect();
    assert_ne!(digests[0], digests[1], "two runs ask the same, and these are two questions");
    let text = governed(&session, &["approvals"]);
    assert!(
        text.stdout.contains(&format!("approve {} --digest {} --by NAME", ids[0], &digests[0][..19])),
        "{}",
        text.shown()
    );

    for (digest, why) in
        [(digests[1], "has another digest"), ("sha256:12", "expected at least 16 characters")]
    {
        let refused = governed(&session, &["approve", &ids[0], "--digest", digest, "--by", "ada"]);
        assert_eq!(refused.code, Some(2), "{}", refused.shown());
        assert!(refused.stderr.contains(why), "{}", refused.shown());
    }
    assert_eq!(
        json(&governed(&session, &["approvals", "--json"])).as_array().unwrap().len(),
        2,
        "no decision was made"
    );
    let approved = governed(&session, &["approve", &ids[0], "--digest", &digests[0][..19], "--by", "ada"]);
    assert_eq!(approved.code, Some(0), "{}", approved.shown());
    let rejected = governed(&session, &["reject", &ids[1], "--digest", digests[1], "--by", "ada"]);
    assert_eq!(rejected.code, Some(0), "{}", rejected.shown());
    assert_eq!(json(&governed(&session, &["approvals", "--json"])).as_array().unwrap().len(), 0);
}

/// Document 001: a critical risk in a plan halts the run before anything is done, whatever its gates say.
#[test]
fn a_plan_with_a_tool_of_critical_risk_is_halted() {
    let session = Session::new();
    plan(&session, &[("build", "echo done > index.html")], REVIEW);
    let text = session.read("plan.yaml").replace("- {name: build,", "- {name: build, risk: critical,");
    session.write("plan.yaml", text);
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    let said = json(&done);
    assert_eq!((done.code, said["status"].as_str()), (Some(1), Some("HALTED_UNSAFE")), "{}", done.shown());
    assert!(said["why"].as_str().unwrap().contains("build would run sh -c"), "{said}");
    let run = run_id(&said);
    assert_eq!(session.read(&format!("{STATE_DIR}/{run}/work/index.html")), "old", "nothing ran");
    assert_in_order(&session, &run);
}

/// Document 001: a high-risk action waits for a person, and so a risk that the plan names weighs more than the gate.
#[test]
fn a_tool_of_high_risk_is_asked_about_in_spite_of_its_gate() {
    for (risk, asks) in [("high", true), ("medium", false), ("low", false)] {
        let session = Session::new();
        plan(&session, &[("build", "echo done > index.html")], REVIEW);
        let named = format!("- {{name: build, risk: {risk},");
        session.write("plan.yaml", session.read("plan.yaml").replace("- {name: build,", &named));
        let said = governed(&session, &["run", "plan.yaml", "--json"]);
        let (code, status) = if asks { (3, "AWAITING_APPROVAL") } else { (0, "COMPLETE") };
        assert_eq!(
            (said.code, json(&said)["status"].as_str()),
            (Some(code), Some(status)),
            "{}",
            said.shown()
        );
        let (run, waits) = (run_id(&json(&said)), json(&said)["waits"].clone());
        let index = || session.read(&format!("{STATE_DIR}/{run}/work/index.html"));
        if asks {
            assert_eq!((waits["request"]["risk"].as_str(), index().as_str()), (Some(risk), "old"));
            let approved = governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]);
            assert_eq!(approved.code, Some(0), "{}", approved.shown());
            assert_eq!(governed(&session, &["recover", &run]).code, Some(0));
        }
        assert_eq!(index(), "done\n");
        assert_in_order(&session, &run);
    }
}

/// Each command that is shown has the options that the runs were named by.
#[test]
fn a_command_that_is_shown_names_the_state_folder() {
    let session = Session::new();
    plan(&session, &[("deploy", "true")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    let approval = format!("{run}-A1");
    let none = "RUN-NONE-20260131-120000";
    fs::create_dir(session.path(&format!("{STATE_DIR}/{none}"))).unwrap();
    for (args, command) in [
        (vec!["approve", &approval, "--digest", "sha256:12"], "approvals"),
        (vec!["approve", &approval, "--digest", "sha256:0123456789ab"], "approvals"),
        (vec!["approve", "RUN-SITE-A9", "--run", &run, "--digest", "sha256:0123456789ab"], "approvals"),
        (vec!["recover", none], "sweep"),
        (vec!["recover", "RUN-OTHER-20260131-120000"], "status"),
        (vec!["approve", &approval], &format!("recover {run}")),
    ] {
        let said = governed(&session, &args);
        let expected = format!("`runstate governed {command} --state-dir {STATE_DIR}`");
        assert!(said.stderr.contains(&expected) || said.stdout.contains(&expected), "{}", said.shown());
    }
}

/// The repairs of a run are told at its end, also where a person answers a question on the way.
#[test]
fn a_run_that_is_recovered_and_asks_says_what_was_repaired() {
    for (how, answer) in [("--ask", "y\n"), ("--ask", "n\n"), ("--approve-plan", "")] {
        let session = Session::new();
        let more = if how == "--ask" { REVIEW.to_owned() } else { format!("plan_approval: ask\n{REVIEW}") };
        plan(&session, &[(if how == "--ask" { "deploy" } else { "build" }, "true")], &more);
        let waiting = governed(&session, &["run", "plan.yaml", "--json"]);
        let run = run_id(&json(&waiting));
        fs::write(session.path(&format!("{STATE_DIR}/{run}/RUN_LOG.jsonl")), "").unwrap();
        let recover = |more: &[&str]| {
            let args = [&["governed", "recover", &run, how, "--state-dir", STATE_DIR], more].concat();
            session.run_with(&args, answer)
        };
        let said = recover(&[]);
        let repaired = said.stdout.lines().next().unwrap_or_default();
        assert!(
            repaired.starts_with("recovered: ") && !repaired.starts_with("recovered: 0 log lines"),
            "{}",
            said.shown()
        );
        assert_eq!(json(&recover(&["--json"]))["repairs"]["log_lines"], 0);
    }
}

/// The plan is asked about as anything else is: a record, an answer from another process or by `--approve-plan`.
#[test]
fn a_plan_that_a_person_must_approve_of_waits() {
    let session = Session::new();
    plan(&session, &[("build", "true")], &format!("plan_approval: ask\n{REVIEW}"));
    let records = |folder: &str| files(&session, &format!("{STATE_DIR}/command-center/{folder}")).len();
    let waiting = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!((waiting.code, json(&waiting)["status"].as_str()), (Some(3), Some("PLANNING")));
    let (run, waits) = (run_id(&json(&waiting)), json(&waiting)["waits"].clone());
    let action = waits["request"]["action"].as_str().unwrap();
    assert!(action.starts_with("execute the plan build; build would run sh -c true in "), "{action}");
    for shown in
        ["work (High risk); then verify: run test -f index.html in ", "; then audit by quality: run true in "]
    {
        assert!(action.contains(shown), "{action}");
    }
    assert_eq!(json(&governed(&session, &["approvals", "--json"]))[0]["action"], action);
    assert_eq!(records("PENDING"), 1);
    let seen = governed(&session, &["status", &run]);
    let id = waits["approval"].as_str().unwrap();
    assert!(seen.stdout.contains(&format!("waits for {id}")), "{}", seen.shown());
    let approved = governed(&session, &["approve", id, "--by", "ada", "--because", "small"]);
    assert_eq!(approved.code, Some(0), "{}", approved.shown());
    assert_eq!((records("PENDING"), records("APPROVED")), (0, 1));
    let done = governed(&session, &["recover", &run, "--json"]);
    assert_eq!((done.code, json(&done)["status"].as_str()), (Some(0), Some("COMPLETE")), "{}", done.shown());
    let report = session.read(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md"));
    assert!(report.contains("The plan was approved by ada."), "{report}");
    assert_in_order(&session, &run);

    let said = governed(&session, &["run", "plan.yaml", "--approve-plan", "--json"]);
    assert_eq!((said.code, json(&said)["status"].as_str()), (Some(0), Some("COMPLETE")), "{}", said.shown());
    assert_eq!(records("APPROVED"), 2);
}

/// A rejected plan is never executed, and the run expires: PLANNING has no other way out.
#[test]
fn a_plan_that_a_person_rejects_is_never_executed() {
    within_a_limit(|limit| {
        let session = Session::new();
        let began = now();
        let limits = format!("limits_seconds: {{PLANNING: {}}}", limit.as_secs());
        plan(&session, &[("build", "touch ../ran")], &format!("plan_approval: ask\n{limits}\n{REVIEW}"));
        let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
        let (run, id) = (run_id(&waiting), waiting["waits"]["approval"].as_str().unwrap_or_default());
        let rejected = governed(&session, &["reject", id, "--by", "ada", "--because", "not today"]);
        let again = governed(&session, &["recover", &run, "--approve-plan"]);
        if began.elapsed() >= limit {
            return false;
        }
        assert_eq!(rejected.code, Some(0), "{}", rejected.shown());
        assert!(
            rejected.stdout.contains("is PLANNING\n  no command of the plan has run"),
            "{}",
            rejected.shown()
        );
        assert_eq!(again.code, Some(4), "there is nothing to approve of: {}", again.shown());
        assert!(again.stdout.contains("the plan file has no other plan"), "{}", again.shown());

        std::thread::sleep(limit + Duration::from_millis(100));
        let swept = governed(&session, &["sweep"]);
        assert_eq!(swept.stdout, format!("{run}: HALTED_UNSAFE\n"));
        assert!(!session.path(&format!("{STATE_DIR}/{run}/ran")).exists());
        let report = session.read(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md"));
        assert!(report.contains("rejected by ada") && report.contains("not today"), "{report}");
        assert_in_order(&session, &run);
        true
    });
}

/// Where the environment names no user, the option is named that does.
#[test]
fn a_decision_without_a_user_asks_for_the_option() {
    let session = Session::new();
    plan(&session, &[("deploy", "true")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    for (decision, of) in [("approve", format!("{run}-A1")), ("halt", run.clone())] {
        let args = ["governed", decision, &of, "--state-dir", STATE_DIR];
        let mut command = session.command(&args);
        let done = command.env_remove("USER").env_remove("LOGNAME").env_remove("USERNAME").output().unwrap();
        let said = session.said(&args, &done);
        assert_eq!(said.code, Some(2), "{}", said.shown());
        assert!(said.stderr.contains("--by NAME"), "{}", said.shown());
    }
}

/// Invisible characters are escaped in the files that a person reads.
#[test]
fn invisible_characters_are_escaped_in_reports_and_records() {
    let session = Session::new();
    plan(&session, &[("build", "printf 'exe\\342\\200\\256txt'"), ("deploy", "true")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    let because = ["approve", &format!("{run}-A1"), "--by", "ada", "--because", "a\u{200b}b"];
    assert_eq!(governed(&session, &because).code, Some(0));
    assert_eq!(json(&governed(&session, &["recover", &run, "--json"]))["status"], "COMPLETE");
    let report = session.read(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md"));
    assert!(report.contains("exe\\u{202e}txt") && report.contains("a\\u{200b}b"), "{report}");
    let record = session.read(&format!("{STATE_DIR}/command-center/APPROVED/{run}-A1.json"));
    assert!(record.contains("a\\u200bb"), "{record}");
    assert_in_order(&session, &run);
}

/// A tool that was approved, and that its run is halted before, is not said to have run.
#[test]
fn a_run_that_is_halted_before_its_approved_tool_says_so() {
    let session = Session::new();
    plan(&session, &[("deploy", "touch ../../deployed")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    session.write(&format!("{STATE_DIR}/{run}/snapshot/index.html"), "another");
    assert_eq!(governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]).code, Some(0));
    let done = json(&governed(&session, &["recover", &run, "--json"]));
    assert_eq!(done["status"], "HALTED_UNSAFE", "{done}");
    assert!(done["why"].to_string().contains("it was not started: "), "{done}");
    assert!(!session.path(&format!("{STATE_DIR}/deployed")).exists());
}
