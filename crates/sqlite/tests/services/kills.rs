//! Changes of a process that is killed.

use std::io::{BufRead, BufReader};
use std::path::Path;

use runstate::service_run::ServiceRunStatus::Running;

use super::{change, create, open};
use crate::child::{go, start};

/// The number of changes before the first kill, and between two kills.
const CHANGES: usize = 25;

/// The work of a process that is killed: changes without an end, each reported after it is acknowledged.
pub(crate) async fn change_as_child(path: &Path) {
    let store = open(path);
    loop {
        let version = store.load("r1").await.unwrap().version;
        let version = store.compare_and_set("r1", version, &change("r1", Running, "next")).await.unwrap();
        println!("told {version}");
    }
}

/// The work of a process whose syncs are counted.
pub(crate) async fn change_so_often(path: &Path, number: u64) {
    let store = open(path);
    create(&*store, "r1").await;
    for version in 1..=number {
        store.compare_and_set("r1", version, &change("r1", Running, "next")).await.unwrap();
    }
}

#[tokio::test]
async fn acknowledged_change_survives_a_kill_with_all_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = open(&path);
    create(&*store, "r1").await;
    for kill in 0..4 {
        let mut child = start("service changes", &path);
        go(std::slice::from_mut(&mut child));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = 0;
        for (number, line) in lines.map_while(Result::ok).filter(|line| line.contains("told ")).enumerate() {
            acknowledged = line.split_once("told ").unwrap().1.parse().unwrap_or(acknowledged);
            if number == CHANGES + kill {
                child.kill().unwrap();
            }
        }
        assert!(!child.wait().unwrap().success());
        let run = store.load("r1").await.unwrap();
        assert!((acknowledged..=acknowledged + 1).contains(&run.version), "{acknowledged}: {}", run.version);
        assert_eq!(run.trace_lines, run.version);
        let steps = store.steps("r1", 0, usize::MAX).await.unwrap();
        let numbers: Vec<u64> = steps.iter().map(|step| step.seq).collect();
        assert_eq!(numbers, (1..=run.version).collect::<Vec<_>>());
        // Step, timeline entry and artifact of each change, and the first status.
        let events = store.events("r1", 0, usize::MAX).await.unwrap();
        assert_eq!(events.len() as u64, 3 * run.version + 1);
        assert_eq!(events.last().unwrap().seq, events.len() as u64);
    }
}
