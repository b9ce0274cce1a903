//! What is synced before a command says that it is done: a process that is killed proves nothing about a power cut, so what it
//! asks of the disk is looked at.

use std::fs;
use std::io::Write;
use std::process::Command;

use crate::session::{Session, harmless};

/// The paths that a command has synced; none where that cannot be seen.
fn synced(session: &Session, args: &[&str]) -> Option<Vec<String>> {
    let out = session.path("synced");
    let mut command = session.program("strace");
    command.args(["-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o"]).arg(&out);
    command.arg(env!("CARGO_BIN_EXE_runstate")).args(args);
    let said = command.output().map(|said| harmless("a synced command", said));
    if !said.as_ref().is_ok_and(|said| said.status.success()) {
        let works = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
        assert!(!works.is_ok_and(|works| works.success()), "{said:?}");
        let why = "syncs cannot be seen without strace: apt-get install strace";
        assert!(std::env::var_os("RUNSTATE_REQUIRE_STRACE").is_none(), "{why}");
        // Not by println, which the harness would keep to itself.
        drop(writeln!(std::io::stderr(), "SKIPPED: {why}"));
        return None;
    }
    let root = session.path("").canonicalize().unwrap();
    let lines = fs::read_to_string(&out).unwrap();
    let paths = lines.lines().filter(|line| line.contains("sync(") && !line.contains("resumed"));
    let paths = paths.filter_map(|line| line.split_once('<')?.1.split_once('>'));
    let below = |path: &str| Some(path.strip_prefix(root.to_str()?)?.trim_start_matches('/').to_owned());
    Some(paths.filter_map(|(path, _)| below(path)).collect())
}

#[test]
fn the_folder_of_a_run_is_durable_before_the_run_is() {
    let session = Session::new();
    session.write("s.yaml", "name: s\nmessage: go\nfolder: files\nmodel:\n  - text: done\n");
    session.write("files/a.txt", "one").write("files/below/b.txt", "two");
    let args = ["run", "--detach", "s.yaml", "--state-dir", "of/runs", "--store", "sqlite:in/a/runs.db"];
    let Some(synced) = synced(&session, &args) else { return };
    let at = |path: &str| {
        let at = synced.iter().rposition(|one| one == path);
        at.unwrap_or_else(|| panic!("{path:?} is not synced: {synced:?}"))
    };
    // The last sync is that of the row that says the run is there.
    let row = at("in/a/runs.db-wal");
    for path in [
        "of/runs/s-1/work/a.txt",
        "of/runs/s-1/work/below/b.txt",
        "of/runs/s-1/work/below",
        "of/runs/s-1/work",
        "of/runs/s-1/owner",
        "of/runs/s-1",
        "of/runs",
        "of",
        "in/a",
        "in",
        "",
    ] {
        assert!(at(path) < row, "{path:?} is synced after the row: {synced:?}");
    }
}

#[test]
fn tool_writes_are_durable_before_the_tool_result_is() {
    let session = Session::new();
    let scenario = "\
name: s
message: go
model:
  - calls: [{id: w, tool: write_file, arguments: {path: notes/a.txt, content: one}}]
  - text: done
";
    session.write("s.yaml", scenario);
    let Some(synced) = synced(&session, &["run", "s.yaml", "--state-dir", "runs"]) else { return };
    let of_file = synced.iter().position(|path| path == "runs/s-1/work/notes/a.txt");
    let of_folder = synced.iter().position(|path| path == "runs/s-1/work/notes");
    let last = synced.iter().rposition(|path| path == "runs/runs.db-wal");
    assert!(of_file.is_some() && of_folder.is_some() && of_file < last && of_folder < last, "{synced:?}");
    // Its new folder, too.
    let of_work = synced.iter().skip(of_file.unwrap()).any(|path| path == "runs/s-1/work");
    assert!(of_work, "{synced:?}");
}

/// Its answer is not committed before the results of its calls are.
#[test]
fn a_step_is_one_sync_where_a_run_is_committed_once_a_step() {
    const STEPS: usize = 40;
    let syncs = |level: &str, steps: usize| {
        let session = Session::new();
        let asks = |at| format!("  - calls: [{{id: '{at}', tool: look}}]\n");
        let model: String = (0..steps).map(asks).collect();
        let tools = "{look: {effect: repeatable, does: [{}]}}";
        let commits = format!("commits: {{level: {level}}}");
        session.write(
            "s.yaml",
            format!("name: s\nmessage: go\n{commits}\ntools: {tools}\nmodel:\n{model}  - text: done\n"),
        );
        let synced = synced(&session, &["run", "s.yaml", "--state-dir", "runs"])?;
        Some(synced.iter().filter(|path| *path == "runs/runs.db-wal").count())
    };
    for (level, expected) in [("step", STEPS), ("commit", 2 * STEPS)] {
        let (Some(none), Some(all)) = (syncs(level, 0), syncs(level, STEPS)) else { return };
        // A machine that is slow for long renews the lease.
        assert!((expected..=expected + 2).contains(&(all - none)), "level {level}: {none} and {all} syncs");
    }
}
