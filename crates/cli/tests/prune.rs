//! Runs that cannot be removed are in the way of no others.

#[cfg(unix)]
use serde_json::Value;
use std::fs;

use crate::session::Session;

#[test]
fn prune_skips_a_run_with_unreadable_files_and_removes_others() {
    let session = Session::new();
    session.write("done.yaml", "name: done\nmessage: go\nmodel:\n  - text: done\n");
    let place = ["--store", "file:kept", "--state-dir", "runs"];
    for _ in 0..3 {
        let said = session.run(&[&["run", "done.yaml"], &place as &[&str]].concat());
        assert_eq!(said.code, Some(0), "{}", said.shown());
    }
    let folders = fs::read_dir(session.path("kept/runs")).unwrap().map(|folder| folder.unwrap().path());
    let second = folders.into_iter().find(|folder| folder.to_string_lossy().contains("done-2.")).unwrap();
    let log = second.join("messages.jsonl");
    fs::remove_file(&log).unwrap();
    fs::create_dir(&log).unwrap();

    let prune = ["prune", "--older-than", "1ms"];
    let said = session.run(&[&prune, &place as &[&str]].concat());
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(said.stdout.ends_with("2 runs removed\n"), "{}", said.shown());
    assert!(
        said.stderr.contains("warning: done-2 stays: ") && said.stderr.contains("messages.jsonl"),
        "{}",
        said.shown()
    );
    assert!(session.path("runs/done-2/work").exists() && !session.path("runs/done-1").exists());
    let said = session.run(&[&prune, &place as &[&str], &["--json"]].concat());
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&json["runs"], &json["left"][0]["run"]), (&Value::Array(vec![]), &"done-2".into()), "{json}");
}

#[test]
fn a_folder_that_cannot_be_removed_is_told_and_keeps_no_other() {
    let session = Session::new();
    session.write("done.yaml", "name: done\nmessage: go\nmodel:\n  - text: done\n");
    for _ in 0..3 {
        session.run(&["run", "done.yaml", "--state-dir", "runs"]);
    }
    // Nobody can read whose it is.
    let mark = session.path("runs/done-2/owner");
    fs::remove_file(&mark).unwrap();
    fs::create_dir(&mark).unwrap();
    let said = session.run(&["prune", "--older-than", "1ms", "--json", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("warning: the folder of done-2 stays: "), "{}", said.shown());
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let removed = json["runs"].as_array().unwrap();
    let folders: Vec<_> = removed.iter().map(|run| (run["run"].as_str(), run["folder"].as_str())).collect();
    let removed = Some("removed");
    assert_eq!(
        folders,
        [(Some("done-3"), removed), (Some("done-2"), Some("left")), (Some("done-1"), removed)]
    );
    assert!(session.path("runs/done-2/work").exists() && !session.path("runs/done-1").exists());
}

/// A removal that fails, or a process that ends before it, leaves a folder that the next command finds.
#[test]
fn a_folder_that_was_left_is_removed_by_the_next_prune() {
    let session = Session::new();
    session.write("done.yaml", "name: done\nmessage: go\nmodel:\n  - text: done\n");
    session.run(&["run", "done.yaml", "--state-dir", "runs"]);
    let mark = session.path("runs/done-1/owner");
    let token = fs::read(&mark).unwrap();
    fs::remove_file(&mark).unwrap();
    fs::create_dir(&mark).unwrap();
    let prune = || session.run(&["prune", "--older-than", "1ms", "--state-dir", "runs"]);
    let said = prune();
    assert!(said.code == Some(2) && said.stderr.contains("tries again"), "{}", said.shown());
    assert_eq!(prune().code, Some(2), "it is not forgotten");
    fs::remove_dir(&mark).unwrap();
    fs::write(&mark, token).unwrap();
    let said = prune();
    assert!(said.code == Some(0) && said.stdout.contains("removed the folder of done-1"), "{}", said.shown());
    assert!(!session.path("runs/done-1").exists());
    assert_eq!(prune().stdout, "0 runs removed\n");
}

/// Each folder in another one: a removal that keeps a descriptor open for each level ends at the limit of open files.
#[cfg(unix)]
#[test]
fn a_run_whose_folder_is_very_deep_is_removed_with_it() {
    let session = Session::new();
    let deep = "d/".repeat(2_000) + "f";
    session.write(
        "deep.yaml",
        format!(
            "name: deep\nmessage: go\nmodel:\n  - calls: [{{id: w, tool: write_file, arguments: {{path: {deep}, content: x}}}}]\n  - text: done\n"
        ),
    );
    let said = session.run(&["run", "deep.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let prune = "ulimit -n 64; exec \"$0\" prune --older-than 1ms --state-dir runs";
    let output = session.program("sh").args(["-c", prune, env!("CARGO_BIN_EXE_runstate")]).output().unwrap();
    let said = session.said(&["prune"], &output);
    assert_eq!((said.code, &*said.stderr), (Some(0), ""), "{}", said.shown());
    assert!(!session.path("runs/deep-1").exists());
}
