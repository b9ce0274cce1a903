//! Ignored names, of which a rollback removes nothing.

use super::{STATE_DIR, governed, json, run_id};
use crate::session::Session;

/// A run in place with that script as its tool, and with data of the user under ignored names.
fn session(script: &str) -> Session {
    let session = Session::new();
    session.write("site/a.txt", "old").write("site/build/cache/data", "kept").write("site/d/ign", "kept");
    session.write(
        "plan.yaml",
        format!(
            "project: SITE\nfolder: site\nin_place: true\nignore: [build/cache, d/ign]\ngates: {{auto: [work]}}\n\
             tools:\n  - {{name: work, run: [sh, -c, {:?}]}}\n\
             verify:\n  - run: ['true']\naudit:\n  - {{reviewer: quality, run: ['true']}}\n",
            format!("{script}; echo new > a.txt; exit 1")
        ),
    );
    session
}

#[test]
fn a_rollback_removes_no_ignored_entry_that_a_tool_moved() {
    for (script, to, data) in [
        ("mv build build.old && mkdir build", "build.old/cache", "build.old/cache/data"),
        ("mv build/cache moved", "moved", "moved/data"),
        ("mv d/ign ign2", "ign2", "ign2"),
        ("test ! -e d/ign || { rm a.txt; mv d/ign a.txt; }", "a.txt", "a.txt"),
        // A second name of an entry that is not at its place.
        ("ln d/ign other; rm d/ign", "other", "other"),
    ] {
        let session = session(script);
        // The entry is not written to.
        let keeps = session.read("plan.yaml").replace("echo new > a.txt; exit 1", "touch made; exit 1");
        session.write("plan.yaml", keeps);
        let done = json(&governed(&session, &["run", "plan.yaml", "--json"]));
        assert_eq!(
            (&done["status"], &done["rollback"]),
            (&"HALTED_UNSAFE".into(), &"incomplete".into()),
            "{script}: {done}"
        );
        assert_eq!(session.read(&format!("site/{data}")), "kept", "{script}");
        assert!(!session.path("site/made").exists(), "{script}: the rest is rolled back");
        let report = session.read(&format!("{STATE_DIR}/{}/FINAL_REPORT.md", run_id(&done)));
        assert!(report.contains("which was moved") && report.contains(to), "{script}: {report}");
    }
}

/// The data folder of the user is ignored too, with the notes and the runs in it.
#[test]
fn a_rollback_removes_no_data_folder_that_a_tool_moved() {
    let session = session("mv home home.old && mkdir home");
    session.write("site/home/runstate/store/run.json", "kept");
    let home = session.path("site/home");
    let args = ["governed", "run", "plan.yaml", "--json", "--state-dir", STATE_DIR];
    let mut command = session.command(&args);
    let said = command.env("XDG_DATA_HOME", home).output().unwrap();
    let done = json(&session.said(&args, &said));
    assert_eq!(
        (&done["status"], &done["rollback"]),
        (&"HALTED_UNSAFE".into(), &"incomplete".into()),
        "{done}"
    );
    assert_eq!(session.read("site/home.old/runstate/store/run.json"), "kept");
}

/// Where the ignored entries are at their place, or are gone, the rollback is complete: a later entry may have the inode of a removed one.
#[test]
fn a_rollback_is_complete_beside_ignored_entries() {
    for script in [
        "true",
        "echo more >> d/ign; mkdir -p moved",
        "ln d/ign other",
        "rm -r build d; for i in 1 2 3 4 5 6 7 8; do echo x > made$i; mkdir folder$i; done",
        "cp d/ign x; mv x d/ign",
    ] {
        let session = session(script);
        // Not ignored, and as before.
        std::fs::hard_link(session.path("site/d/ign"), session.path("site/pair")).unwrap();
        let done = json(&governed(&session, &["run", "plan.yaml", "--json"]));
        assert_eq!(
            (&done["status"], &done["rollback"]),
            (&"ROLLED_BACK".into(), &"complete".into()),
            "{script}: {done}"
        );
        assert_eq!(session.read("site/a.txt"), "old", "{script}");
        assert!(!session.path("site/other").exists() && !session.path("site/made1").exists(), "{script}");
    }
}

#[test]
fn a_question_about_a_plan_names_what_is_not_asked_and_not_rolled_back() {
    let session = session("true");
    let text = session.read("plan.yaml").replace("{name: work,", "{name: work, read_only: true,");
    session.write("plan.yaml", format!("plan_approval: ask\n{text}"));
    let waiting = json(&governed(&session, &["run", "plan.yaml", "--json"]));
    let request = &waiting["waits"]["request"];
    assert_eq!(request["risk"], "medium", "{waiting}");
    let action = request["action"].as_str().unwrap();
    for shown in [
        "/site, again after a crash without another question, since it is read_only (High risk); ",
        "/site itself (in_place); ",
        "no rollback restores the ignored names build/cache, d/ign",
    ] {
        assert!(action.contains(shown), "{action}");
    }
}
