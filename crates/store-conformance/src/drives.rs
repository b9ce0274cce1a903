//! Runs in the way of a worker: claimed, driven by the loop with a [`StoreCommitter`], parked, decided, resumed.

use std::sync::Arc;
use std::time::Duration;

use runstate::run::RunStatus;
use runstate::trace::{Event, Recorder, Rulebook, Verdict, check};
use runstate::turn::Turn;
use runstate_agent::{Incoming, Input, Reply, RunState, Unchecked};
use runstate_runtime::clock::Clock;
use runstate_store::{Lease, RunStore, StoreCommitter, StoreError, decide};
use serde_json::json;

use super::Bench;
use super::puts::{
    LONG, Must, assert_stored, claim_any, create, load, mail, of, refused, release, span, trace,
};
use super::world::{NOW, Still, agent, drive, one, questions};

/// Checks that the trace of a run conforms to the documented lifecycles.
pub(super) async fn conforms(store: &dyn RunStore, run: &str) {
    let rows = trace(store, run).await;
    let event = |json: &str| {
        Event::from_json(json)
            .unwrap_or_else(|error| panic!("an event of {run:?}, {json}: {error}"))
            .into_owned()
    };
    let events: Vec<_> = rows.iter().map(|row| event(&row.json)).collect();
    let numbers: Vec<_> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, rows.iter().map(|row| row.seq).collect::<Vec<_>>(), "the numbers of events");
    let report = check(&events, &Rulebook::of(runstate::lifecycles().iter().copied()));
    assert_ne!(report.verdict, Verdict::Violates, "the trace of {run:?}: {report}");
}

/// Does the part of a worker: loads the run and drives it until it waits or is over.
async fn work(store: &Arc<dyn RunStore>, lease: &Lease, script: &[Turn]) -> RunState {
    let loaded = load(&**store, &lease.run).await;
    let recorder = Recorder::builder(&*lease.run).first_seq(loaded.traced + 1).build();
    let (mut state, input) = match &loaded.stored {
        None => (RunState::watched(&*lease.run, &recorder), Input::message("begin")),
        Some(stored) => {
            let mut state = stored.restore().unwrap_or_else(|error| panic!("restore {lease:?}: {error}"));
            state.watch(&recorder);
            (state, Input::Resume)
        }
    };
    let taken = mail(&**store, &lease.run).await.decisions;
    let clock: Arc<dyn Clock> = Arc::new(Still(NOW));
    let mut committer = StoreCommitter::new(store.clone(), lease.clone(), &loaded, recorder.clone(), clock);
    let mut lost = committer.lost();
    let agent = agent(script);
    let driven = drive((&agent, false), &mut state, input, &mut committer, &recorder, &taken);
    tokio::select! {
        _ = driven => {}
        // The sender lives as long as the committer, which the loop owns.
        changed = lost.changed() => {
            changed.ok();
            panic!("the loop of {lease:?} was lost: {:?}", *lost.borrow());
        }
    }
    state
}

fn script() -> Vec<Turn> {
    vec![one("a", "note", json!({ "run": 1, "thread": 2 })), questions(2), one("b", "say", json!("bye"))]
}

pub(super) async fn a_run_is_driven_parked_decided_and_finished(bench: &dyn Bench) {
    let (store, people) = (bench.store().await, bench.store().await);
    create(&*people, "r1").await;
    let lease = claim_any(bench, &*store, NOW).await.must("a new run");
    let state = work(&store, &lease, &script()).await;
    release(&*store, &lease).await;
    assert_stored(&*people, &state, "that was parked").await;
    assert_eq!(load(&*people, "r1").await.info.status, RunStatus::Waiting, "the run, parked");
    for call in ["c1", "c0"] {
        let mut incoming =
            Incoming::new(format!("d-{call}"), call, runstate::decision::DecisionAction::Resume);
        incoming.run_id = Some("r1".to_owned());
        let told = decide(&*people, &incoming.with_result(call), NOW, &Unchecked).await;
        assert_eq!(told.must("decide"), Reply::Accepted, "the decision on {call}");
        let lease = claim_any(bench, &*store, NOW).await.must("a run with a decision");
        let state = work(&store, &lease, &script()).await;
        release(&*store, &lease).await;
        assert_stored(&*people, &state, call).await;
        conforms(&*people, "r1").await;
    }
    let loaded = load(&*people, "r1").await;
    assert_eq!((loaded.info.status, loaded.info.waiting), (RunStatus::Done, 0), "the run, in the end");
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "nothing can go on");
}

pub(super) async fn a_run_that_was_dropped_goes_on_from_its_last_commit(bench: &dyn Bench) {
    let store = bench.store().await;
    create(&*store, "r1").await;
    let mut rounds = 0;
    let mut last = 0;
    // The loop is dropped a little later each time. Its commits show how far it came.
    for pause in 0.. {
        let now = NOW + rounds * 10;
        let lease = store.claim(&of(bench, "r1", format!("w{rounds}"), now, now + 10)).await;
        let lease = lease.must("claim the dropped run").must("claim the dropped run");
        rounds += 1;
        let worked =
            tokio::time::timeout(Duration::from_micros(pause * 300), work(&store, &lease, &script())).await;
        let loaded = load(&*store, "r1").await;
        assert!(loaded.info.version >= last, "commits are not undone: {} was {last}", loaded.info.version);
        last = loaded.info.version;
        if let Some(stored) = &loaded.stored {
            stored.restore().unwrap_or_else(|error| panic!("restore the dropped run: {error}"));
        }
        conforms(&*store, "r1").await;
        if worked.is_ok() {
            break;
        }
    }
    assert_eq!(load(&*store, "r1").await.info.status, RunStatus::Waiting, "the run, parked at last");
    let old = Lease::new("r1", rounds - 1);
    if rounds > 1 {
        refused!("an older lease", store.renew(&old, span(bench, LONG)).await, StoreError::Fenced { .. });
    }
}

pub(super) async fn a_run_ends_cancelled(bench: &dyn Bench) {
    let (store, people) = (bench.store().await, bench.store().await);
    create(&*people, "r1").await;
    let lease = claim_any(bench, &*store, NOW).await.must("a new run");
    work(&store, &lease, &script()).await;
    release(&*store, &lease).await;
    people.cancel("r1", "not needed").await.must("cancel");
    let lease = claim_any(bench, &*store, NOW).await.must("a run that is to be cancelled");
    let loaded = load(&*store, "r1").await;
    let recorder = Recorder::builder("r1").first_seq(loaded.traced + 1).build();
    let clock: Arc<dyn Clock> = Arc::new(Still(NOW));
    let mut committer = StoreCommitter::new(store.clone(), lease.clone(), &loaded, recorder.clone(), clock);
    let restored = loaded.stored.must("the run").restore();
    let mut state = restored.unwrap_or_else(|error| panic!("restore: {error}"));
    state.watch(&recorder);
    let io = runstate_agent::RunHandles::new().committer(&mut committer).watch(&recorder);
    let ended = runstate_agent::cancel_run(&agent(&script()), &mut state, io).await;
    ended.unwrap_or_else(|error| panic!("cancel the run: {error}"));
    let loaded = load(&*people, "r1").await;
    assert_stored(&*people, &state, "in the end").await;
    assert_eq!(
        (loaded.info.status, loaded.info.cancel),
        (RunStatus::Done, None),
        "the listed info of the run"
    );
    let waits = super::puts::approvals(&*people, runstate_store::ApprovalFilter::All).await;
    assert_eq!(waits, [], "calls that wait");
    conforms(&*people, "r1").await;
}
