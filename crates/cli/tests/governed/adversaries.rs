//! Tools that work against the command that runs them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use super::tools::lives;
use super::{REVIEW, STATE_DIR, assert_in_order, governed, json, now, plan, run_id, until};
use crate::session::{Session, assert_harmless};

/// The state in hand is the authority: a tool that writes to the files of its run changes nothing of it.
#[test]
fn a_tool_that_rewrites_the_files_of_its_run_changes_nothing() {
    for spoil in [
        "echo '{}' > ../RUN_STATE.json",
        "sed -i 's/EXECUTING/COMPLETE/' ../RUN_STATE.json ../RUN_LOG.jsonl",
        "rm ../RUN_STATE.json ../RUN_LOG.jsonl; mkdir ../FINAL_REPORT.md.new",
        "rm ../RUN_STATE.json; mkdir -p ../RUN_STATE.json/x; mkfifo ../RUN_STATE.json.new",
        "echo garbage >> ../../command-center/RUN_LEDGER.jsonl",
        "rm ../../command-center/RUN_LEDGER.jsonl; mkfifo ../../command-center/RUN_LEDGER.jsonl",
        "ln -sf /etc/passwd ../RUN_STATE.json.new",
        "cd ../../command-center; for f in PENDING APPROVED; do mkdir -p $f/$RUNSTATE_RUN-A1.json/x; mkfifo $f/$RUNSTATE_RUN-A1.json.new; done",
        "touch ../../command-center/PENDING/x; rm -rf ../../command-center/APPROVED/*",
    ] {
        let session = Session::new();
        plan(&session, &[("build", spoil), ("deploy", "true")], REVIEW);
        let waiting = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(waiting.code, Some(3), "{spoil}: {}", waiting.shown());
        let run = run_id(&json(&waiting));
        let approved = governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]);
        assert_eq!(approved.code, Some(0), "{spoil}: {}", approved.shown());
        let done = governed(&session, &["recover", &run, "--json"]);
        assert_eq!(json(&done)["status"], "COMPLETE", "{spoil}: {}", done.shown());
        let verified = governed(&session, &["verify-ledger"]);
        let is_named = verified.shown().contains("damaged-1: line 4: it is no event");
        assert_eq!(
            (verified.code, is_named),
            if spoil.contains("garbage") { (Some(1), true) } else { (Some(0), false) }
        );
        if verified.code == Some(0) {
            assert_in_order(&session, &run);
        }
    }
}

/// A tool that approves of its own next step.
#[test]
fn a_tool_does_not_answer_its_own_run() {
    let session = Session::new();
    let binary = env!("CARGO_BIN_EXE_runstate");
    let script =
        format!("cd ../..; {binary} governed approve $RUNSTATE_RUN-A1 --by ada --state-dir . 2> said");
    plan(&session, &[("deploy", &script)], REVIEW);
    let waiting = governed(&session, &["run", "plan.yaml", "--json"]);
    let run = run_id(&json(&waiting));
    assert_eq!(governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]).code, Some(0));
    let done = governed(&session, &["recover", &run, "--json"]);
    assert_eq!(json(&done)["waits"]["approval"], format!("{run}-A2"), "it failed: {}", done.shown());
    let said = session.read(&format!("{STATE_DIR}/said"));
    assert_harmless("governed approve", &said);
    assert!(said.contains("a tool cannot drive or answer its own run"), "{said}");
}

/// A tool that no signal but one ends, in its time and when the command is asked to end.
#[test]
fn a_tool_that_ignores_signals_is_ended() {
    let deaf = "trap '' TERM INT HUP QUIT USR1; echo $$ > ../pid; while :; do sleep 1; done";
    let session = Session::new();
    plan(&session, &[("build", deaf)], REVIEW);
    let text = session.read("plan.yaml").replace("- {name: build,", "- {name: build, time_limit_seconds: 1,");
    session.write("plan.yaml", text);
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(json(&done)["status"], "ROLLED_BACK", "{}", done.shown());
    let pid = session.read(&format!("{STATE_DIR}/{}/pid", run_id(&json(&done))));
    assert!(!lives(pid.trim()), "it is ended");

    let session = Session::new();
    plan(&session, &[("build", deaf)], REVIEW);
    let mut command = session.command(&["governed", "run", "plan.yaml", "--state-dir", STATE_DIR]);
    let mut child = command.stdout(session.kept()).stderr(session.kept()).spawn().unwrap();
    let pid = || {
        let mut runs = fs::read_dir(session.path(STATE_DIR)).ok()?.flatten();
        let pid = runs.find_map(|entry| fs::read_to_string(entry.path().join("pid")).ok())?.trim().to_owned();
        (!pid.is_empty()).then_some(pid)
    };
    until("the tool never started", || pid().is_some());
    let pid = pid().unwrap();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    until("the tool was not ended", || !lives(&pid));
}

/// Its outputs closed, or held open by a process that left its session twice: the exit code counts, and nothing is waited for.
#[test]
fn a_tool_that_closes_or_holds_its_outputs_ends() {
    for script in [
        "exec <&- >&- 2>&-; echo done > index.html",
        "(setsid sh -c '(setsid sleep 600 &) &'); sleep 0.2; echo done > index.html",
        "exec >/dev/null; (trap '' HUP TERM; sleep 600) & sleep 0.2; echo done > index.html",
    ] {
        let session = Session::new();
        plan(&session, &[("build", script)], REVIEW);
        let before = now();
        let done = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(json(&done)["status"], "COMPLETE", "{script}: {}", done.shown());
        assert!(before.elapsed().as_secs() < 60, "{script}: it was waited for");
    }
}

/// The folder itself is closed to all, and so are those in it.
#[test]
fn a_tool_that_closes_its_folder_is_rolled_back() {
    let session = Session::new();
    plan(&session, &[("build", "mkdir x; chmod 0000 x index.html . ; exit 1")], REVIEW);
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(json(&done)["status"], "ROLLED_BACK", "{}", done.shown());
    let work = session.path(&format!("{STATE_DIR}/{}/work", run_id(&json(&done))));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&work), mode(&session.path("site")));
    assert_eq!(mode(&work.join("index.html")), mode(&session.path("site/index.html")));
    assert!(!work.join("x").exists());
}

/// A process of the run is known by device, inode and path of its folder: another folder of that path is of another run.
#[test]
fn a_process_is_of_a_run_by_device_and_inode() {
    let session = Session::new();
    plan(&session, &[("deploy", "true")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    let folder = session.path(&format!("{STATE_DIR}/{run}")).canonicalize().unwrap();
    let (dev, ino) = fs::metadata(&folder).map(|found| (found.dev(), found.ino())).unwrap();
    let sleep = |dev: u64, ino: u64| {
        let marker = format!("{dev}:{ino}:{}", folder.display());
        Command::new("sleep").arg("600").env("RUNSTATE_RUN_FOLDER", marker).spawn().unwrap()
    };
    let (mut own, mut others) = (sleep(dev, ino), [sleep(dev, ino + 1), sleep(dev + 1, ino)]);
    let approved = governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]);
    assert_eq!(approved.code, Some(0), "{}", approved.shown());
    assert!(approved.stderr.contains("ended 1 process that a killed command"), "{}", approved.shown());
    assert!(own.wait().is_ok_and(|status| !status.success()));
    for other in &mut others {
        assert!(lives(&other.id().to_string()));
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

/// A tool takes the socket of its supervisor, gives it to a process that cannot be found, and ends the supervisor: no answer comes, and no
/// end of the socket. The command goes on all the same.
#[test]
fn tool_holding_the_supervisor_socket_does_not_block_the_run() {
    let session = Session::new();
    let script = r#"
import ctypes, os, time
libc, above = ctypes.CDLL(None), os.getppid()
held = libc.syscall(438, libc.syscall(434, above, 0), 0, 0)
if held < 0:
    raise SystemExit(7)
os.set_inheritable(held, True)
if os.fork() == 0:
    os.setsid()
    open("../holder.pid", "w").write(str(os.getpid()))
    os.execve("/bin/sleep", ["sleep", "120"], {})
while not os.path.exists("../holder.pid"):
    time.sleep(0.01)
time.sleep(0.1)
os.kill(above, 9)
time.sleep(600)
"#;
    plan(&session, &[("build", "true")], REVIEW);
    session.write("site/hold.py", script);
    let text = session.read("plan.yaml").replace(
        "- {name: build, run: [sh, -c, \"true\"]}",
        "- {name: build, time_limit_seconds: 2, run: [python3, hold.py]}",
    );
    session.write("plan.yaml", text);
    let before = now();
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    let run = run_id(&json(&done));
    let Ok(holder) = fs::read_to_string(session.path(&format!("{STATE_DIR}/{run}/holder.pid"))) else {
        println!("no python3, or no right to take the socket: {}", done.shown());
        return;
    };
    let lasted = before.elapsed().as_secs();
    Command::new("kill").args(["-KILL", &holder]).status().unwrap();
    assert_eq!(json(&done)["status"], "HALTED_UNSAFE", "{}", done.shown());
    assert!(json(&done)["why"].to_string().contains("the supervisor of python3"), "{}", done.shown());
    assert!(lasted < 60, "{lasted} s");
    assert_in_order(&session, &run);
}

/// A process of another user that a tool left: it is told, and the next tool has another supervisor. For a test that runs as root.
#[test]
fn a_process_that_cannot_be_ended_is_told() {
    const OTHER: u32 = 65534;
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let Some(setpriv) =
        ["/usr/bin/setpriv", "/bin/setpriv"].iter().find(|path| is_root && Path::new(path).exists())
    else {
        return;
    };
    let session = Session::new();
    let [privileged, binary] = [session.path("privileged"), session.path("runstate")];
    let leave = format!(
        "{} --reuid=0 --regid=0 --clear-groups setsid sleep 600 >/dev/null 2>&1 & echo $! > ../stray.pid; echo $PPID > ../first; sleep 0.5",
        privileged.display()
    );
    plan(&session, &[("build", &leave), ("wait", "echo $PPID > ../second")], REVIEW);
    fs::copy(env!("CARGO_BIN_EXE_runstate"), &binary).unwrap();
    let owner = format!("{OTHER}:{OTHER}");
    let owned = Command::new("chown").args(["-Rh", &owner]).arg(session.path(".")).status();
    assert!(owned.unwrap().success());
    fs::copy(setpriv, &privileged).unwrap();
    fs::set_permissions(&privileged, fs::Permissions::from_mode(0o4755)).unwrap();
    let args = ["governed", "run", "plan.yaml", "--json", "--state-dir", STATE_DIR];
    let ids = [format!("--reuid={OTHER}"), format!("--regid={OTHER}"), "--clear-groups".to_owned()];
    let output = session.program(setpriv).args(ids).arg(&binary).args(args).output();
    let done = session.said(&args, &output.unwrap());
    let run = run_id(&json(&done));
    let stray = session.read(&format!("{STATE_DIR}/{run}/stray.pid")).trim().to_owned();
    let is_left = lives(&stray);
    Command::new("kill").args(["-KILL", &stray]).status().unwrap();
    if !is_left {
        println!("the file system gives no user away: {}", done.shown());
        return;
    }
    assert_eq!(json(&done)["status"], "COMPLETE", "{}", done.shown());
    let state = session.read(&format!("{STATE_DIR}/{run}/RUN_STATE.json"));
    assert!(state.contains("could not end 1 processes that the tool left running"), "{state}");
    let supervisor = |name: &str| session.read(&format!("{STATE_DIR}/{run}/{name}"));
    assert_ne!(supervisor("first"), supervisor("second"));
}

/// A program that was started through a loader is the loader to the system: no tool is started, and the run says why.
#[test]
fn a_supervisor_behind_a_loader_is_refused() {
    let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let Some(loader) = loaders.iter().find(|path| Path::new(path).exists()) else { return };
    let session = Session::new();
    plan(&session, &[("build", "touch ../ran")], REVIEW);
    let args = ["governed", "run", "plan.yaml", "--json", "--state-dir", STATE_DIR];
    let plain = session.command(&args);
    let mut command = session.program(loader);
    let done = session.said(&args, &command.arg(plain.get_program()).args(args).output().unwrap());
    assert_eq!(json(&done)["status"], "ROLLED_BACK", "{}", done.shown());
    assert!(
        json(&done)["why"].to_string().contains("the supervisor of the tools does not answer"),
        "{}",
        done.shown()
    );
    assert!(!session.path(&format!("{STATE_DIR}/{}/ran", run_id(&json(&done)))).exists());
}

/// A run without a plan that can be read is halted by a command, and no command answers its questions.
#[test]
fn a_run_without_its_plan_is_halted_by_a_command() {
    for script in [
        "rm ../plan.yaml",
        "rm ../plan.yaml; mkdir ../plan.yaml",
        "rm ../plan.yaml; mkfifo ../plan.yaml",
        "rm ../plan.yaml; ln -s nowhere ../plan.yaml",
        "echo no: > ../plan.yaml",
    ] {
        let session = Session::new();
        plan(&session, &[("build", script), ("deploy", "touch deployed")], REVIEW);
        let said = governed(&session, &["run", "plan.yaml", "--json"]);
        let run = run_id(&json(&said));
        let approval = format!("{run}-A1");
        for args in [vec!["recover", &run], vec!["approve", &approval, "--by", "ada"]] {
            let refused = governed(&session, &args);
            assert_eq!(refused.code, Some(2), "{script}: {}", refused.shown());
            assert!(refused.stderr.contains("or halt the run"), "{script}: {}", refused.shown());
        }
        let unnamed = governed(&session, &["halt", &run, "--by", " "]);
        assert!(unnamed.code == Some(2) && unnamed.stderr.contains("expected a name"), "{}", unnamed.shown());
        let halted = governed(&session, &["halt", &run, "--by", "ada", "--because", "its plan is gone"]);
        assert!(
            halted.code == Some(0) && halted.stdout.starts_with(&format!("{run} is HALTED_UNSAFE\n")),
            "{}",
            halted.shown()
        );
        let status = governed(&session, &["status", &run]);
        assert!(status.stdout.contains("ada halted the run: its plan is gone"), "{}", status.shown());
        assert!(!session.path(&format!("runs/{run}/work/deployed")).exists());
        let again = governed(&session, &["halt", &run, "--by", "ada"]);
        assert!(again.code == Some(2) && again.stderr.contains("is over"), "{}", again.shown());
        assert_in_order(&session, &run);
    }
}

/// A command that was killed with a tool under way leaves a run that is halted by a command, though its plan was rewritten.
#[test]
fn a_killed_run_with_another_plan_is_halted_by_a_command() {
    let session = Session::new();
    plan(&session, &[("build", "echo > ../begun; echo no: > ../plan.yaml; exec sleep 600")], REVIEW);
    let mut child =
        session.command(&["governed", "run", "plan.yaml", "--state-dir", "runs"]).spawn().unwrap();
    let begun = || {
        let runs = fs::read_dir(session.path("runs")).into_iter().flatten().flatten();
        runs.map(|run| run.path()).find(|run| run.join("begun").exists())
    };
    until("the tool did not begin", || begun().is_some());
    let run = begun().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = governed(&session, &["recover", &run]);
    assert!(refused.code == Some(2) && refused.stderr.contains("or halt the run"), "{}", refused.shown());
    let halted = governed(&session, &["halt", &run, "--by", "ada"]);
    assert!(halted.code == Some(0) && halted.stdout.contains("HALTED_UNSAFE"), "{}", halted.shown());
    assert_in_order(&session, &run);
}

/// Another thing in the place of a lock or of a shared folder is set aside, and stops neither this run nor the next one.
#[test]
fn locks_and_folders_replaced_by_a_tool_are_set_aside() {
    let center = "../../command-center";
    for (name, other) in [
        (format!("{center}/lock"), "mkdir"),
        (format!("{center}/lock"), "mkfifo"),
        (format!("{center}/lock"), "ln -s nowhere/at/all"),
        ("../lock".to_owned(), "mkdir"),
        ("../lock".to_owned(), "mkfifo"),
        (format!("{center}/PENDING"), "touch"),
        (format!("{center}/APPROVED"), "mkfifo"),
        (format!("{center}/REJECTED"), "ln -s nowhere/at/all"),
        (center.to_owned(), "touch"),
        (center.to_owned(), "ln -s nowhere/at/all"),
    ] {
        let session = Session::new();
        let script = format!("rm -r {name}; {other} {name}");
        plan(&session, &[("build", &script), ("deploy", "touch index.html")], REVIEW);
        let first = governed(&session, &["run", "plan.yaml", "--json"]);
        let run = fs::read_dir(session.path("runs")).unwrap().flatten();
        let run = run
            .filter_map(|entry| entry.file_name().into_string().ok())
            .find(|name| name.starts_with("RUN-"));
        let run = run.unwrap();
        // The command under way may have to be begun anew.
        let again = governed(&session, &["recover", &run, "--json"]);
        assert_eq!(again.code, Some(3), "{script}: {} {}", first.shown(), again.shown());
        assert!(
            format!("{}{}", first.stderr, again.stderr).contains("it is kept as"),
            "{script}: {}",
            again.shown()
        );
        let approved = governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]);
        assert_eq!(approved.code, Some(0), "{script}: {}", approved.shown());
        let done = governed(&session, &["recover", &run]);
        assert_eq!(done.code, Some(0), "{script}: {}", done.shown());
        assert_in_order(&session, &run);
        plan(&session, &[("build", "true")], REVIEW);
        let next = governed(&session, &["run", "plan.yaml"]);
        assert_eq!(next.code, Some(0), "{script}: {}", next.shown());
    }
}

/// A closed folder is opened again, and a run in it is listed.
#[test]
fn folders_that_a_tool_closed_are_opened_again() {
    let session = Session::new();
    plan(&session, &[("deploy", "true")], REVIEW);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    let mode = |name: &str, mode: Option<u32>| {
        let path = session.path(name);
        mode.into_iter()
            .for_each(|mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap());
        fs::metadata(&path).unwrap().permissions().mode() & 0o777
    };
    mode(&format!("runs/{run}"), Some(0));
    mode("runs", Some(0));
    let listed = governed(&session, &["status"]);
    assert!(listed.code == Some(0) && listed.stdout.contains(&run), "{}", listed.shown());
    assert!(
        listed.stderr.contains("with which this command cannot use it: the mode is 0500 now"),
        "{}",
        listed.shown()
    );
    // It is read alone.
    assert_eq!((mode("runs", None), mode(&format!("runs/{run}"), None)), (0o500, 0o500));
    let halted = governed(&session, &["halt", &run, "--by", "ada"]);
    assert_eq!(halted.code, Some(0), "{}", halted.shown());
    assert_eq!((mode("runs", None), mode(&format!("runs/{run}"), None)), (0o700, 0o700));
    assert_in_order(&session, &run);
}

#[test]
fn permissions_removed_by_a_tool_are_restored() {
    for in_place in [false, true] {
        for (script, status) in [
            ("mkdir x; chmod 0000 x index.html .; exit 1", "ROLLED_BACK"),
            ("mkdir x; echo q > x/q; chmod 400 x; exit 1", "ROLLED_BACK"),
            ("chmod 400 .; exit 1", "ROLLED_BACK"),
            ("chmod 000 ALL/command-center", "over"),
            ("chmod 000 ALL/command-center/APPROVED", "over"),
            ("chmod 000 ALL/$RUNSTATE_RUN", "over"),
            ("chmod 500 ALL/$RUNSTATE_RUN", "over"),
            ("chmod 000 ALL", "over"),
        ] {
            let session = Session::new();
            let script = script.replace("ALL", if in_place { "../runs" } else { "../.." });
            plan(&session, &[("build", &script)], REVIEW);
            let more = if in_place { "in_place: true\n" } else { "" };
            session.write("plan.yaml", session.read("plan.yaml") + more);
            let governed = |args: &[&str]| governed(&session, args);
            let first = governed(&["run", "plan.yaml"]);
            let listed = governed(&["status", "--json"]);
            let run = run_id(&json(&listed)[0]);
            governed(&["recover", &run]);
            let last = governed(&["status", "--json"]);
            let told =
                || format!("{in_place} {script}: {} {} {}", first.shown(), listed.shown(), last.shown());
            let state = json(&last)[0]["state"].as_str().unwrap().to_owned();
            // A command that cannot write on leaves a call in doubt.
            let is_over = ["COMPLETE", "HALTED_UNSAFE"].contains(&state.as_str());
            assert!(state == status || (status == "over" && is_over), "{}", told());
            assert_eq!(governed(&["verify-ledger"]).code, Some(0), "{}", told());
            assert!(!session.path("runs.damaged-1").exists(), "{}", told());
            let center = fs::read_dir(session.path("runs/command-center")).unwrap().flatten();
            assert!(
                center.into_iter().all(|entry| !entry.path().to_str().unwrap().contains("damaged")),
                "{}",
                told()
            );
            assert!(!session.path("runs/command-center.damaged-1").exists(), "{}", told());
            if status == "ROLLED_BACK" {
                let site = if in_place { "site".to_owned() } else { format!("runs/{run}/work") };
                assert_eq!(session.read(&format!("{site}/index.html")), "old");
                assert!(!session.path(&format!("{site}/x")).exists());
            }
        }
    }
}
