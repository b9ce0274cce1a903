//! Several processes on one file.

use std::collections::BTreeMap;

use std::time::Duration;

use runstate::run::RunStatus;
use runstate_store::{Claim, RunQuery, StoreError};

use crate::child::{CLIENTS, RUNS, go, open, start, told};
use crate::drive::{Plot, commits, create, drive, waiting};

#[tokio::test]
async fn holder_of_an_expired_lease_commits_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = open(&path);
    create(&store, "r1").await;
    let lease = store.claim(&Claim::of("r1", "sleeper", Duration::ZERO)).await.unwrap().unwrap();
    let all = commits(Plot::of(3, 1)).await;

    let mut children = vec![start("steal", &path)];
    go(&mut children);
    assert_eq!(told(children), [["2"]]);

    let before = store.load("r1").await.unwrap();
    assert_eq!(before.info.status, RunStatus::Done);
    let next = all.iter().position(|commit| commit.version == before.info.version);
    for commit in [&all[0], &all[next.unwrap()]] {
        for again in [false, true] {
            let mut commit = commit.clone();
            commit.again = again;
            let refused = store.commit(&lease, &commit).await.unwrap_err();
            assert!(matches!(refused, StoreError::Fenced { fence: 1, current: 2, .. }), "{refused:?}");
        }
    }
    let refused = store.renew(&lease, Duration::MAX).await.unwrap_err();
    assert!(matches!(refused, StoreError::Fenced { fence: 1, current: 2, .. }), "{refused:?}");
    assert_eq!(store.load("r1").await.unwrap(), before);
}

#[tokio::test]
async fn each_run_has_one_driver() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = open(&path);
    for run in 0..RUNS {
        create(&store, &format!("r{run}")).await;
    }
    let mut children = vec![start("work a", &path), start("work b", &path)];
    go(&mut children);
    let mut drove: Vec<_> = told(children).into_iter().flatten().collect();
    drove.sort();
    // Each was claimed once, so that its fence is the first.
    let mut all: Vec<_> = (0..RUNS).map(|run| format!("r{run} 1")).collect();
    all.sort();
    assert_eq!(drove, all);
    let done = store.runs(&RunQuery::status(RunStatus::Done, RUNS + 1)).await.unwrap();
    assert_eq!(done.len(), RUNS);
}

#[tokio::test]
async fn a_run_that_two_want_by_name_is_given_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = open(&path);
    for run in 0..RUNS {
        create(&store, &format!("r{run}")).await;
    }
    let mut children = vec![start("grab", &path), start("grab", &path)];
    go(&mut children);
    let mut got: Vec<_> = told(children).into_iter().flatten().collect();
    got.sort();
    let mut all: Vec<_> = (0..RUNS).map(|run| format!("{run} 1")).collect();
    all.sort();
    assert_eq!(got, all);
}

#[tokio::test]
async fn one_of_contradicting_decisions_is_accepted() {
    const CALLS: u32 = 10;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = open(&path);
    for run in 0..20 {
        let run = format!("r{run}");
        create(&store, &run).await;
        drive(&store, &run, Plot::asking(1, CALLS)).await;
    }
    let asked = waiting(&store).await;
    assert_eq!(asked.len(), 200);
    // 16 clients: 8 in each of two processes.
    assert_eq!(2 * CLIENTS, 16);
    let mut children = vec![start("decide a", &path), start("decide b", &path)];
    go(&mut children);
    let mut accepted = BTreeMap::new();
    for id in told(children).into_iter().flatten() {
        let (_, suspension) = id.split_once('/').unwrap();
        assert_eq!(
            accepted.insert(suspension.to_owned(), id.clone()),
            None,
            "two were accepted on {suspension}"
        );
    }
    let mut stored = BTreeMap::new();
    for run in 0..20 {
        for decision in store.pending_signals(&format!("r{run}")).await.unwrap().decisions {
            stored.insert(decision.suspension_id, decision.decision_id);
        }
    }
    assert_eq!(accepted.len(), 200);
    assert_eq!(accepted, stored);
    assert_eq!(waiting(&store).await, []);
}

#[test]
fn a_file_that_many_make_at_once_is_one_store() {
    for _ in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let mut children: Vec<_> = (0..4).map(|_| start("open", &path)).collect();
        go(&mut children);
        assert_eq!(told(children).len(), 4);
    }
}
