//! Where runs are kept and where they work, what a plan is bound to, and what a rollback brings back.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{REVIEW, STATE_DIR, files, governed, json, plan, run_id};
use crate::session::{Session, harmless};

/// A plan that works in the folder of the session itself, where its runs are kept too.
fn in_place(session: &Session, script: &str, more: &str) {
    session.write("mine.txt", "kept").write(
        "plan.yaml",
        format!(
            "project: HERE\nfolder: .\nin_place: true\ngates: {{auto: [work]}}\n\
             tools:\n  - {{name: work, run: [sh, -c, {script:?}]}}\n{more}"
        ),
    );
}

const PASSES: &str = "verify:\n  - run: ['true']\naudit:\n  - {reviewer: quality, run: ['true']}\n";

#[test]
fn a_rollback_leaves_the_folder_of_runs_alone() {
    let session = Session::new();
    in_place(&session, "echo x > mine.txt; echo y > made.txt; exit 1", PASSES);
    for _ in 0..2 {
        let said = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(
            (said.code, json(&said)["status"].as_str()),
            (Some(1), Some("ROLLED_BACK")),
            "{}",
            said.shown()
        );
        let run = run_id(&json(&said));
        assert!(session.path(&format!("runs/{run}/snapshot/mine.txt")).exists(), "its own snapshot is there");
        assert!(!session.path(&format!("runs/{run}/snapshot/runs")).exists(), "runs are in no snapshot");
        assert_eq!(session.read("mine.txt"), "kept");
        assert!(!session.path("made.txt").exists());
    }
    let listed = governed(&session, &["status", "--json"]);
    assert_eq!(json(&listed).as_array().unwrap().len(), 2, "{}", listed.shown());
    assert_eq!(governed(&session, &["verify-ledger"]).code, Some(0));
}

#[test]
fn a_copy_of_a_folder_has_no_runs_in_it() {
    let session = Session::new();
    in_place(&session, "true", PASSES);
    let text = session.read("plan.yaml").replace("in_place: true\n", "");
    session.write("plan.yaml", text);
    for _ in 0..2 {
        let said = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(said.code, Some(0), "{}", said.shown());
        let run = run_id(&json(&said));
        assert!(session.path(&format!("runs/{run}/work/mine.txt")).exists());
        assert!(!session.path(&format!("runs/{run}/work/runs")).exists());
    }
}

#[test]
fn the_folder_of_runs_itself_is_no_folder_of_a_plan() {
    let session = Session::new();
    in_place(&session, "true", PASSES);
    let args = ["governed", "run", "plan.yaml", "--state-dir", "."];
    let said = session.run(&args);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("is the folder of the runs"), "{}", said.shown());
}

/// A tool rewrites the plan beside its folder: neither the gate nor the command of a later tool changes by it.
#[test]
fn a_tool_that_rewrites_the_plan_lifts_no_gate() {
    let session = Session::new();
    let forge =
        "sed -i 's/\"deploy\\.ok\"/\"forged.txt\"/; s/\"auto\": \\[/\"auto\": [\"deploy\",/' ../plan.yaml";
    plan(&session, &[("build", forge), ("ask", "touch asked"), ("deploy", "touch \"deploy.ok\"")], REVIEW);
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(said.code, Some(3), "{}", said.shown());
    let run = run_id(&json(&said));
    let approval = format!("{run}-A1");
    let refused = governed(&session, &["approve", &approval, "--by", "ada"]);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    assert!(refused.stderr.contains("the plan was changed since the run began"), "{}", refused.shown());
    let refused = governed(&session, &["recover", &run]);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    for made in ["asked", "forged.txt", "deploy.ok"] {
        assert!(!session.path(&format!("runs/{run}/work/{made}")).exists(), "{made}");
    }
    // The run can be looked at, and ended.
    assert_eq!(governed(&session, &["status", &run]).code, Some(0));
    let ended =
        governed(&session, &["escalate", &approval, "--by", "ada", "--because", "the plan was forged"]);
    assert_eq!(ended.code, Some(0), "{}", ended.shown());
    assert!(ended.stdout.contains("HALTED_UNSAFE"), "{}", ended.shown());
}

#[test]
fn a_plan_that_cannot_be_read_any_more_ends_by_a_command() {
    let session = Session::new();
    plan(&session, &[("deploy", "touch done")], REVIEW);
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    let run = run_id(&json(&said));
    session.write(&format!("runs/{run}/plan.yaml"), "no: [plan");
    let refused = governed(&session, &["recover", &run]);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    let ended = governed(&session, &["escalate", &format!("{run}-A1"), "--by", "ada"]);
    assert_eq!(ended.code, Some(0), "{}", ended.shown());
}

#[test]
fn a_run_goes_on_from_any_folder() {
    let session = Session::new();
    plan(&session, &[("deploy", "echo new > index.html")], REVIEW);
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    let run = run_id(&json(&said));
    assert_eq!(governed(&session, &["approve", &format!("{run}-A1"), "--by", "ada"]).code, Some(0));
    fs::create_dir(session.path("elsewhere")).unwrap();
    let args = ["governed", "recover", &run, "--state-dir", "../runs"];
    let there = session.command(&args).current_dir(session.path("elsewhere")).output().unwrap();
    let there = session.said(&args, &there);
    assert_eq!(there.code, Some(0), "{}", there.shown());
    assert!(there.stdout.contains("COMPLETE"), "{}", there.shown());
}

#[test]
fn a_rollback_restores_modes_and_removed_folders() {
    let session = Session::new();
    let script = "chmod 0777 index.html; rm -r private; chmod 0700 open; chmod 0711 .; exit 1";
    plan(&session, &[("build", script)], REVIEW);
    let mode = |path: &str| fs::metadata(session.path(path)).unwrap().permissions().mode() & 0o7777;
    let set =
        |path: &str, mode| fs::set_permissions(session.path(path), fs::Permissions::from_mode(mode)).unwrap();
    fs::create_dir_all(session.path("site/private/inner")).unwrap();
    fs::create_dir(session.path("site/open")).unwrap();
    for (path, to) in [
        ("site/private", 0o700),
        ("site/private/inner", 0o500),
        ("site/open", 0o755),
        ("site/index.html", 0o640),
    ] {
        set(path, to);
    }
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(json(&said)["status"], "ROLLED_BACK", "{}", said.shown());
    let work = format!("runs/{}/work", run_id(&json(&said)));
    let modes =
        ["index.html", "private", "private/inner", "open"].map(|name| mode(&format!("{work}/{name}")));
    assert_eq!(modes, [0o640, 0o700, 0o500, 0o755]);
    set("site/private/inner", 0o700);
    set(&format!("{work}/private/inner"), 0o700);
    // So that the folder of the test can be removed.
    set(&format!("runs/{}/snapshot/private/inner", run_id(&json(&said))), 0o700);
}

#[test]
fn two_runs_do_not_work_in_one_folder_at_once() {
    let session = Session::new();
    fs::create_dir_all(session.path("site/inner")).unwrap();
    session.write("site/index.html", "old");
    let plan = |folder: &str, name: &str| {
        session.write(
            name,
            format!(
                "project: SITE\nfolder: {folder}\nin_place: true\n\
                 tools:\n  - {{name: deploy, run: ['true']}}\n{PASSES}"
            ),
        );
    };
    plan("site", "outer.yaml");
    plan("site/inner", "inner.yaml");
    let first = governed(&session, &["run", "outer.yaml", "--json"]);
    let run = run_id(&json(&first));
    for name in ["outer.yaml", "inner.yaml"] {
        let second = governed(&session, &["run", name]);
        assert_eq!(second.code, Some(2), "{}", second.shown());
        assert!(second.stderr.contains(&format!("{run} works in ")), "{}", second.shown());
    }
    // A folder that took the place of the first is what the first would roll back.
    fs::rename(session.path("site"), session.path("away")).unwrap();
    fs::create_dir_all(session.path("site/inner")).unwrap();
    let again = governed(&session, &["run", "outer.yaml"]);
    assert_eq!(again.code, Some(2), "{}", again.shown());
    fs::remove_dir_all(session.path("site")).unwrap();
    fs::rename(session.path("away"), session.path("site")).unwrap();
    assert_eq!(governed(&session, &["reject", &format!("{run}-A1"), "--by", "ada"]).code, Some(0));
    assert_eq!(governed(&session, &["run", "inner.yaml"]).code, Some(3), "the first is over");
}

/// A service may have no data folder that it can write.
#[test]
fn a_run_in_place_needs_no_data_folder() {
    let session = Session::new();
    session.write("site/index.html", "old").write(
        "plan.yaml",
        format!("project: SITE\nfolder: site\nin_place: true\ntools:\n  - {{name: deploy, run: ['true']}}\n{PASSES}"),
    );
    let run = || {
        let mut command = session.command(&["governed", "run", "plan.yaml", "--state-dir", STATE_DIR]);
        harmless("governed run", command.env("XDG_DATA_HOME", "/proc/nothing").output().unwrap())
    };
    let (first, second) = (run(), run());
    assert_eq!(first.status.code(), Some(3), "{first:?}");
    assert_eq!(second.status.code(), Some(2), "the folder is held: {second:?}");
}

#[test]
fn folder_that_cannot_be_copied_leaves_no_run_behind() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    let pipe = session.path("site/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let said = governed(&session, &["run", "plan.yaml"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("it is a special file"), "{}", said.shown());
    let runs = fs::read_dir(session.path("runs")).unwrap().flatten();
    let names: Vec<_> = runs.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.starts_with("RUN-")), "{names:?}");
}

/// A folder has one run at a time, whichever state folder that is kept in and by whatever name the folder is known.
#[test]
fn a_folder_has_one_run_whatever_the_state_folder() {
    let session = Session::new();
    fs::create_dir_all(session.path("site/inner")).unwrap();
    std::os::unix::fs::symlink("site", session.path("also")).unwrap();
    let plan = |folder: &str, name: &str| {
        session.write(
            name,
            format!(
                "project: SITE\nfolder: {folder}\nin_place: true\n\
                 tools:\n  - {{name: deploy, run: ['true']}}\n{PASSES}"
            ),
        );
    };
    plan("site", "outer.yaml");
    plan("also/inner", "inner.yaml");
    let run = |name: &str, dir: &str| session.run(&["governed", "run", name, "--json", "--state-dir", dir]);
    let first = run("outer.yaml", "one");
    let id = run_id(&json(&first));
    for name in ["outer.yaml", "inner.yaml"] {
        let second = run(name, "two");
        assert_eq!(second.code, Some(2), "{}", second.shown());
        assert!(second.stderr.contains(&format!("{id} works in ")), "{}", second.shown());
    }
    // By device and inode: another name does not free it.
    fs::rename(session.path("site"), session.path("moved")).unwrap();
    plan("moved", "moved.yaml");
    assert_eq!(run("moved.yaml", "two").code, Some(2));
    fs::rename(session.path("moved"), session.path("site")).unwrap();
    let rejected =
        session.run(&["governed", "reject", &format!("{id}-A1"), "--by", "ada", "--state-dir", "one"]);
    assert_eq!(rejected.code, Some(0), "{}", rejected.shown());
    assert_eq!(run("inner.yaml", "two").code, Some(3), "the first is over");
    // A run that was taken out of its state folder has no folder.
    for entry in fs::read_dir(session.path("two")).unwrap().flatten() {
        fs::remove_dir_all(entry.path()).unwrap();
    }
    assert_eq!(run("outer.yaml", "one").code, Some(3));
}

/// A state folder that is away keeps the folders of its runs, and the message says how they are given up.
#[test]
fn a_state_folder_that_is_away_keeps_its_folders() {
    let session = Session::new();
    let text = format!(
        "project: SITE\nfolder: site\nin_place: true\ntools:\n  - {{name: deploy, run: ['true']}}\n{PASSES}"
    );
    session.write("site/index.html", "old").write("plan.yaml", text);
    let run = |dir: &str| session.run(&["governed", "run", "plan.yaml", "--json", "--state-dir", dir]);
    assert_eq!(run("one").code, Some(3));
    fs::rename(session.path("one"), session.path("elsewhere")).unwrap();
    let away = run("two");
    assert_eq!(away.code, Some(2), "{}", away.shown());
    assert!(
        away.stderr.contains("its state folder [tmp]/one is unreadable: No such file"),
        "{}",
        away.shown()
    );
    // As a place that nothing is mounted on.
    fs::create_dir(session.path("one")).unwrap();
    let away = run("two");
    assert!(away.stderr.contains("another folder has its path"), "{}", away.shown());
    let note = away.stderr.split("remove [tmp]/").nth(1).unwrap().split_whitespace().next().unwrap();
    fs::remove_dir(session.path("one")).unwrap();
    fs::rename(session.path("elsewhere"), session.path("one")).unwrap();
    let held = run("two");
    assert!(held.stderr.contains("is not over; its state folder is [tmp]/one"), "{}", held.shown());
    fs::remove_dir_all(session.path("one")).unwrap();
    assert_eq!(run("two").code, Some(2), "it may come back");
    fs::remove_file(session.path(note)).unwrap();
    assert_eq!(run("two").code, Some(3), "its note was removed");
}

/// A process that was stopped while it began a run holds no other up for ever.
#[test]
fn the_lock_of_the_notes_is_waited_for_and_named() {
    let session = Session::new();
    in_place(&session, "true", PASSES);
    session.write("home/runstate/held/lock", "4321 of the state folder /srv/runs\n");
    let lock = fs::File::open(session.path("home/runstate/held")).unwrap();
    lock.lock().unwrap();
    let said = governed(&session, &["run", "plan.yaml"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(
        said.stderr.contains(
            "process 4321 of the state folder /srv/runs has [tmp]/home/runstate/held/lock since 10 s"
        ),
        "{}",
        said.shown()
    );
    lock.unlock().unwrap();
    assert_eq!(governed(&session, &["run", "plan.yaml"]).code, Some(0));
}

/// A folder that took the place of the run's folder is not the run's to roll back.
#[test]
fn a_rollback_leaves_another_folder_alone() {
    let session = Session::new();
    in_place(&session, "true", PASSES);
    session.write("site/index.html", "old");
    let text = session.read("plan.yaml").replace("folder: .", "folder: site").replace("auto", "required");
    session.write("plan.yaml", text);
    let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
    fs::rename(session.path("site"), session.path("away")).unwrap();
    session.write("site/mine.txt", "precious");
    let rejected = governed(&session, &["reject", &format!("{run}-A1"), "--by", "ada"]);
    assert!(rejected.stdout.contains("is HALTED_UNSAFE"), "{}", rejected.shown());
    let state = session.read(&format!("runs/{run}/RUN_STATE.json"));
    assert!(state.contains("expected the folder of the run (device and inode"), "{state}");
    assert_eq!(files(&session, "site"), [("mine.txt".to_owned(), "precious".to_owned())]);
}

#[test]
fn a_copy_that_a_tool_replaced_is_left_alone() {
    for exit in [0, 1] {
        let session = Session::new();
        let swap = format!("cd ..; mv work aside; mkdir work; echo precious > work/mine.txt; exit {exit}");
        plan(&session, &[("build", &swap)], REVIEW);
        let said = governed(&session, &["run", "plan.yaml", "--json"]);
        assert_eq!(json(&said)["status"], "HALTED_UNSAFE", "{}", said.shown());
        let why = json(&said)["why"].to_string();
        assert!(why.contains("expected the folder of the run (device and inode"), "{why}");
        assert_eq!(session.read(&format!("runs/{}/work/mine.txt", run_id(&json(&said)))), "precious\n");
    }
}

/// Many names, made by a tool that fails: they go.
#[test]
fn many_files_are_rolled_back() {
    let session = Session::new();
    plan(&session, &[("build", "mkdir made; cd made; seq 50000 | xargs touch; exit 1")], REVIEW);
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(json(&said)["status"], "ROLLED_BACK", "{}", said.shown());
    let run = run_id(&json(&said));
    assert!(!session.path(&format!("runs/{run}/work/made")).exists());
    let state = session.read(&format!("runs/{run}/RUN_STATE.json"));
    assert!(state.contains("more names]") && state.len() < 1 << 20, "{} bytes", state.len());
}

#[test]
fn a_gate_of_no_tool_is_refused() {
    let session = Session::new();
    plan(&session, &[("deploy", "true")], REVIEW);
    let text = session.read("plan.yaml").replace("auto: []", "auto: [deploy], required: [deplyo]");
    session.write("plan.yaml", text);
    let said = governed(&session, &["run", "plan.yaml"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("`gates` names the tool \"deplyo\": expected one of"), "{}", said.shown());
}

#[test]
fn a_folder_that_never_became_a_run_is_passed_over() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    assert_eq!(governed(&session, &["run", "plan.yaml"]).code, Some(0));
    fs::create_dir_all(session.path("runs/RUN-SITE-20200101-000000/work")).unwrap();
    let said = governed(&session, &["status", "--json"]);
    assert_eq!((said.code, json(&said).as_array().unwrap().len()), (Some(0), 1), "{}", said.shown());
    assert_eq!(governed(&session, &["sweep"]).code, Some(0));
}

#[test]
fn a_folder_that_a_tool_replaced_by_a_link_is_not_followed() {
    let session = Session::new();
    let swap = "cd ..; mv work aside; ln -s ../../other work; exit 1";
    plan(&session, &[("build", swap)], REVIEW);
    fs::create_dir(session.path("other")).unwrap();
    session.write("other/mine.txt", "kept");
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(json(&said)["status"], "HALTED_UNSAFE", "{}", said.shown());
    assert!(
        json(&said)["why"].to_string().contains("expected a folder, got another kind"),
        "{}",
        said.shown()
    );
    assert_eq!(session.read("other/mine.txt"), "kept");
    assert!(!session.path("other/index.html").exists());
}

/// A note that cannot be read may be of a run that is not over; and a lock that is no file is made anew.
#[test]
fn a_hold_that_a_tool_spoiled_is_not_lifted() {
    let session = Session::new();
    in_place(&session, "true", &format!("ignore: [data, runs, other]\n{PASSES}"));
    session.write("plan.yaml", session.read("plan.yaml").replace("auto: [work]", "auto: []"));
    let command = |state: &str| {
        let args = ["governed", "run", "plan.yaml", "--state-dir", state];
        let done = session.command(&args).env("XDG_DATA_HOME", session.path("data")).output().unwrap();
        session.said(&args, &done)
    };
    assert_eq!(command("runs").code, Some(3));
    let held = session.path("data/runstate/held");
    for spoil in ["rm lock; mkdir lock", "chmod 0 lock", "chmod 0 ."] {
        let spoiled = Command::new("sh").args(["-c", spoil]).current_dir(&held).status().unwrap();
        assert!(spoiled.success(), "{spoil}");
        let second = command("other");
        assert!(
            second.code == Some(2) && second.stderr.contains("is not over"),
            "{spoil}: {}",
            second.shown()
        );
    }
    let note = fs::read_dir(&held).unwrap().flatten().map(|entry| entry.path());
    let note = note.into_iter().find(|path| path.extension().is_some_and(|kind| kind == "json")).unwrap();
    fs::write(&note, "x").unwrap();
    for _ in 0..2 {
        let second = command("other");
        assert!(second.code == Some(2), "{}", second.shown());
        assert!(second.stderr.contains("is a damaged note on a run"), "{}", second.shown());
    }
}

/// Each names the run that has the folder, as long as it can be read.
#[test]
fn a_note_on_a_held_folder_has_1_mib_and_no_more() {
    let session = Session::new();
    let text = format!(
        "project: SITE\nfolder: site\nin_place: true\ntools:\n  - {{name: deploy, run: ['true']}}\n{PASSES}"
    );
    session.write("site/index.html", "old").write("plan.yaml", text);
    let run = |dir: &str| session.run(&["governed", "run", "plan.yaml", "--state-dir", dir]);
    assert_eq!(run("one").code, Some(3));
    let notes = fs::read_dir(session.path("home/runstate/held")).unwrap().flatten().map(|entry| entry.path());
    let note = notes.into_iter().find(|path| path.extension().is_some_and(|kind| kind == "json")).unwrap();
    let json = fs::read_to_string(&note).unwrap();
    for (bytes, told) in [(1 << 20, "is not over"), ((1 << 20) + 1, "expected at most 1048576 bytes")] {
        fs::write(&note, json.clone() + &" ".repeat(bytes - json.len())).unwrap();
        let said = run("two");
        assert!(said.code == Some(2) && said.stderr.contains(told), "{bytes}: {}", said.shown());
    }
}

/// A run without a state holds its folder until a person gives it up.
#[test]
fn a_run_with_an_unreadable_state_is_ended_by_a_command() {
    for spoil in ["echo { > S", "rm S; mkdir S", "rm S; mkfifo S", ": > S"] {
        let session = Session::new();
        in_place(&session, "true", PASSES);
        session.write("plan.yaml", session.read("plan.yaml").replace("auto: [work]", "auto: []"));
        let run = run_id(&json(&governed(&session, &["run", "plan.yaml", "--json"])));
        let readable = governed(&session, &["halt", &run, "--by", "ada", "--unreadable"]);
        assert!(readable.code == Some(2) && readable.stderr.contains("can be read"), "{}", readable.shown());

        let script = spoil.replace('S', &format!("runs/{run}/RUN_STATE.json"));
        let spoiled =
            Command::new("sh").args(["-c", &script]).current_dir(session.path("")).status().unwrap();
        assert!(spoiled.success(), "{spoil}");
        let end = format!("`runstate governed halt {run} --unreadable --state-dir ");
        for args in [&["halt", &run, "--by", "ada"][..], &["run", "plan.yaml"]] {
            let refused = governed(&session, args);
            assert_eq!(refused.code, Some(2), "{spoil}: {}", refused.shown());
            assert!(refused.stderr.contains(&end), "{spoil}: {}", refused.shown());
        }
        let args = ["halt", &run, "--by", "ada", "--because", "the disk broke", "--unreadable"];
        let ended = governed(&session, &args);
        assert_eq!(ended.code, Some(0), "{spoil}: {}", ended.shown());
        assert!(ended.stdout.contains("nothing was checked or rolled back"), "{}", ended.shown());
        let report = session.read(&format!("runs/{run}/FINAL_REPORT.md"));
        assert!(report.contains("ada gave the run up at ") && report.contains("the disk broke"), "{report}");
        assert!(session.path(&format!("runs/{run}/RUN_STATE.json.damaged-1")).exists());
        assert_eq!(governed(&session, &["sweep"]).code, Some(0));
        let listed = governed(&session, &["status"]);
        assert_eq!((listed.code, listed.stdout.as_str()), (Some(0), ""), "{}", listed.shown());
        let next = governed(&session, &["run", "plan.yaml"]);
        assert_eq!(next.code, Some(3), "{spoil}: {}", next.shown());
    }
}

/// The copy of a run that was killed before its first state goes with the next sweep; nothing else does.
#[test]
fn a_run_that_never_began_is_swept_away() {
    let session = Session::new();
    let run = "RUN-SITE-20260131-120000";
    session.write("other/keep.txt", "kept");
    for (script, is_removed) in [
        ("mkdir work; echo x > work/x; ln -s ../../../other work/link; touch lock plan.yaml.new", true),
        ("mkdir work work/a; touch work/a/x", true),
        ("true", true),
        ("ln -s ../../other work", true),
        // A copy has the modes of the plan's folder.
        ("mkdir -p work/a/b; touch work/a/x work/a/b/x; chmod 0555 work/a work/a/b", true),
        ("mkdir -p work/a/b; chmod 0 work/a work", true),
        // The folder of the run itself, and the one of all runs.
        ("mkdir work; touch work/x; chmod 0 .", true),
        ("mkdir work; touch work/x; chmod 0100 .", true),
        ("mkdir work; touch work/x; chmod 0400 .", true),
        ("mkdir work; touch work/x; chmod 0500 . ..", true),
        ("mkdir work snapshot", false),
        ("touch RUN_LOG.jsonl", false),
    ] {
        let folder = session.path(&format!("runs/{run}"));
        fs::create_dir_all(&folder).unwrap();
        let made = Command::new("sh").args(["-c", script]).current_dir(&folder).status().unwrap();
        assert!(made.success(), "{script}");
        let named = governed(&session, &["recover", run]);
        assert!(
            named.code == Some(2) && named.stderr.contains("`runstate governed sweep --state-dir runs`"),
            "{}",
            named.shown()
        );
        {
            // A process fills it. It opened the folder before that was closed.
            let lock = fs::File::open(&folder).unwrap();
            lock.lock().unwrap();
            let swept = governed(&session, &["sweep"]);
            assert_eq!((swept.code, swept.stdout.as_str()), (Some(0), ""), "{script}: {}", swept.shown());
        }
        let swept = governed(&session, &["sweep"]);
        assert_eq!(swept.code, Some(0), "{script}: {}", swept.shown());
        let told = format!("{run}: removed, because the run never began\n");
        assert_eq!(swept.stdout, if is_removed { &told } else { "" }, "{script}");
        assert_eq!(folder.exists(), !is_removed, "{script}");
        assert_eq!(session.read("other/keep.txt"), "kept", "{script}");
        drop(fs::remove_dir_all(&folder));
    }
}

/// A rollback would make two files of one.
#[test]
fn two_names_of_a_file_are_refused_in_place() {
    for (more, code) in
        [("", 3), ("in_place: true\n", 2), ("in_place: true\nignore: [keep.txt, b/twin.txt]\n", 3)]
    {
        let session = Session::new();
        plan(&session, &[("deploy", "true")], &format!("{more}{REVIEW}"));
        session.write("outside.txt", "x").write("site/b/x.txt", "x");
        fs::hard_link(session.path("site/keep.txt"), session.path("site/b/twin.txt")).unwrap();
        fs::hard_link(session.path("outside.txt"), session.path("site/outside.txt")).unwrap();
        let said = governed(&session, &["run", "plan.yaml"]);
        assert_eq!(said.code, Some(code), "{more}: {}", said.shown());
        if code == 2 {
            assert!(said.stderr.contains("are one file (a hard link)"), "{}", said.shown());
            assert!(said.stderr.contains("keep.txt") && said.stderr.contains("twin.txt"), "{}", said.shown());
            assert!(!session.path(STATE_DIR).join("command-center").exists(), "it leaves nothing behind");
        }
    }
}

/// A run with a refused plan has nothing more to ask.
#[test]
fn a_rejected_plan_is_halted_by_a_command() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    session.write("plan.yaml", session.read("plan.yaml") + "plan_approval: ask\n");
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(said.code, Some(3), "{}", said.shown());
    let run = run_id(&json(&said));
    let rejected = governed(&session, &["reject", &format!("{run}-A1"), "--by", "ada"]);
    assert!(
        rejected.stdout.contains(&format!("`runstate governed halt {run} --state-dir runs`")),
        "{}",
        rejected.shown()
    );
    let halted = governed(&session, &["halt", &run, "--by", "ada"]);
    assert!(halted.code == Some(0) && halted.stdout.contains("HALTED_UNSAFE"), "{}", halted.shown());
    super::assert_in_order(&session, &run);
}

/// A run that is over has no note, so that its state folder may be moved away.
#[test]
fn a_run_that_is_over_keeps_no_folder() {
    let session = Session::new();
    plan(&session, &[("build", "true")], REVIEW);
    session.write("plan.yaml", session.read("plan.yaml") + "in_place: true\n");
    let command = |args: &[&str]| {
        let all = [&["governed"], args, &["--state-dir", "runs"]].concat();
        let done = session.command(&all).env("XDG_DATA_HOME", session.path("data")).output().unwrap();
        session.said(&all, &done)
    };
    let notes = || {
        files(&session, "data/runstate/held").into_iter().filter(|(name, _)| name.ends_with(".json")).count()
    };
    for number in 0..2 {
        let done = command(&["run", "plan.yaml"]);
        assert_eq!(done.code, Some(0), "{}", done.shown());
        assert_eq!(notes(), 0, "a complete run");
        fs::rename(session.path("runs"), session.path(&format!("archived-{number}"))).unwrap();
    }
    session.write("plan.yaml", session.read("plan.yaml").replace("auto: [build]", "auto: []"));
    for end in ["halt", "reject"] {
        let run = run_id(&json(&command(&["run", "plan.yaml", "--json"])));
        assert_eq!(notes(), 1);
        let of = if end == "halt" { run } else { format!("{run}-A1") };
        let ended = command(&[end, &of, "--by", "ada"]);
        assert_eq!((ended.code, notes()), (Some(0), 0), "{}", ended.shown());
    }
    let mode = fs::metadata(session.path("runs")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700, "a state folder is for its user alone");
}

/// A command is approved for a folder by its name. A tool before it may not choose another one.
#[test]
fn tool_does_not_run_in_a_folder_replaced_by_a_symlink() {
    let session = Session::new();
    fs::create_dir(session.path("victim")).unwrap();
    session.write("victim/mine.txt", "kept").write("site/out/index.html", "x");
    let swap = format!("mv out away; ln -s {} out", session.path("victim").display());
    session.write(
        "plan.yaml",
        format!(
            "project: P\nfolder: site\ngates: {{auto: [first, clean]}}\ntools:\n  - {{name: first, run: [sh, -c, '{swap}']}}\n  - {{name: clean, folder: out, run: [sh, -c, 'rm -f *']}}\n{REVIEW}"
        ),
    );
    let said = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_ne!(json(&said)["status"], "COMPLETE", "{}", said.shown());
    assert!(said.shown().contains("expected a folder, got another kind"), "{}", said.shown());
    assert_eq!(session.read("victim/mine.txt"), "kept");
}

#[test]
fn a_file_with_extended_attributes_is_refused_in_place() {
    let session = Session::new();
    in_place(&session, "true", PASSES);
    let path = session.path("site/kept.txt");
    fs::create_dir_all(session.path("site")).unwrap();
    fs::write(&path, "x").unwrap();
    let none = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&path, "user.origin", b"elsewhere", none).is_err() {
        return;
    }
    let said = governed(&session, &["run", "plan.yaml"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(
        said.stderr.contains("kept.txt: it has the extended attribute \"user.origin\""),
        "{}",
        said.shown()
    );
}

/// A later run says that it would not see what is in such a folder.
#[test]
fn a_planted_folder_of_runs_hides_nothing_from_a_later_run() {
    let session = Session::new();
    session.write("site/keep.txt", "kept");
    let plan = |script: &str, more: &str| {
        let tool = format!("tools:\n  - {{name: work, run: [sh, -c, {script:?}]}}\n");
        let text = format!(
            "project: SITE\nfolder: site\nin_place: true\ngates: {{auto: [work]}}\n{more}{tool}{PASSES}"
        );
        session.write("plan.yaml", text);
    };
    plan("mkdir -p x/command-center/PENDING; cp keep.txt x/loot", "");
    let planted = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(json(&planted)["status"], "COMPLETE", "{}", planted.shown());
    let state = session.read(&format!("{STATE_DIR}/{}/RUN_STATE.json", run_id(&json(&planted))));
    assert!(state.contains("\"what\": \"x\""), "{state}");

    let hides = "echo more > x/loot; exit 1";
    plan(hides, "");
    let refused = governed(&session, &["run", "plan.yaml"]);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    assert!(refused.stderr.contains("x may be a folder of runs"), "{}", refused.shown());
    assert_eq!(session.read("site/x/loot"), "kept", "nothing ran");
    // Once a person has looked at it, it is a folder like any other, and is rolled back.
    fs::remove_dir_all(session.path("site/x/command-center")).unwrap();
    let seen = governed(&session, &["run", "plan.yaml", "--json"]);
    assert_eq!(json(&seen)["status"], "ROLLED_BACK", "{}", seen.shown());
    assert_eq!(session.read("site/x/loot"), "kept");
}

/// A run that is rolled back lets go of its own folder, and of that of no other run, also where the notes are in the folder that it puts back.
#[test]
fn a_rollback_lifts_the_hold_of_its_own_run_alone() {
    let session = Session::new();
    // The data folder of the user is in the folder of the first run.
    for (folder, inner) in [("home", "mine.txt"), ("site", "keep.txt")] {
        session.write(&format!("{folder}/{inner}"), "kept").write(
            &format!("{folder}.yaml"),
            format!(
                "project: {}\nfolder: {folder}\nin_place: true\ntools:\n  - {{name: deploy, run: ['true']}}\n{PASSES}",
                folder.to_uppercase()
            ),
        );
    }
    let held =
        || files(&session, "home/runstate/held").into_iter().filter(|(name, _)| name.ends_with(".json"));
    let run = |plan: &str| governed(&session, &["run", plan, "--json"]);
    let first = run_id(&json(&run("home.yaml")));
    let second = run_id(&json(&run("site.yaml")));
    assert_eq!(held().count(), 2);
    let reject = |run: &str| governed(&session, &["reject", &format!("{run}-A1"), "--by", "ada"]);
    assert!(reject(&first).stdout.contains("ROLLED_BACK"));
    assert_eq!(held().map(|(name, _)| name).collect::<Vec<_>>(), [format!("{second}-1.json")]);
    let refused = run("site.yaml");
    assert!(refused.stderr.contains(&format!("{second} works in ")), "{}", refused.shown());
    let again = run("home.yaml");
    assert_eq!(again.code, Some(3), "{}", again.shown());
    assert!(reject(&second).stdout.contains("ROLLED_BACK"));
    assert_eq!(
        held().map(|(name, _)| name).collect::<Vec<_>>(),
        [format!("{}-1.json", run_id(&json(&again)))]
    );
    assert_eq!(run("site.yaml").code, Some(3));
}
