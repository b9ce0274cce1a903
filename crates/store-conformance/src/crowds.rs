//! Concurrent operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate_agent::{Incoming, Reply, Unchecked};
use runstate_store::{ApprovalFilter, Posted, StoreError, decide};
use serde_json::json;
use tokio::task::JoinSet;

use super::Bench;
use super::played::Played;
use super::puts::{
    LONG, Must, approvals, assert_stored, claim, commit, create, load, mail, of_any, put_waiting, span,
};
use super::world::{NOW, one};

/// Returns the results of all tasks. A panic of one task is propagated.
pub(super) async fn all<T: 'static>(mut tasks: JoinSet<T>) -> Vec<T> {
    let mut all = Vec::new();
    while let Some(done) = tasks.join_next().await {
        match done {
            Ok(value) => all.push(value),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => panic!("a task of the suite: {error}"),
            },
        }
    }
    all
}

pub(super) async fn concurrent_claims_claim_each_run_once(bench: &dyn Bench) {
    let store = bench.store().await;
    for number in 0..50 {
        create(&*store, &format!("r{number}")).await;
    }
    let mut tasks = JoinSet::new();
    for number in 0..16 {
        let store = bench.store().await;
        let wish = of_any(bench, format!("w{number}"), NOW, LONG);
        tasks.spawn(async move {
            let mut claimed = Vec::new();
            while let Some(lease) = store.claim(&wish).await.must("claim any at once with others") {
                claimed.push((lease.run, lease.fence));
                assert!(claimed.len() <= 50, "one claimed more runs than there are");
            }
            claimed
        });
    }
    let mut claimed: Vec<_> = all(tasks).await.into_iter().flatten().collect();
    claimed.sort();
    let mut expected: Vec<_> = (0..50).map(|number| (format!("r{number}"), 1)).collect();
    expected.sort();
    assert_eq!(claimed, expected, "16 claim 50 runs: each is claimed once, and none is left");
}

pub(super) async fn one_of_many_decisions_on_a_call_is_accepted(bench: &dyn Bench) {
    const CLIENTS: usize = 16;
    const RUNS: usize = 20;
    let store = bench.store().await;
    for run in 0..RUNS {
        put_waiting(&*store, &format!("r{run}"), 10).await;
    }
    let waits: Arc<Vec<_>> = Arc::new(approvals(&*store, ApprovalFilter::All).await);
    assert_eq!(waits.len(), 200, "calls that wait");
    let mut tasks = JoinSet::new();
    for client in 0..CLIENTS {
        let (store, waits) = (bench.store().await, Arc::clone(&waits));
        tasks.spawn(async move {
            let mut told = Vec::new();
            for place in 0..waits.len() {
                // Some clients begin at the front, others in the middle; half of them approve.
                let place = (place + client % 4 * 50) % waits.len();
                let action = if client % 2 == 0 { Resume } else { Cancel };
                let id = format!("client {client} on {place}");
                // Most clients post their decisions directly; some call `decide`.
                let posted = if client < 3 {
                    let mut incoming = Incoming::new(&*id, &*waits[place].call, action);
                    incoming.run_id = Some(waits[place].run.clone());
                    let incoming = incoming.on(&*waits[place].suspension.id);
                    let told = decide(&*store, &incoming, NOW, &Unchecked).await;
                    told.must("decide at once with others") == Reply::Accepted
                } else {
                    let decision = super::puts::decision(&waits[place], &id, action);
                    match store.post(&decision).await.must("post at once with others") {
                        Posted::Accepted => true,
                        Posted::Conflict => false,
                        other => panic!("{id}: expected Accepted or Conflict, got {other:?}"),
                    }
                };
                told.push((place, id, posted));
            }
            told
        });
    }
    let mut accepted: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (place, id, is_accepted) in all(tasks).await.into_iter().flatten() {
        if is_accepted {
            accepted.entry(place).or_default().push(id);
        }
    }
    for place in 0..waits.len() {
        let accepted = accepted.get(&place).map_or(0, Vec::len);
        assert_eq!(accepted, 1, "decisions that were accepted on {:?}", waits[place]);
    }
    let mut kept = BTreeMap::new();
    for run in 0..RUNS {
        for decision in mail(&*store, &format!("r{run}")).await.decisions {
            let place = waits.iter().position(|one| one.suspension.id == decision.suspension_id);
            kept.insert(place.must("a suspension that there was"), vec![decision.decision_id]);
        }
    }
    assert_eq!(kept, accepted, "the stored decisions are those with an accepted reply");
    assert_eq!(approvals(&*store, ApprovalFilter::All).await, [], "calls that wait");
}

pub(super) async fn concurrent_commits_of_one_number_commit_once(bench: &dyn Bench) {
    let store = bench.store().await;
    let script: Vec<_> = (0..6).map(|step| one("a", "say", json!(step))).collect();
    let played = Arc::new(Played::new("r1", &script).await);
    create(&*store, "r1").await;
    let lease = claim(&*store, "r1").await;
    for version in 1..=played.commits().len() {
        let mut tasks = JoinSet::new();
        for _ in 0..4 {
            let (store, played, lease) = (bench.store().await, Arc::clone(&played), lease.clone());
            tasks.spawn(async move {
                match store.commit(&lease, &played.commit(version)).await {
                    Ok(()) => 1,
                    Err(StoreError::Version { .. }) => 0,
                    Err(other) => panic!("commit {version} at once with others: got {other:?}"),
                }
            });
        }
        let made: usize = all(tasks).await.into_iter().sum();
        assert_eq!(made, 1, "how many of 4 made commit {version}");
    }
    assert_stored(&*store, played.state(), "in the end").await;
    assert_eq!(super::puts::trace(&*store, "r1").await, played.trace(), "its trace");
}

pub(super) async fn commits_and_decisions_do_not_undo_each_other(bench: &dyn Bench) {
    let store = bench.store().await;
    // Four concurrent runs; for each, one task commits, one decides, one renews and one reads.
    let mut tasks = JoinSet::new();
    for number in 0..4 {
        let run = format!("r{number}");
        let mut played = put_waiting(&*store, &run, 10).await;
        let lease = claim(&*store, &run).await;
        let (decides, commits, renews, reads) =
            (bench.store().await, bench.store().await, bench.store().await, bench.store().await);
        let waits = approvals(&*store, ApprovalFilter::Run(run.clone())).await;
        let (read_run, read_lease) = (run.clone(), lease.clone());
        tasks.spawn(async move {
            for (number, waits) in waits.iter().enumerate() {
                let decision = super::puts::decision(waits, &format!("d{number}"), Resume);
                decides.post(&decision).await.must("post at once with commits");
            }
        });
        tasks.spawn(async move {
            let mut taken = 0;
            for _ in 0..10_000 {
                let mail = mail(&*commits, &run).await;
                taken += mail.decisions.len();
                if !mail.decisions.is_empty() {
                    for new in played.resume(&mail.decisions).await {
                        commit(&*commits, &lease, &played.commit(new + 1)).await;
                    }
                }
                if taken >= 10 {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
            assert_eq!(taken, 10, "decisions on {run:?} that came in: each is pending until it is taken");
            assert_stored(&*commits, played.state(), "in the end").await;
            assert_eq!(super::puts::trace(&*commits, &run).await, played.trace(), "the trace of {run:?}");
        });
        let term = span(bench, LONG);
        tasks.spawn(async move {
            for _ in 0..20 {
                renews.renew(&read_lease, term).await.must("renew at once with commits");
            }
        });
        tasks.spawn(async move {
            for _ in 0..20 {
                let loaded = load(&*reads, &read_run).await;
                let stored = loaded.stored.must("the run");
                // Each read returns exactly one commit.
                stored.restore().unwrap_or_else(|error| panic!("restore while others commit: {error}"));
            }
        });
    }
    all(tasks).await;
    for number in 0..4 {
        let run = format!("r{number}");
        let stored = load(&*store, &run).await.stored.must("the run");
        assert_eq!((stored.status(), stored.decisions().len()), ("Done", 10), "the run {run:?}");
    }
}
