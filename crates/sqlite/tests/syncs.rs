//! How often the disk is asked to keep what it has: a process that is killed proves nothing about a power cut, so they are
//! counted.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::child::{ARGS, RECEIVED, command};
use crate::skipped;

/// The syncs of a process in that role; none where they cannot be counted.
fn syncs(role: &str) -> Option<usize> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("counted");
    let mut traced = command(Path::new("strace"), role, &folder.path().join("runs.db"));
    traced.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o"]).arg(&out);
    let said = traced.arg(std::env::current_exe().unwrap()).args(ARGS).stdin(Stdio::null()).output();
    match said {
        Ok(said) if said.status.success() => {
            let lines = fs::read_to_string(&out).unwrap();
            let calls = lines.lines().filter(|line| line.contains("sync(") && !line.contains("resumed"));
            Some(calls.count())
        }
        said => {
            let works = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
            assert!(!works.is_ok_and(|works| works.success()), "{said:?}");
            skipped(
                "RUNSTATE_REQUIRE_STRACE",
                "syncs cannot be counted without strace: apt-get install strace",
            );
            None
        }
    }
}

#[test]
fn a_commit_is_one_sync() {
    const COMMITS: usize = 1_000;
    let (Some(none), Some(all)) = (syncs("commit 0"), syncs(&format!("commit {COMMITS}"))) else { return };
    let own = all - none;
    assert!(own >= COMMITS, "{own} syncs for {COMMITS} commits: not all of them were durable");
    // What is more is for writing the log back.
    assert!(own * 100 <= COMMITS * 105, "{own} syncs for {COMMITS} commits");
}

#[test]
fn commits_that_wait_together_are_one_or_two_syncs() {
    const TIMES: usize = 5;
    let (Some(none), Some(all)) = (syncs("group 0"), syncs(&format!("group {TIMES}"))) else { return };
    // The first may be under way alone while the others come.
    let own = all - none;
    assert!((TIMES..=2 * TIMES).contains(&own), "{own} syncs for {TIMES} times 64 commits");
}

/// What comes in is durable as well before it is acknowledged.
#[test]
fn a_decision_a_new_run_and_a_wish_are_one_sync_each() {
    let all = 3 * RECEIVED as usize;
    let (Some(none), Some(received)) = (syncs("receive 0"), syncs(&format!("receive {RECEIVED}"))) else {
        return;
    };
    let own = received - none;
    assert!(own >= all, "{own} syncs for {all} requests: not all of them were durable");
    assert!(own * 100 <= all * 105, "{own} syncs for {all} requests");
}

#[cfg(feature = "service")]
#[test]
fn a_change_of_a_service_run_is_one_sync() {
    const CHANGES: usize = 300;
    let (Some(none), Some(all)) = (syncs("service 0"), syncs(&format!("service {CHANGES}"))) else { return };
    let own = all - none;
    assert!(own >= CHANGES, "{own} syncs for {CHANGES} changes: not all of them were durable");
    // More are for writing the log back.
    assert!(own * 100 <= CHANGES * 105, "{own} syncs for {CHANGES} changes");
}
