//! What tools do wrong, and what they say.

use std::fs;

use serde_json::Value;

use super::{REVIEW, STATE_DIR, assert_in_order, governed, json, plan, run_id, until};
use crate::session::Session;

/// Is a process with that id alive and no zombie?
pub(super) fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, behind)| !behind.trim_start().starts_with('Z'))
}

/// Was that process stopped?
fn is_stopped(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, behind)| behind.trim_start().starts_with('T'))
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
    assert!(child.trim().parse::<u32>().is_ok(), "{child:?}");
    until("what the tool had started was not ended", || !lives(child.trim()));
    assert_in_order(&session, &run);
}

/// The parent of a process.
fn parent(pid: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    behind.split_whitespace().nth(1).unwrap_or_default().to_owned()
}

/// A run whose tool notes its process and the one of something it leaves, and sleeps; the command that drives it, and both ids.
fn sleeping(session: &Session, stray: &str) -> (crate::program::Running, String, [String; 2]) {
    plan(
        session,
        &[("build", &format!("echo $$ > ../build.pid; {stray} & echo $! > ../stray.pid; sleep 600"))],
        REVIEW,
    );
    let child = session
        .command(&["governed", "run", "plan.yaml", "--state-dir", STATE_DIR])
        .stdout(session.kept())
        .stderr(session.kept())
        .spawn()
        .unwrap();
    let begun = || {
        let run = fs::read_dir(session.path(STATE_DIR))
            .ok()?
            .flatten()
            .find(|entry| entry.file_name().to_string_lossy().starts_with("RUN-"))?;
        let pid = |name: &str| {
            let pid = fs::read_to_string(run.path().join(name)).ok()?.trim().to_owned();
            (!pid.is_empty()).then_some(pid)
        };
        Some((run.file_name().into_string().unwrap(), [pid("build.pid")?, pid("stray.pid")?]))
    };
    until("the tool never started", || begun().is_some());
    let (run, pids) = begun().unwrap();
    (child, run, pids)
}

/// The command is killed while its tool runs: the tool is ended by its supervisor at once, with all that it started.
#[test]
fn a_tool_ends_with_a_command_that_is_killed() {
    for stray in ["sleep 600", "setsid sleep 600", "env -i setsid sleep 600"] {
        let session = Session::new();
        let (mut child, run, pids) = sleeping(&session, stray);
        let busy = governed(&session, &["recover", &run]);
        assert_eq!(busy.code, Some(2), "{}", busy.shown());
        let holder = if cfg!(target_os = "linux") { format!(" ({})", child.id()) } else { String::new() };
        assert!(busy.stderr.contains(&format!("another process{holder} holds run")), "{}", busy.shown());
        child.kill().unwrap();
        child.wait().unwrap();
        // The next command waits for the supervisor, which alone knows of what emptied its environment.
        let done = governed(&session, &["recover", &run, "--json"]);
        assert_eq!(json(&done)["status"], "HALTED_UNSAFE", "{}", done.shown());
        assert!(pids.iter().all(|pid| !lives(pid)), "{stray}");
        assert_in_order(&session, &run);
    }
}

/// A command that waits for a person has nothing left to be ended.
#[test]
fn a_command_that_asks_ends_no_process_of_its_own() {
    let session = Session::new();
    plan(&session, &[("build", "true"), ("deploy", "(true &); (true &); sleep 0.1")], REVIEW);
    let done = session.run_with(&["governed", "run", "plan.yaml", "--ask", "--state-dir", STATE_DIR], "y\n");
    assert_eq!(done.code, Some(0), "{}", done.shown());
    assert!(!done.shown().contains("ended "), "{}", done.shown());
}

/// A tool that ends its supervisor is ended as well, and the run is halted: its effects are not known.
#[test]
fn a_tool_that_ends_its_supervisor_is_ended() {
    let session = Session::new();
    let (mut child, run, pids) = sleeping(&session, "setsid sleep 600");
    let supervisor = parent(&pids[0]);
    assert_eq!(parent(&supervisor), child.id().to_string());
    assert!(std::process::Command::new("kill").args(["-KILL", &supervisor]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(pids.iter().all(|pid| !lives(pid)));
    let state = session.read(&format!("{STATE_DIR}/{run}/RUN_STATE.json"));
    assert!(state.contains("the supervisor of sh -c"), "{state}");
    assert!(state.contains("\"current_state\": \"HALTED_UNSAFE\""), "{state}");
    assert_in_order(&session, &run);
}

/// Command and supervisor are killed: the next command that has the run in hand ends the processes that they left.
#[test]
fn recovery_ends_processes_left_by_a_killed_supervisor() {
    let session = Session::new();
    let (mut child, run, pids) = sleeping(&session, "setsid sleep 600");
    let supervisor = parent(&pids[0]);
    // The command stands still while its supervisor ends, so that neither hears of the other. The other way round the system wakes
    // the supervisor: a stopped process is, once its parent has ended.
    let (command, kill) = (child.id().to_string(), |signal: &str, pid: &str| {
        assert!(std::process::Command::new("kill").args([signal, pid]).status().unwrap().success());
    });
    kill("-STOP", &command);
    until("the command does not stop", || is_stopped(&command));
    kill("-KILL", &supervisor);
    kill("-KILL", &command);
    child.wait().unwrap();
    assert!(pids.iter().all(|pid| lives(pid)), "they are left running");
    let done = governed(&session, &["recover", &run, "--json"]);
    assert_eq!(json(&done)["status"], "HALTED_UNSAFE", "{}", done.shown());
    assert!(done.stderr.contains("that a killed command left running"), "{}", done.shown());
    until("the tool was not ended", || pids.iter().all(|pid| !lives(pid)));
    assert_in_order(&session, &run);
}

/// A process that leaves its group is ended with its tool, whether it keeps the output open, has given it up, or has emptied its
/// environment. The time limit holds meanwhile.
#[test]
fn a_process_that_leaves_its_group_is_ended_with_its_tool() {
    for stray in [
        "setsid sleep 600 &",
        "setsid sleep 600 </dev/null >/dev/null 2>&1 &",
        "env -i setsid sh -c 'sleep 600 & wait' &",
    ] {
        let session = Session::new();
        plan(&session, &[("build", &format!("{stray} sleep 0.2; echo done > index.html"))], REVIEW);
        let before = super::now();
        let done = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(json(&done)["status"], "COMPLETE", "{stray}: {}", done.shown());
        assert!(before.elapsed().as_secs() < 60, "{stray}: it was waited for");
        let state = session.read(&format!("{STATE_DIR}/{}/RUN_STATE.json", run_id(&json(&done))));
        assert!(state.contains("processes that the tool left running"), "{stray}: {state}");
    }
}

/// The next command that has the run in hand ends the processes that were left, also one that halts the run.
#[test]
fn sweep_ends_processes_left_by_a_killed_command() {
    let session = Session::new();
    let (mut child, run, pids) = sleeping(&session, "setsid sleep 600");
    let supervisor = parent(&pids[0]);
    for args in [["-STOP", &supervisor], ["-KILL", &child.id().to_string()], ["-KILL", &supervisor]] {
        assert!(std::process::Command::new("kill").args(args).status().unwrap().success());
    }
    child.wait().unwrap();
    // Its time is over, by its own state.
    let path = format!("{STATE_DIR}/{run}/RUN_STATE.json");
    let mut state: Value = serde_json::from_str(&session.read(&path)).unwrap();
    state["runstate"]["limits"] = serde_json::json!({"EXECUTING": 1});
    session.write(&path, state.to_string());
    assert!(lives(&pids[1]), "it is left running");
    let swept = governed(&session, &["sweep"]);
    assert_eq!(swept.stdout, format!("{run}: HALTED_UNSAFE\n"), "{}", swept.shown());
    assert!(swept.stderr.contains("that a killed command left running"), "{}", swept.shown());
    until("the stray was not ended", || !lives(&pids[1]));
}

/// A rollback puts nothing back out of a snapshot that was emptied, added to, or altered: in content, or in a mode.
#[test]
fn a_snapshot_that_a_tool_changed_is_not_put_back() {
    for change in [
        "rm ../snapshot/keep.txt",
        "echo worse > ../snapshot/index.html",
        "echo more > ../snapshot/more.txt",
        "chmod 700 ../snapshot/keep.txt",
        "rm -r ../snapshot; mkdir ../snapshot",
        "mv ../snapshot ../other; ln -s other ../snapshot",
    ] {
        // Where the tool ends well too: its changes would not show.
        for exit in [3, 0] {
            let session = Session::new();
            plan(&session, &[("build", &format!("{change}; echo half > index.html; exit {exit}"))], REVIEW);
            let done = governed(&session, &["run", "plan.yaml", "--json"]);
            let said = json(&done);
            assert_eq!(said["status"], "HALTED_UNSAFE", "{change}: {}", done.shown());
            let why = said["why"].as_str().unwrap();
            assert!(
                why.contains("has changed: expected the digest")
                    || why.contains("expected a folder, got another kind"),
                "{change}: {said}"
            );
            let work = format!("{STATE_DIR}/{}/work", run_id(&said));
            assert_eq!(session.read(&format!("{work}/keep.txt")), "kept", "{change}");
            assert_eq!(session.read(&format!("{work}/index.html")), "half\n", "{change}");
        }
    }
}

#[test]
fn a_folder_that_looks_like_runs_is_no_place_to_hide() {
    let session = Session::new();
    let hides = "mkdir -p x/command-center/PENDING; cp keep.txt x/loot";
    plan(&session, &[("build", &format!("{hides}; exit 3"))], REVIEW);
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    let said = json(&done);
    assert_eq!(said["status"], "HALTED_UNSAFE", "{}", done.shown());
    assert!(said["why"].as_str().unwrap().contains("it may be a folder of runs"), "{said}");
    let state = session.read(&format!("{STATE_DIR}/{}/RUN_STATE.json", run_id(&said)));
    assert!(state.contains("\"what\": \"x\""), "{state}");
}

/// Processes that the command had before it was one, as a shell that becomes it has, are not its tools'.
#[test]
fn children_that_the_command_had_before_are_left_alone() {
    let session = Session::new();
    plan(&session, &[("build", "setsid sleep 600 & sleep 0.2; echo done > index.html")], REVIEW);
    let script = "sleep 600 & echo $! > earlier.pid; exec \"$0\" \"$@\"";
    let mut shell = session.program("sh");
    shell.args([
        "-c",
        script,
        env!("CARGO_BIN_EXE_runstate"),
        "governed",
        "run",
        "plan.yaml",
        "--state-dir",
        STATE_DIR,
    ]);
    shell.stdout(session.kept()).stderr(session.kept());
    assert!(shell.spawn().unwrap().wait().unwrap().success());
    let earlier = session.read("earlier.pid").trim().to_owned();
    assert!(lives(&earlier));
    std::process::Command::new("kill").arg(&earlier).status().unwrap();
}

/// A process of another run, or of nobody, is left alone whatever a file in the folder of the run says.
#[test]
fn no_process_is_ended_for_what_a_file_says() {
    let session = Session::new();
    let mut stranger = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", stranger.id())).unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
    let noted = format!(r#"{{"pid":{},"started":{started},"owner":1,"owner_started":1}}"#, stranger.id());
    plan(&session, &[("build", &format!("echo '{noted}' > ../tool.json; echo new > index.html"))], REVIEW);
    let text = session.read("plan.yaml").replace("auto: [build]", "required: [build]");
    session.write("plan.yaml", text);
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    let run = run_id(&json(&done));
    session.write(&format!("{STATE_DIR}/{run}/tool.json"), &noted);
    governed(&session, &["recover", &run]);
    assert!(lives(&stranger.id().to_string()));
    stranger.kill().unwrap();
    stranger.wait().unwrap();
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
        let text = session.read("plan.yaml").replace("tools:\n", tool).replace("auto: []", "auto: [build]");
        session.write("plan.yaml", text);
        let done = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(json(&done)["status"], status, "{said}: {}", done.shown());
    }
}

#[test]
fn a_tool_that_asks_is_told_what_was_granted() {
    let session = Session::new();
    plan(&session, &[], REVIEW);
    let script = "cat > told.json; if [ \"$RUNSTATE_GRANTED\" = 'drop the table' ]; \
                  then echo '{\"status\":\"pass\",\"evidence\":[\"dropped\"]}'; \
                  else echo '{\"status\":\"needs-approval\",\"action\":{\"text\":\"drop the table\",\"risk\":\"high\"}}'; fi";
    session.write("site/ask.sh", script);
    let tool = "tools:\n  - {name: build, run: [sh, ask.sh], output: json}\n";
    let text = session.read("plan.yaml").replace("tools:\n", tool).replace("auto: []", "auto: [build]");
    session.write("plan.yaml", text);
    let asked = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(asked.code, Some(3), "{}", asked.shown());
    let run = run_id(&json(&asked));
    let told = |run: &str| -> Value {
        serde_json::from_str(&session.read(&format!("runs/{run}/work/told.json"))).unwrap()
    };
    assert_eq!(told(&run)["granted"], Value::Null);
    assert_eq!(governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]).code, Some(0));
    let done = governed(&session, &["recover", &run, "--json"]);
    assert_eq!(json(&done)["status"], "COMPLETE", "{}", done.shown());
    let told = told(&run);
    assert_eq!(
        (&told["run"], &told["tool"], &told["try"]),
        (&run.as_str().into(), &"build".into(), &1.into())
    );
    assert_eq!(told["granted"], serde_json::json!({"action": "drop the table", "risk": "high"}));
}

/// A longer action is in the input alone.
#[test]
fn an_action_of_64_kib_is_in_the_environment_and_no_longer_one() {
    for (bytes, is_there) in [(64 << 10, true), ((64 << 10) + 1, false)] {
        let session = Session::new();
        plan(&session, &[], REVIEW);
        let action = "x".repeat(bytes);
        let asks =
            serde_json::json!({"status": "needs-approval", "action": {"text": action, "risk": "high"}});
        session.write("site/action.json", asks.to_string());
        let script = "if [ -z \"$RUNSTATE_GRANTED\" ]; then cat action.json; else cat > told.json; \
                      printf %s \"$RUNSTATE_GRANTED\" > granted; echo '{\"status\":\"pass\",\"evidence\":[\"done\"]}'; fi";
        session.write("site/ask.sh", script);
        let tool = "tools:\n  - {name: build, run: [sh, ask.sh], output: json}\n";
        let text = session.read("plan.yaml").replace("tools:\n", tool).replace("auto: []", "auto: [build]");
        session.write("plan.yaml", text);
        let asked = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(asked.code, Some(3), "{}", asked.shown());
        let run = run_id(&json(&asked));
        assert_eq!(governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]).code, Some(0));
        let done = governed(&session, &["recover", &run, "--json"]);
        assert_eq!(json(&done)["status"], "COMPLETE", "{}", done.shown());
        let read = |name: &str| session.read(&format!("{STATE_DIR}/{run}/work/{name}"));
        let told: Value = serde_json::from_str(&read("told.json")).unwrap();
        assert_eq!(told["granted"]["action"], *action, "the input has it whole");
        let granted = read("granted");
        let expected = if is_there { &*action } else { "[see `granted` in the standard input]" };
        assert!(granted == expected, "{} bytes, and {bytes} in the action", granted.len());
    }
}

#[test]
fn a_tool_that_halts_is_believed_whatever_its_exit_code() {
    let session = Session::new();
    plan(&session, &[], REVIEW);
    let script = "echo tried >> tries; echo '{\"status\":\"halted\",\"error\":\"a secret\"}'; exit 1";
    session.write("site/halt.sh", script);
    let tool = "tools:\n  - {name: build, run: [sh, halt.sh], output: json}\n";
    let text = session.read("plan.yaml").replace("tools:\n", tool).replace("auto: []", "auto: [build]");
    session.write("plan.yaml", text);
    let done = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(json(&done)["status"], "HALTED_UNSAFE", "{}", done.shown());
    let run = run_id(&json(&done));
    assert_eq!(session.read(&format!("runs/{run}/work/tries")), "tried\n");
}

/// The state of a run does not grow with the outputs of its tools: it could not be written at last, and the run would end by no command.
#[test]
fn long_reports_do_not_fill_the_state() {
    let session = Session::new();
    fs::create_dir_all(session.path("site")).unwrap();
    session.write("site/index.html", "old");
    let names: Vec<String> = (0..24).map(|number| format!("t{number}")).collect();
    let says = "printf '{\"status\": \"pass\", \"evidence\": [\"'; head -c 900000 /dev/zero | tr '\\0' x; printf '\"]}'";
    let tools: String = names
        .iter()
        .map(|name| format!("  - {{name: {name}, output: json, run: [sh, -c, {says:?}]}}\n"))
        .collect();
    session.write(
        "plan.yaml",
        format!(
            "project: SITE\nfolder: site\ngates: {{auto: [{}]}}\ntools:\n{tools}{REVIEW}",
            names.join(", ")
        ),
    );
    let done = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    assert_eq!(done["status"], "COMPLETE", "{done}");
    let run = run_id(&done);
    let state = session.read(&format!("{STATE_DIR}/{run}/RUN_STATE.json")).len();
    assert!(state < 3 << 20, "{state} bytes");
    assert_in_order(&session, &run);
}

/// Changes of one file by tools that follow at once, of the same length each, are all seen.
#[test]
fn each_change_of_a_file_is_seen_however_fast() {
    let session = Session::new();
    session.write("site/index.html", "00");
    let names: Vec<String> = (10..40).map(|number| format!("t{number}")).collect();
    let tools: String = names
        .iter()
        .map(|name| format!("  - {{name: {name}, run: [sh, -c, 'printf {} > index.html']}}\n", &name[1..]))
        .collect();
    let gates = names.join(", ");
    session.write(
        "plan.yaml",
        format!("project: SITE\nfolder: site\ngates: {{auto: [{gates}]}}\ntools:\n{tools}{REVIEW}"),
    );
    let done = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    let state = session.read(&format!("{STATE_DIR}/{}/RUN_STATE.json", run_id(&done)));
    let state: Value = serde_json::from_str(&state).unwrap();
    let reports = state["runstate"]["notes"]["tools"].as_array().unwrap();
    assert_eq!(reports.len(), names.len());
    for report in reports {
        assert_eq!(
            report["changes"],
            serde_json::json!([{"kind": "modified", "what": "index.html"}]),
            "{report}"
        );
    }
}

#[test]
fn a_structured_output_may_have_a_mebibyte() {
    for (bytes, status) in [(1 << 20, "COMPLETE"), ((1 << 20) + 1, "ROLLED_BACK")] {
        let session = Session::new();
        plan(&session, &[], REVIEW);
        let empty = r#"{"status":"pass","evidence":[""]}"#.len();
        let said = format!(r#"{{"status":"pass","evidence":["{}"]}}"#, "x".repeat(bytes - empty));
        session.write("site/said.json", said);
        let tool = "tools:\n  - {name: build, run: [cat, said.json], output: json}\n";
        let text = session.read("plan.yaml").replace("tools:\n", tool).replace("auto: []", "auto: [build]");
        session.write("plan.yaml", text);
        let done = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(json(&done)["status"], status, "{}", done.shown());
        if bytes > 1 << 20 {
            assert!(json(&done)["why"].to_string().contains("more than 1048576 bytes"), "{}", done.shown());
        }
    }
}

/// A file of its own takes a larger output, and leaves standard output to other lines.
#[test]
fn a_structured_output_may_have_a_file_of_its_own() {
    let tool = |script: &str| {
        let session = Session::new();
        plan(&session, &[], REVIEW);
        let tool = format!("tools:\n  - {{name: build, run: [sh, -c, {script:?}], output: json}}\n");
        let text = session.read("plan.yaml").replace("tools:\n", &tool).replace("auto: []", "auto: [build]");
        session.write("plan.yaml", text);
        let done = governed(&session, &["run", "plan.yaml", "--json"]);
        let run = run_id(&json(&done));
        assert!(!session.path(&format!("{STATE_DIR}/{run}/output.json")).exists());
        (json(&done)["status"].as_str().unwrap().to_owned(), done, session)
    };
    let large = |bytes: usize| {
        let around = r#"{"status":"pass","evidence":[""]}"#.len();
        format!(
            "echo compiling; printf '{{\"status\":\"pass\",\"evidence\":[\"' > $RUNSTATE_OUTPUT; \
             head -c {} /dev/zero | tr '\\0' x >> $RUNSTATE_OUTPUT; printf '\"]}}' >> $RUNSTATE_OUTPUT",
            bytes - around
        )
    };
    let (status, done, _) = tool(&large(3 << 20));
    assert_eq!(status, "COMPLETE", "{}", done.shown());
    let (status, done, _) = tool(&large(16 << 20));
    assert!(!done.shown().contains("cannot be read: "), "{status}: {}", done.shown());
    let (status, done, _) = tool(&large((16 << 20) + 1));
    assert_eq!(status, "ROLLED_BACK", "{}", done.shown());
    let told = "cannot be read: expected at most 16777216 bytes, got 16777217";
    assert!(json(&done)["why"].to_string().contains(told), "{}", done.shown());
    // What it says there holds, and what is no file there is told.
    let (status, done, _) = tool(r#"echo '{"status":"halted","error":"no licence"}' > $RUNSTATE_OUTPUT"#);
    assert_eq!(status, "HALTED_UNSAFE", "{}", done.shown());
    let (status, done, _) = tool("mkfifo $RUNSTATE_OUTPUT");
    assert_eq!(status, "ROLLED_BACK", "{}", done.shown());
    // Where there is no such file, standard output is read.
    let (status, done, _) = tool(r#"echo '{"status":"pass","evidence":["said"]}'"#);
    assert_eq!(status, "COMPLETE", "{}", done.shown());
}

/// An approved action that no environment takes is in the standard input, and the tool starts.
#[test]
fn a_long_action_is_granted_by_the_standard_input() {
    let session = Session::new();
    plan(&session, &[], REVIEW);
    let long = "A".repeat(70_000);
    let script = "grep -q AAAA /dev/stdin && test \"${RUNSTATE_GRANTED#[see}\" != \"$RUNSTATE_GRANTED\"";
    let tool = format!("tools:\n  - {{name: ship, run: [sh, -c, {script:?}, {long}, {long}]}}\n");
    session.write("plan.yaml", session.read("plan.yaml").replace("tools:\n", &tool));
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    assert_eq!(governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]).code, Some(0));
    let done = governed(&session, &["recover", &run]);
    assert_eq!(done.code, Some(0), "{}", done.shown());
}

/// The command is asked to end: its tool ends with it, and the run can be recovered.
#[test]
fn a_signal_ends_the_tool_with_the_command() {
    for (signal, code) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)] {
        let session = Session::new();
        plan(&session, &[("build", "echo $$ > build.pid; sleep 60 & sleep 60")], REVIEW);
        let mut child = session
            .command(&["governed", "run", "plan.yaml", "--state-dir", STATE_DIR])
            .stdout(session.kept())
            .stderr(session.kept())
            .spawn()
            .unwrap();
        let begun = || {
            let entry = fs::read_dir(session.path(STATE_DIR))
                .ok()?
                .flatten()
                .find(|entry| entry.file_name().to_string_lossy().starts_with("RUN-"))?;
            let pid = fs::read_to_string(entry.path().join("work/build.pid")).ok()?.trim().to_owned();
            (!pid.is_empty()).then_some((entry.file_name().into_string().unwrap(), pid))
        };
        until("the tool never started", || begun().is_some());
        let (run, tool) = begun().unwrap();
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        until("the tool was not ended", || !lives(&tool));
        let done = governed(&session, &["recover", &run, "--json"]);
        assert_eq!(json(&done)["status"], "HALTED_UNSAFE", "{}", done.shown());
    }
}
