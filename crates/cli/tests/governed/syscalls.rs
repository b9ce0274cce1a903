//! What a governed run asks of the system, in which order, and what is left where it is killed at any of it: seen and done by strace.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use runstate_governed::Timestamp;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::restored::walked;
use super::{REVIEW, STATE_DIR, assert_in_order, files, governed, json, plan, until};
use crate::program::{Program, Running};
use crate::session::{Session, harmless};

/// The command under strace, which has its words in the file `calls`; none where there is no strace.
fn straced(session: &Session, options: &[&str], args: &[&str]) -> Option<Program> {
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    if !works.is_ok_and(|works| works.success()) {
        let why = "system calls cannot be seen without strace: apt-get install strace";
        assert!(std::env::var_os("RUNSTATE_REQUIRE_STRACE").is_none(), "{why}");
        // Not by println, which the harness would keep to itself.
        drop(writeln!(std::io::stderr(), "SKIPPED: {why}"));
        return None;
    }
    let all = [&["governed"], args, &["--state-dir", STATE_DIR]].concat();
    let mut command = session.program("strace");
    command.args(["-qq", "-o"]).arg(session.path("calls")).args(options);
    command.arg(env!("CARGO_BIN_EXE_runstate")).args(all);
    Some(command)
}

/// The runs that have a folder.
fn runs(session: &Session) -> Vec<String> {
    let entries = fs::read_dir(session.path(STATE_DIR)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("RUN-")).collect()
}

/// Where the only run stands within its state; null where it has none.
fn standing(session: &Session) -> Value {
    runs(session).pop().map(|run| standing_of(session, &run)).unwrap_or_default()
}

fn standing_of(session: &Session, run: &str) -> Value {
    let state = fs::read(session.path(&format!("{STATE_DIR}/{run}/RUN_STATE.json")));
    let state: Value = serde_json::from_slice(&state.unwrap_or_default()).unwrap_or_default();
    state["runstate"]["notes"]["standing"]["at"].clone()
}

/// A plan that spoils a folder in place and is rolled back.
fn spoils(session: &Session) {
    plan(
        session,
        &[("build", "echo new > index.html; rm keep.txt; mkdir made; echo x > made/x; exit 1")],
        &format!("in_place: true\n{REVIEW}"),
    );
}

/// A power cut takes back neither the snapshot of a folder that tools change, nor what a run that is ROLLED_BACK has put back.
#[test]
fn a_rollback_is_durable_before_its_state_is() {
    let session = Session::new();
    spoils(&session);
    let options = ["-y", "-e", "trace=syncfs,?rename,renameat,?renameat2"];
    let Some(mut command) = straced(&session, &options, &["run", "plan.yaml", "--json"]) else { return };
    let said = harmless("governed run", command.output().unwrap());
    assert_eq!(said.status.code(), Some(1), "{said:?}");
    let calls = session.read("calls");
    let calls: Vec<&str> = calls.lines().collect();
    let at = |what: &str| calls.iter().position(|call| call.contains(what));
    let is_state = |call: &&str| call.starts_with("rename") && call.contains("RUN_STATE.json.new");
    let rolled_back = calls.iter().rposition(is_state).unwrap();
    let began = calls[..rolled_back].iter().rposition(is_state).unwrap();
    let of_site = calls[began..rolled_back].iter().any(|call| {
        call.starts_with("syncfs(") && call.contains("/site>") && call.trim_end().ends_with("= 0")
    });
    assert!(of_site, "{calls:#?}");
    let snapshot = at("snapshot.new\"").unwrap_or_else(|| panic!("{calls:#?}"));
    assert!(calls[..snapshot].iter().any(|call| call.contains("snapshot.new>")), "{calls:#?}");
}

fn signal(child: &Running) {
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
}

/// The first signal in a rollback is told and waits for its end, the second one does not, and `recover` goes on with the rollback.
#[test]
fn a_signal_in_a_rollback_is_heard() {
    for signals in [1, 2] {
        let session = Session::new();
        spoils(&session);
        let before = files(&session, "site");
        // The second sync of a file system is that of the rollback. The tracer is no parent of the command: signals are for that one.
        let options = ["-D", "-e", "trace=syncfs", "-e", "inject=syncfs:delay_enter=4000000:when=2"];
        let args = ["run", "plan.yaml", "--json"];
        let Some(mut command) = straced(&session, &options, &args) else { return };
        let child = command.spawn().unwrap();
        until("the run never was rolled back", || standing(&session) == "rolling_back");
        for _ in 0..signals {
            sleep(Duration::from_millis(700));
            signal(&child);
        }
        let output = child.wait_with_output().unwrap();
        let said = session.said(&args, &output);
        let told =
            "a signal ends this command after the current rollback; a second signal ends it immediately";
        assert_eq!(said.stderr.matches(told).count(), 1, "{}", said.shown());
        let is_told = said.stderr.contains("a second signal ends this command in its rollback");
        assert_eq!(is_told, signals == 2, "{}", said.shown());
        assert_eq!(said.code, Some(if signals == 1 { 1 } else { 143 }), "{}", said.shown());
        let run = runs(&session).pop().unwrap();
        if signals == 1 {
            assert_eq!(json(&said)["status"], "ROLLED_BACK", "{}", said.shown());
        } else {
            assert_eq!(standing(&session), "rolling_back", "{}", said.shown());
        }
        let done = governed(&session, &["recover", &run, "--json"]);
        assert_eq!(json(&done)["status"], "ROLLED_BACK", "{}", done.shown());
        assert_eq!(files(&session, "site"), before);
        assert_in_order(&session, &run);
    }
}

/// A run in place that spoiled that folder and is in VERIFYING; the command that drove it was killed.
fn killed_while_verifying(session: &Session, folder: &str) {
    let verify = "verify:\n  - run: [sh, -c, 'touch ../verifying; sleep 600']";
    spoils(session);
    let text = session.read("plan.yaml").replace("; exit 1", "");
    let text = text.replace("folder: site", &format!("folder: {folder}"));
    session.write("plan.yaml", text.replace("verify:\n  - run: [test, -f, index.html]", verify));
    let mut command = session.command(&["governed", "run", "plan.yaml", "--state-dir", STATE_DIR]);
    let mut child = command.stdout(session.kept()).stderr(session.kept()).spawn().unwrap();
    until("it never was verified", || session.path("verifying").exists());
    fs::remove_file(session.path("verifying")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A run in place that spoiled its folder and waits for the answer to another tool.
fn waiting(session: &Session) {
    let build = "echo new > index.html; rm keep.txt; mkdir made; echo x > made/x";
    plan(session, &[("build", build), ("deploy", "true")], &format!("in_place: true\n{REVIEW}"));
    assert_eq!(governed(session, &["run", "plan.yaml"]).code, Some(3));
}

/// Ends the time of a run in its state, a millisecond after the decision that is being carried out if there is one.
fn expire(session: &Session, run: &str) {
    let path = format!("{STATE_DIR}/{run}/RUN_STATE.json");
    let mut document: Value = serde_json::from_str(&session.read(&path)).unwrap();
    let ms = |time: &Value| time.as_str().unwrap_or_default().parse::<Timestamp>().map(Timestamp::ms);
    let entered = ms(&document["state_history"].as_array().unwrap().last().unwrap()["entered_at"]).unwrap();
    let decided = ms(&document["runstate"]["notes"]["standing"]["by"][1]).unwrap_or(entered);
    let state = document["current_state"].as_str().unwrap().to_owned();
    document["runstate"]["limits"] = serde_json::json!({ state: decided - entered + 1 });
    session.write(&path, document.to_string());
}

/// The same holds for the other commands that roll back: a rejection, a halt and a sweep.
#[test]
fn a_signal_in_a_rollback_of_a_decision_is_heard() {
    for (command, signals, code) in
        [("reject", 1, 0), ("reject", 2, 143), ("halt", 1, 1), ("sweep", 1, 0), ("sweep", 2, 143)]
    {
        let session = Session::new();
        session.write("site/index.html", "old").write("site/keep.txt", "kept");
        let before = files(&session, "site");
        if command == "reject" {
            waiting(&session)
        } else {
            killed_while_verifying(&session, "site")
        }
        let run = runs(&session).pop().unwrap();
        let approval = format!("{run}-A1");
        let args = match command {
            "reject" => vec!["reject", &approval, "--by", "ada"],
            "halt" => vec!["halt", &run, "--by", "ada"],
            _ => vec!["sweep"],
        };
        if command == "sweep" {
            expire(&session, &run);
        }
        let options = ["-D", "-e", "trace=syncfs", "-e", "inject=syncfs:delay_enter=3000000:when=1"];
        let Some(mut straced) = straced(&session, &options, &args) else { return };
        let child = straced.spawn().unwrap();
        until("the run never was rolled back", || standing(&session) == "rolling_back");
        for _ in 0..signals {
            sleep(Duration::from_millis(700));
            signal(&child);
        }
        let said = session.said(&args, &child.wait_with_output().unwrap());
        let recover = format!("recover {run} --state-dir {STATE_DIR}");
        let told = format!(
            "a second signal ends it immediately, and `runstate governed {recover}` continues the rollback"
        );
        assert_eq!(said.stderr.matches(&told).count(), 1, "{command}: {}", said.shown());
        assert_eq!(said.code, Some(code), "{command}: {}", said.shown());
        let is_over = said.stdout.contains("ROLLED_BACK");
        assert_eq!(is_over, signals == 1, "{command}: {}", said.shown());
        let done = governed(&session, &["recover", &run, "--json"]);
        assert_eq!(json(&done)["status"], "ROLLED_BACK", "{command}: {}", done.shown());
        assert_eq!(files(&session, "site"), before, "{command}");
        assert_in_order(&session, &run);
    }
}

/// A sweep that is asked to end finishes the rollback under way, and leaves the other runs to the next one.
#[test]
fn a_sweep_ends_between_two_runs() {
    let session = Session::new();
    session.write("other/keep.txt", "kept");
    for folder in ["site", "other"] {
        killed_while_verifying(&session, folder);
    }
    let mut all = runs(&session);
    all.sort();
    all.iter().for_each(|run| expire(&session, run));
    let options = ["-D", "-e", "trace=syncfs", "-e", "inject=syncfs:delay_enter=3000000:when=1"];
    let Some(mut straced) = straced(&session, &options, &["sweep"]) else { return };
    let child = straced.spawn().unwrap();
    until("no run was rolled back", || all.iter().any(|run| standing_of(&session, run) == "rolling_back"));
    sleep(Duration::from_millis(700));
    signal(&child);
    let said = session.said(&["sweep"], &child.wait_with_output().unwrap());
    assert_eq!((said.code, said.stdout), (Some(143), format!("{}: ROLLED_BACK\n", all[0])));
    let goes_on = format!("`runstate governed sweep --state-dir {STATE_DIR}` continues\n");
    assert!(said.stderr.ends_with(&goes_on), "{}", said.stderr);
    let swept = governed(&session, &["sweep"]);
    assert_eq!(swept.stdout, format!("{}: ROLLED_BACK\n", all[1]), "{}", swept.shown());
}

/// A rejection that was killed in its rollback asks nothing any more: each command names the one that finishes it, and a sweep does so
/// once its time is over.
#[test]
fn a_rejection_that_was_killed_names_the_way_on() {
    for way_on in ["recover", "sweep"] {
        let session = Session::new();
        session.write("site/index.html", "old").write("site/keep.txt", "kept");
        let before = files(&session, "site");
        waiting(&session);
        let (run, digest) = {
            let asked = json(&governed(&session, &["approvals", "--json"]))[0].clone();
            (asked["run"].as_str().unwrap().to_owned(), asked["digest"].as_str().unwrap().to_owned())
        };
        let approval = format!("{run}-A1");
        let kill = ["-e", "trace=syncfs", "-e", "inject=syncfs:signal=KILL:when=1"];
        let rejects = ["reject", &approval, "--by", "ada"];
        let Some(mut straced) = straced(&session, &kill, &rejects) else { return };
        assert!(!harmless("governed reject", straced.output().unwrap()).status.success());
        assert_eq!(standing(&session), "rolling_back");

        let recover = format!("`runstate governed recover {run} --state-dir {STATE_DIR}` finishes it");
        let status = governed(&session, &["status"]);
        assert!(status.stdout.contains(&recover), "{}", status.shown());
        assert!(!status.stdout.contains("waits for"), "{}", status.shown());
        let status = json(&governed(&session, &["status", "--json"]))[0].clone();
        assert_eq!((&status["rollback"], &status["pending"]), (&"unfinished".into(), &Value::Null));
        let listed = governed(&session, &["approvals"]);
        assert_eq!(listed.stdout, "no action waits for an approval\n", "{}", listed.shown());
        for decision in ["approve", "reject", "escalate"] {
            for more in [&[][..], &["--digest", &digest]] {
                let refused = governed(&session, &[&[decision, &approval, "--by", "bob"], more].concat());
                assert_eq!(refused.code, Some(2), "{}", refused.shown());
                assert!(refused.stderr.contains("is begun and not finished"), "{}", refused.shown());
                assert!(refused.stderr.contains(&recover), "{}", refused.shown());
            }
        }
        let swept = governed(&session, &["sweep"]);
        assert_eq!((swept.code, swept.stdout.as_str()), (Some(0), ""), "it has time left");
        let done = if way_on == "sweep" {
            expire(&session, &run);
            governed(&session, &["sweep"])
        } else {
            governed(&session, &["recover", &run])
        };
        assert!(done.stdout.contains(&format!("{run}: ROLLED_BACK")), "{way_on}: {}", done.shown());
        assert_eq!(files(&session, "site"), before, "{way_on}");
        assert_in_order(&session, &run);
    }
}

/// The folder of a tool is the one that was looked at, whatever has its name when the tool starts.
#[test]
fn a_tool_works_in_the_folder_that_was_looked_at() {
    let session = Session::new();
    session.write("victim/mine.txt", "kept").write("site/out/some.txt", "x").write("site/index.html", "x");
    session.write(
        "plan.yaml",
        format!(
            "project: P\nfolder: site\ngates: {{auto: [clean]}}\ntools:\n  - {{name: clean, folder: out, run: [sh, -c, 'rm -f *; touch here']}}\n{REVIEW}"
        ),
    );
    let options = ["-f", "-e", "trace=sendmsg", "-e", "inject=sendmsg:delay_enter=3000000"];
    let Some(mut command) = straced(&session, &options, &["run", "plan.yaml"]) else { return };
    let child = command.spawn().unwrap();
    until("no tool was called", || standing(&session) == "calling");
    sleep(Duration::from_millis(1_000));
    let work = session.path(&format!("{STATE_DIR}/{}/work", runs(&session).pop().unwrap()));
    fs::rename(work.join("out"), work.join("away")).unwrap();
    symlink(session.path("victim"), work.join("out")).unwrap();
    let output = harmless("governed run", child.wait_with_output().unwrap());
    assert_eq!(files(&session, "victim"), [("mine.txt".to_owned(), "kept".to_owned())], "{output:?}");
    assert!(work.join("away/here").exists(), "{output:?}");
}

/// All that a test made, but the runs and the words of strace.
fn all(session: &Session) -> BTreeMap<PathBuf, super::restored::Found> {
    let mut all = walked(&session.path(""), &session.path(STATE_DIR));
    all.remove(&PathBuf::new());
    all.remove(&PathBuf::from("calls"));
    all
}

/// Killed before each of its writes in turn, by its own hand: the next command ends the run as documented, and nothing but the
/// copy that the tools work in differs.
#[test]
fn a_run_that_is_killed_before_a_write_ends_by_a_command() {
    const WRITES: &str = "fsync,fdatasync,syncfs,?rename,renameat,?renameat2,?unlink,unlinkat,?rmdir,?mkdir,mkdirat,?symlink,symlinkat";
    let (mut ends, mut number, mut points) = (BTreeMap::<String, usize>::new(), 0, vec![None]);
    // The first run is not killed, and says which writes there are: a call and its number among those of its name.
    while number < points.len() {
        let point = points[number].clone();
        number += 1;
        let session = Session::new();
        plan(&session, &[("build", "echo new > index.html; echo x > made"), ("wait", "exit 1")], REVIEW);
        session.write("site/closed/inside", "there");
        symlink("keep.txt", session.path("site/link")).unwrap();
        fs::set_permissions(session.path("site/closed"), fs::Permissions::from_mode(0o555)).unwrap();
        let before = all(&session);
        let site = walked(&session.path("site"), &session.path(STATE_DIR));
        let trace = format!("trace={WRITES}");
        let inject = point.as_ref().map(|(call, nth)| format!("inject={call}:signal=KILL:when={nth}"));
        let options: Vec<&str> =
            ["-e", &trace].into_iter().chain(inject.iter().flat_map(|inject| ["-e", inject])).collect();
        let Some(mut command) = straced(&session, &options, &["run", "plan.yaml"]) else { return };
        let code = harmless("governed run", command.output().unwrap()).status.code();
        let is_killed = code.is_none();
        assert!(is_killed == point.is_some() && (is_killed || code == Some(1)), "{point:?}: {code:?}");
        if !is_killed {
            let mut counts = BTreeMap::<String, usize>::new();
            for (call, _) in session.read("calls").lines().filter_map(|line| line.split_once('(')) {
                let nth = counts.entry(call.to_owned()).or_default();
                *nth += 1;
                points.push(Some((call.to_owned(), *nth)));
            }
            assert!(points.len() > 60, "{points:?}");
        }
        let what = format!("killed before {point:?}");
        for run in runs(&session) {
            let path = |name: &str| session.path(&format!("{STATE_DIR}/{run}/{name}"));
            let end = if path("RUN_STATE.json").exists() {
                let done = governed(&session, &["recover", &run, "--json"]);
                let status = json(&done)["status"].as_str().unwrap_or_default().to_owned();
                let work = walked(&path("work"), &session.path(STATE_DIR));
                match &*status {
                    "ROLLED_BACK" => assert_eq!(work, site, "{what}: {}", done.shown()),
                    // A tool was under way, and what it did is not known.
                    "HALTED_UNSAFE" => {
                        let why = json(&done)["why"].to_string();
                        assert!(
                            is_killed && why.contains(" was under way when the process ended"),
                            "{what}: {}",
                            done.shown()
                        );
                    }
                    _ => panic!("{what}: {}", done.shown()),
                }
                assert_in_order(&session, &run);
                status
            } else {
                let swept = governed(&session, &["sweep"]);
                assert_eq!(swept.code, Some(0), "{what}: {}", swept.shown());
                assert!(!path("").exists(), "{what}: {}", swept.shown());
                "swept away".to_owned()
            };
            *ends.entry(end).or_default() += 1;
        }
        assert_eq!(all(&session), before, "{what}");
    }
    for end in ["swept away", "ROLLED_BACK", "HALTED_UNSAFE"] {
        assert!(ends.get(end).is_some_and(|times| *times > 1), "{end}: {ends:?}");
    }
}
