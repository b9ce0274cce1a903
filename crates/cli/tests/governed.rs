//! Governed runs with real commands, several processes, and kills.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::session::{ROOT, Said, Session, assert_shown};

const STATE_DIR: &str = "runs";

fn governed(session: &Session, args: &[&str]) -> Said {
    let mut all = vec!["governed"];
    all.extend(args);
    all.extend(["--state-dir", STATE_DIR]);
    session.run(&all)
}

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}", said.shown()))
}

/// A plan whose tools are shell commands; `deploy` needs an approval.
fn plan(session: &Session, tools: &[(&str, &str)], more: &str) {
    fs::create_dir_all(session.path("site")).unwrap();
    session.write("site/index.html", "old").write("site/keep.txt", "kept");
    let tools: String = tools
        .iter()
        .map(|(name, script)| format!("  - {{name: {name}, run: [sh, -c, {script:?}]}}\n"))
        .collect();
    let plan = format!("project: SITE\nfolder: site\ngates: {{auto: [build, wait]}}\ntools:\n{tools}{more}");
    session.write("plan.yaml", plan);
}

const REVIEW: &str =
    "verify:\n  - run: [test, -f, index.html]\naudit:\n  - {reviewer: quality, run: ['true']}\n";

fn run_id(said: &Value) -> String {
    said["run"].as_str().unwrap().to_owned()
}

/// What must hold of every run that is over, by the command itself.
fn assert_in_order(session: &Session, run: &str) {
    let (state, log) =
        (format!("{STATE_DIR}/{run}/RUN_STATE.json"), format!("{STATE_DIR}/{run}/RUN_LOG.jsonl"));
    let checked = session.run(&["check", &state, &log, "--complete"]);
    assert_eq!(checked.code, Some(0), "{}", checked.shown());
    let ledger = governed(session, &["verify-ledger"]);
    assert_eq!(ledger.code, Some(0), "{}", ledger.shown());
    let again = governed(session, &["recover", run, "--json"]);
    let repairs = json(&again)["repairs"].clone();
    assert_eq!(
        repairs,
        serde_json::json!({"approvals": 0, "log_lines": 0, "ledger_lines": 0, "cut_bytes": 0, "report": false})
    );
    assert!(session.path(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md")).exists());
}

#[test]
fn the_example_is_built_tested_and_deployed_once_somebody_approved() {
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

/// What is in a folder, with contents.
fn files(session: &Session, folder: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = fs::read_dir(session.path(folder))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let content = fs::read_to_string(entry.path()).unwrap_or("(folder)".to_owned());
            (entry.file_name().into_string().unwrap(), content)
        })
        .collect();
    all.sort();
    all
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

#[test]
fn a_failing_tool_is_tried_three_times_and_rolled_back() {
    let session = Session::new();
    plan(&session, &[("build", "echo half > index.html; echo no >&2; exit 3")], REVIEW);
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    let said = json(&done);
    assert_eq!((done.code, said["status"].as_str()), (Some(1), Some("ROLLED_BACK")));
    assert_eq!(
        said["why"],
        "build failed (build failed 3 times, the last time: exit code 3: no); everything was rolled back"
    );
    let run = run_id(&said);
    assert_eq!(session.read(&format!("{STATE_DIR}/{run}/work/index.html")), "old");
    assert_in_order(&session, &run);
}

/// Is a process with that id alive and no zombie?
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, behind)| !behind.trim_start().starts_with('Z'))
}

#[expect(clippy::disallowed_methods, reason = "processes are killed by the clock on the wall")]
fn now() -> Instant {
    Instant::now()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The tool's whole group is ended: what it started in the background, too.
#[test]
fn a_tool_that_takes_too_long_is_ended_with_its_children() {
    let session = Session::new();
    plan(&session, &[("build", "sleep 600 & echo $! > ../child.pid; wait")], REVIEW);
    let text = session.read("plan.yaml").replace("- {name: build,", "- {name: build, time_limit_seconds: 1,");
    session.write("plan.yaml", text);
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    let said = json(&done);
    assert_eq!(said["status"], "ROLLED_BACK", "{}", done.shown());
    assert!(said["why"].as_str().unwrap().contains("it took longer than 1 s and was ended"), "{said}");
    let run = run_id(&said);
    let child = session.read(&format!("{STATE_DIR}/{run}/child.pid"));
    until("what the tool had started was not ended", || !lives(child.trim()));
    assert!(!session.path(&format!("{STATE_DIR}/{run}/tool.json")).exists());
    assert_in_order(&session, &run);
}

/// The command is killed while its tool runs: recovery ends the tool's group and halts the run, since the tool is in doubt.
#[test]
fn a_tool_that_a_killed_run_left_is_ended_by_recovery() {
    let session = Session::new();
    plan(&session, &[("build", "echo $$ > ../build.pid; sleep 600")], REVIEW);
    let mut child =
        session.command(&["governed", "run", "plan.yaml", "--state-dir", STATE_DIR]).spawn().unwrap();
    let pid = || {
        let run = fs::read_dir(session.path(STATE_DIR))
            .ok()?
            .flatten()
            .find(|entry| entry.file_name().to_string_lossy().starts_with("RUN-"))?;
        let noted = run.path().join("tool.json").exists();
        let pid = fs::read_to_string(run.path().join("build.pid")).ok()?.trim().to_owned();
        (noted && !pid.is_empty()).then_some((run.file_name().into_string().unwrap(), pid))
    };
    until("the tool never started", || pid().is_some());
    let (run, tool) = pid().unwrap();
    let busy = governed(&session, &["recover", &run]);
    assert_eq!(busy.code, Some(2), "{}", busy.shown());
    assert!(busy.stderr.contains("another process has run"), "{}", busy.shown());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(lives(&tool), "it is left running");
    let done = governed(&session, &["recover", &run, "--json"]);
    assert_eq!(json(&done)["status"], "HALTED_UNSAFE", "{}", done.shown());
    until("the tool was not ended", || !lives(&tool));
    assert_in_order(&session, &run);
}

/// Killed again and again at whatever moment, approved from outside, recovered: it ends, in order, and no tool ran that was
/// not approved.
#[test]
fn a_run_that_is_killed_again_and_again_ends_in_order() {
    let session = Session::new();
    let script = "echo done >> index.html";
    plan(&session, &[("build", script), ("deploy", script), ("wait", script)], REVIEW);
    let text =
        session.read("plan.yaml").replace("]}\n  - {name: deploy", "], read_only: true}\n  - {name: deploy");
    session.write("plan.yaml", text);
    let rounds = std::env::var("GOVERNED_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(3);
    let (mut killed, mut ends) = (0, std::collections::BTreeMap::<String, usize>::new());
    for round in 0..rounds {
        let mut run: Option<String> = None;
        // Each attempt lives a little longer than the one before, from nothing at all on.
        for attempt in 0..200_u64 {
            let args = match &run {
                None => vec!["governed", "run", "plan.yaml", "--state-dir", STATE_DIR],
                Some(run) => vec!["governed", "recover", run, "--state-dir", STATE_DIR],
            };
            let mut command = session.command(&args);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let until = now() + Duration::from_micros(1_000 + 900 * attempt + 130 * round);
            let code = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break status.code();
                }
                if now() >= until {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    killed += 1;
                    break None;
                }
                std::thread::sleep(Duration::from_micros(100));
            };
            if run.is_none() {
                let begun = fs::read_dir(session.path(STATE_DIR)).ok().into_iter().flatten().flatten();
                let mut begun: Vec<String> = begun
                    .filter(|entry| {
                        entry.path().join("RUN_STATE.json").exists()
                            && entry.path().join("plan.yaml").exists()
                    })
                    .map(|entry| entry.file_name().into_string().unwrap())
                    .collect();
                begun.sort();
                run = begun
                    .into_iter()
                    .find(|run| !session.path(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md")).exists());
            }
            let Some(run) = &run else { continue };
            if code == Some(3) {
                let approval = format!("{run}-A1");
                let mut child = session
                    .command(&["governed", "approve", &approval, "--by", "ada", "--state-dir", STATE_DIR])
                    .spawn()
                    .unwrap();
                std::thread::sleep(Duration::from_micros(500 * attempt));
                drop(child.kill());
                child.wait().unwrap();
            }
            if matches!(code, Some(0 | 1)) {
                break;
            }
        }
        let run = run.expect("a run was begun");
        let state: Value =
            serde_json::from_str(&session.read(&format!("{STATE_DIR}/{run}/RUN_STATE.json"))).unwrap();
        let end = state["current_state"].as_str().unwrap().to_owned();
        // Killed while a tool that is not read-only was called, the run is in doubt.
        assert!(end == "COMPLETE" || end == "HALTED_UNSAFE", "{end}");
        let approved = state["approvals_granted"].as_array().unwrap().len();
        let deployed = state["runstate"]["notes"]["tools"].as_array().unwrap().iter();
        let deployed = deployed.filter(|report| report["tool"] == "deploy").count();
        assert!(deployed <= approved, "{state:#}");
        assert_in_order(&session, &run);
        *ends.entry(end).or_default() += 1;
    }
    println!("{killed} kills, {ends:?}");
    assert!(killed >= 10, "{killed} kills");
}

/// Killed again and again while it rolls back: it goes on where it was, and the folder is as it was before the run.
#[test]
fn a_rollback_that_is_killed_again_and_again_is_finished() {
    let session = Session::new();
    let build = "for i in $(seq 250); do echo new > file$i; done; rm keep.txt; mkdir made; echo x > made/x";
    plan(&session, &[("build", build), ("deploy", "false")], &format!("in_place: true\n{REVIEW}"));
    for i in 1..=250 {
        session.write(&format!("site/file{i}"), format!("old {i}\n"));
    }
    let before = files(&session, "site");
    let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    let (run, id) = (run_id(&waiting), waiting["waits"]["approval"].as_str().unwrap().to_owned());
    let state = || -> Value {
        serde_json::from_str(&session.read(&format!("{STATE_DIR}/{run}/RUN_STATE.json"))).unwrap()
    };
    let is_rolling_back = || state()["runstate"]["notes"]["standing"]["at"] == "rolling_back";
    let mut cut_short = 0;
    for attempt in 0..400_u64 {
        let args = match is_rolling_back() {
            false => vec!["governed", "reject", &id, "--by", "ada", "--state-dir", STATE_DIR],
            true => vec!["governed", "recover", &run, "--state-dir", STATE_DIR],
        };
        let mut command = session.command(&args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(1_000 + 500 * attempt));
        drop(child.kill());
        child.wait().unwrap();
        if state()["current_state"] == "ROLLED_BACK" {
            break;
        }
        cut_short += u32::from(is_rolling_back());
    }
    assert_eq!(state()["current_state"], "ROLLED_BACK");
    assert!(cut_short > 0, "it was never killed on the way");
    assert_eq!(state()["runstate"]["state"]["rollback"]["rollback"], "complete");
    // What a kill kept from being written is mended once, whoever comes next.
    governed(&session, &["recover", &run]);
    assert_eq!(files(&session, "site"), before);
    assert_in_order(&session, &run);
}

/// Ten processes at once: every id is another, the ledger has every line of every run once, and its chain is whole.
#[test]
fn ten_processes_share_one_ledger() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    let children: Vec<_> = (0..10)
        .map(|_| {
            session
                .command(&["governed", "run", "plan.yaml", "--json", "--state-dir", STATE_DIR])
                .spawn()
                .unwrap()
        })
        .collect();
    let mut runs = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        runs.push(run_id(&said));
    }
    let ledger = session.read(&format!("{STATE_DIR}/command-center/RUN_LEDGER.jsonl"));
    let lines: Vec<Value> = ledger.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 10 * 6);
    runs.sort();
    runs.dedup();
    assert_eq!(runs.len(), 10);
    for run in &runs {
        let seqs: Vec<u64> = lines
            .iter()
            .filter(|line| line["run"] == **run)
            .map(|line| line["seq"].as_u64().unwrap())
            .collect();
        assert_eq!(seqs, [1, 2, 3, 4, 5, 6]);
        assert_in_order(&session, run);
    }
    // One byte, and the line is named.
    session.write("changed.jsonl", ledger.replacen(&runs[4], &runs[5], 1));
    let line = ledger.lines().position(|line| line.contains(&runs[4])).unwrap() + 1;
    let verified = governed(&session, &["verify-ledger", "changed.jsonl"]);
    assert_eq!(verified.code, Some(1));
    assert!(
        verified.stdout.contains(&format!("line {line}: its digest is not that of its content")),
        "{}",
        verified.shown()
    );
}

/// A process that waits goes on when another one decides.
#[test]
fn a_waiting_process_goes_on_when_another_decides() {
    let session = Session::new();
    plan(&session, &[("deploy", "echo new > index.html")], REVIEW);
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
    until("the run was never free", || governed(&session, &["approve", &id, "--by", "ada"]).code == Some(0));
    let output = waiting.unwrap().wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// At the terminal: yes goes on, anything else rolls back.
#[test]
fn the_terminal_is_asked() {
    for (answer, code, status) in
        [("y tests pass\n", 0, "COMPLETE"), ("\n", 1, "ROLLED_BACK"), ("", 1, "ROLLED_BACK")]
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
        let output = child.wait_with_output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), said["status"].as_str()), (Some(code), Some(status)));
        let asked = String::from_utf8(output.stderr).unwrap();
        assert!(asked.contains("deploy (High risk) wants to run sh -c"), "{asked}");
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
    assert_eq!(waits["request"]["action"], "execute the plan build");
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
    let session = Session::new();
    let more = format!("plan_approval: ask\nlimits_seconds: {{PLANNING: 3}}\n{REVIEW}");
    plan(&session, &[("build", "touch ../ran")], &more);
    let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    let (run, id) = (run_id(&waiting), waiting["waits"]["approval"].as_str().unwrap());
    let rejected = governed(&session, &["reject", id, "--by", "ada", "--because", "not today"]);
    assert_eq!(rejected.code, Some(0), "{}", rejected.shown());
    assert!(rejected.stdout.contains("is PLANNING\n  nothing was run"), "{}", rejected.shown());
    let again = governed(&session, &["recover", &run, "--approve-plan"]);
    assert_eq!(again.code, Some(3), "there is nothing to approve of: {}", again.shown());
    assert!(again.stdout.contains("the plan file has no other plan"), "{}", again.shown());
    std::thread::sleep(Duration::from_millis(3_100));
    let swept = governed(&session, &["sweep"]);
    assert_eq!(swept.stdout, format!("{run}: HALTED_UNSAFE\n"));
    assert!(!session.path(&format!("{STATE_DIR}/{run}/ran")).exists());
    let report = session.read(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md"));
    assert!(report.contains("rejected by ada") && report.contains("not today"), "{report}");
    assert_in_order(&session, &run);
}

/// A run that is past its limit goes where its timeout leads, by a sweep or by whoever looks.
#[test]
fn a_sweep_halts_what_is_past_its_limit() {
    let session = Session::new();
    plan(&session, &[("deploy", "true")], &format!("limits_seconds: {{AWAITING_APPROVAL: 1}}\n{REVIEW}"));
    let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    let run = run_id(&waiting);
    std::thread::sleep(Duration::from_millis(1_100));
    let late =
        governed(&session, &["approve", waiting["waits"]["approval"].as_str().unwrap(), "--by", "ada"]);
    assert_eq!(late.code, Some(2));
    assert!(late.stderr.contains("expired at"), "{}", late.shown());
    let swept = governed(&session, &["sweep"]);
    assert_eq!((swept.code, swept.stdout.as_str()), (Some(0), ""), "the late answer saw to it");
    let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    std::thread::sleep(Duration::from_millis(1_100));
    let swept = governed(&session, &["sweep"]);
    assert_eq!(swept.stdout, format!("{}: HALTED_UNSAFE\n", run_id(&waiting)));
    let status = governed(&session, &["status", "--json"]);
    let states: Vec<Value> =
        json(&status).as_array().unwrap().iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["HALTED_UNSAFE", "HALTED_UNSAFE"]);
    assert_in_order(&session, &run);
}

/// Killed before it had a plan, a run can do nothing but expire.
#[test]
fn a_run_without_a_plan_expires() {
    let session = Session::new();
    let run = "RUN-A-20260131-120000";
    fs::create_dir_all(session.path(&format!("{STATE_DIR}/{run}"))).unwrap();
    let file = |state: &str, previous: &str| {
        let left = if previous == "null" {
            String::new()
        } else {
            format!(
                "{{\"state\": {previous}, \"entered_at\": \"2026-01-31T12:00:00Z\", \
                 \"exited_at\": \"2026-01-31T12:00:00Z\"}}, "
            )
        };
        format!(
            "{{\"run_id\": \"{run}\", \"project_id\": \"A\", \"current_state\": \"{state}\", \
             \"previous_state\": {previous}, \"state_history\": [{left}{{\"state\": \"{state}\", \
             \"entered_at\": \"2026-01-31T12:00:00Z\", \"exited_at\": null}}], \"tools_planned\": [], \
             \"tools_completed\": [], \"tools_remaining\": [], \"current_tool\": null, \
             \"approvals_pending\": [], \"approvals_granted\": [], \
             \"created_at\": \"2026-01-31T12:00:00Z\", \"updated_at\": \"2026-01-31T12:00:00Z\"}}"
        )
    };
    let state = format!("{STATE_DIR}/{run}/RUN_STATE.json");
    session.write(&state, file("PLANNING", "\"INIT\""));
    let said = governed(&session, &["sweep"]);
    assert_eq!(said.code, Some(2), "it may have had one: {}", said.shown());
    assert!(said.stderr.contains("has no plan.yaml"), "{}", said.shown());
    session.write(&state, file("INIT", "null"));
    let said = governed(&session, &["sweep"]);
    assert_eq!((said.code, said.stdout), (Some(0), format!("{run}: HALTED_UNSAFE\n")));
    assert!(session.path(&format!("{STATE_DIR}/{run}/FINAL_REPORT.md")).exists());
}

/// A tool that speaks for itself, and one that says what is none.
#[test]
fn structured_outputs_are_taken_at_their_word() {
    for (said, status) in [
        (r#"{"status":"pass","evidence":["fine"]}"#, "COMPLETE"),
        (r#"{"status":"pass"}"#, "ROLLED_BACK"),
        ("no JSON", "ROLLED_BACK"),
        (r#"{"status":"halted","error":"a secret"}"#, "HALTED_UNSAFE"),
        (r#"{"status":"needs-approval","action":{"text":"drop","risk":"critical"}}"#, "AWAITING_APPROVAL"),
    ] {
        let session = Session::new();
        plan(&session, &[], REVIEW);
        session.write("site/said.json", said);
        let tool = "tools:\n  - {name: build, run: [cat, said.json], output: json}\n";
        session.write("plan.yaml", session.read("plan.yaml").replace("tools:\n", tool));
        let done = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(json(&done)["status"], status, "{said}: {}", done.shown());
    }
}

#[test]
fn plans_that_cannot_be_used_say_why() {
    let session = Session::new();
    fs::create_dir(session.path("site")).unwrap();
    let sound = format!("project: SITE\nfolder: site\ntools:\n  - {{name: a, run: ['true']}}\n{REVIEW}");
    let cases = [
        ("empty", String::new()),
        ("unknown field", format!("{sound}tolls: []\n")),
        ("no reviewer", sound.replace("{reviewer: quality, run: ['true']}", "").replace("- \n", "[]\n")),
        ("no program", sound.replace("run: ['true']}\nverify", "run: []}\nverify")),
        ("leads out", sound.replace("run: ['true']}\nverify", "run: ['true'], folder: ../..}\nverify")),
        ("no such folder", sound.replace("folder: site", "folder: sight")),
        ("bad project", sound.replace("SITE", "My Site")),
        ("limit of nothing", format!("{sound}limits_seconds: {{PLANNING: 0}}\n")),
        ("limit of a terminal state", format!("{sound}limits_seconds: {{COMPLETE: 5}}\n")),
        ("one name twice", sound.replace("verify:", "  - {name: a, run: ['true']}\nverify:")),
    ];
    let mut shown = String::new();
    for (name, plan) in cases {
        session.write("plan.yaml", plan);
        let said = governed(&session, &["run", "plan.yaml"]);
        assert_eq!(said.code, Some(2), "{name}: {}", said.shown());
        shown.push_str(&format!("# {name}\n{}\n", said.stderr));
    }
    let runs = fs::read_dir(session.path(STATE_DIR)).map(|entries| entries.count()).unwrap_or(0);
    assert_eq!(runs, 0, "nothing is left behind");
    for args in [
        &["approve", "A1"] as &[&str],
        &["approve", "../A1"],
        &["approve", "RUN-SITE-20260131-120000-A1", "--by", "ada"],
        &["recover", "RUN-SITE-20260131-120000"],
        &["recover", "nonsense"],
        &["status", "RUN-SITE-20260131-120000"],
        &["verify-ledger"],
    ] {
        let said = governed(&session, args);
        assert_eq!(said.code, Some(2), "{}", said.shown());
        shown.push_str(&said.shown());
    }
    assert_shown("governed_refused", &shown);
}

/// `check` reads the files of governed runs as they are, ours and other tools'.
#[test]
fn check_reads_states_and_logs() {
    let session = Session::new();
    let entry = |state: &str, from: u32, to: Option<u32>| {
        let to = to.map_or("null".to_owned(), |to| format!("\"2026-01-31T12:00:0{to}Z\""));
        format!(
            "{{\"state\": \"{state}\", \"entered_at\": \"2026-01-31T12:00:0{from}Z\", \"exited_at\": {to}}}"
        )
    };
    let file = |history: &[String], previous: &str, current: &str| {
        format!(
            "{{\"run_id\": \"RUN-A-20260131-120000\", \"project_id\": \"A\", \"current_state\": \"{current}\", \
             \"previous_state\": \"{previous}\", \"state_history\": [{}], \"tools_planned\": [], \
             \"tools_completed\": [], \"tools_remaining\": [], \"current_tool\": null, \"approvals_pending\": [], \
             \"approvals_granted\": [], \"created_at\": \"2026-01-31T12:00:00Z\", \
             \"updated_at\": \"2026-01-31T12:00:09Z\", \"theirs\": 1}}",
            history.join(", ")
        )
    };
    let sound = [entry("INIT", 0, Some(1)), entry("PLANNING", 1, None)];
    session.write("RUN_STATE.json", file(&sound, "INIT", "PLANNING"));
    let jumps = [
        entry("INIT", 0, Some(1)),
        entry("EXECUTING", 1, Some(2)),
        entry("COMPLETE", 2, Some(3)),
        entry("PLANNING", 3, None),
    ];
    session.write("jumps.json", file(&jumps, "COMPLETE", "PLANNING"));
    fs::create_dir(session.path("bad")).unwrap();
    session.write("bad/RUN_STATE.json", "{\"run_id\": 5}");
    let mut shown = String::new();
    for (args, code) in [
        (&["check", "RUN_STATE.json"] as &[&str], 0),
        (&["check", "RUN_STATE.json", "--complete"], 1),
        (&["check", "jumps.json"], 1),
        (&["check", "jumps.json", "--format", "json"], 1),
        (&["check", "bad/RUN_STATE.json"], 2),
        (&["check", "RUN_STATE.json", "jumps.json", "--format", "junit"], 1),
        (&["check", "RUN_STATE.json", "--complete", "--format", "junit"], 1),
    ] {
        let said = session.run(args);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
    }
    assert_shown("check_run_state", &shown);
}

/// `check` reads the logs of governed runs, ours and other tools', and names every line that is no legal transition.
#[test]
fn check_names_the_lines_of_a_log_that_are_no_legal_transition() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    let log =
        session.read(&format!("{STATE_DIR}/{run}/RUN_LOG.jsonl")).replace(&run, "RUN-SITE-20260131-120000");
    let without = |gone: &[usize]| -> String {
        let lines = log.lines().enumerate().filter(|(i, _)| !gone.contains(i));
        lines.map(|(_, line)| format!("{line}\n")).collect()
    };
    for folder in ["ours", "bad", "named"] {
        fs::create_dir(session.path(folder)).unwrap();
    }
    session.write("ours/RUN_LOG.jsonl", &log).write("bad/RUN_LOG.jsonl", without(&[1, 3]));
    // The words of document 001, with fields that nobody here knows, and lines that tell of something else.
    let theirs = |states: &[&str]| -> String {
        let line = |(i, state): (usize, &&str)| {
            format!(
                "{{\"run_id\": \"RUN-A-20260131-120000\", \"state\": \"{state}\", \
                 \"entered_at\": \"2026-01-31T12:00:0{i}Z\", \"host\": {{\"name\": \"a\"}}}}\n\
                 {{\"event\": \"tool_started\", \"tool\": \"tool_browser\"}}\n"
            )
        };
        states.iter().enumerate().map(line).collect()
    };
    session
        .write("theirs.jsonl", theirs(&["INIT", "PLANNING", "EXECUTING"]))
        .write("jumps.jsonl", theirs(&["INIT", "EXECUTING", "COMPLETE", "PLANNING"]))
        .write("named/RUN_LOG.jsonl", "{\"event\": \"tool_started\"}\n")
        .write("named/RUN_LEDGER.jsonl", format!("{}garbage\n{}", without(&[4, 5]), theirs(&["INIT"])));
    let mut shown = String::new();
    for (args, code) in [
        (&["check", "ours/RUN_LOG.jsonl", "--complete"] as &[&str], 0),
        (&["check", "bad/RUN_LOG.jsonl"], 1),
        (&["check", "theirs.jsonl"], 0),
        (&["check", "theirs.jsonl", "--complete"], 1),
        (&["check", "jumps.jsonl"], 1),
        (&["check", "jumps.jsonl", "--format", "json"], 1),
        (&["check", "theirs.jsonl", "jumps.jsonl", "--format", "junit", "--complete"], 1),
        (&["check", "theirs.jsonl", "--require-edge", "PLANNING:EXECUTING"], 0),
        (&["check", "theirs.jsonl", "--require-edge", "VERIFYING:AUDITING"], 1),
        (&["check", "named/RUN_LEDGER.jsonl"], 1),
        (&["check", "named/RUN_LOG.jsonl"], 2),
        // Where another diagram is asked for, it is a trace like any other.
        (&["check", "ours/RUN_LOG.jsonl", "--lifecycle", "run"], 0),
        (&["check", "absent/RUN_LOG.jsonl"], 2),
    ] {
        let said = session.run(args);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
    }
    assert_shown("check_run_log", &shown);
}
