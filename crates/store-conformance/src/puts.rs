//! Helpers that fill a store, read it, and report the expected result.

use std::fmt;
use std::time::Duration;

use runstate::decision::{Decision, DecisionAction};
use runstate_agent::{RunState, StoredRun};
use runstate_runtime::clock::Clock as _;
use runstate_store::{
    Approval, ApprovalFilter, ApprovalQuery, Claim, Commit, EventRow, Lease, Loaded, NewRun, PendingSignals,
    RunInfo, RunQuery, RunStore, StoreError, TraceRow, left,
};
use serde_json::json;

use super::Bench;
use super::played::Played;
use super::world::{NOW, one, questions};

/// The end of a lease that outlasts each behaviour.
pub(super) const LONG: u64 = NOW + 1_000_000_000;
/// A limit that no list exceeds.
pub(super) const ALL: usize = 10_000;

/// Returns the value, or panics with a description of the operation.
pub(super) trait Must<T> {
    fn must(self, what: impl fmt::Display) -> T;
}

impl<T> Must<T> for Result<T, StoreError> {
    #[track_caller]
    fn must(self, what: impl fmt::Display) -> T {
        match self {
            Ok(value) => value,
            Err(error) => panic!("{what}: expected Ok, got {error:?}: {error}"),
        }
    }
}

impl<T> Must<T> for Option<T> {
    #[track_caller]
    fn must(self, what: impl fmt::Display) -> T {
        self.unwrap_or_else(|| panic!("{what}: expected something, got nothing"))
    }
}

/// Panics unless the result is this error.
macro_rules! refused {
    ($what:expr, $got:expr, $expected:pat $(if $guard:expr)?) => {
        match $got {
            Err($expected) $(if $guard)? => {}
            other => panic!(
                "{}: expected {}, got {other:?}",
                $what,
                stringify!(Err($expected) $(if $guard)?)
            ),
        }
    };
}
pub(super) use refused;

/// Creates a run.
pub(super) async fn create(store: &dyn RunStore, run: &str) {
    let new = NewRun::new(run, json!({ "spec of": run }), NOW).titled(format!("title of {run}"));
    store.create(&new).await.must(format_args!("create {run:?}"));
}

/// Creates a claim on a run, at that time of the bench's clock.
pub(super) fn of(
    bench: &dyn Bench,
    run: impl Into<String>,
    holder: impl Into<String>,
    now: u64,
    until: u64,
) -> Claim {
    let mut claim = of_any(bench, holder, now, until);
    claim.run = Some(run.into());
    claim
}

/// Creates a claim on any run that can continue, at that time of the bench's clock.
pub(super) fn of_any(bench: &dyn Bench, holder: impl Into<String>, now: u64, until: u64) -> Claim {
    bench.clock().set(now);
    Claim::any(holder, span(bench, until))
}

/// Returns the duration until that time, by the bench's clock.
pub(super) fn span(bench: &dyn Bench, until: u64) -> Duration {
    left(bench.clock().now_ms(), until)
}

/// Claims a run by name, with a long lease.
pub(super) async fn claim(store: &dyn RunStore, run: &str) -> Lease {
    let claimed = store.claim(&Claim::of(run, "the suite", left(NOW, LONG))).await;
    claimed.must(format_args!("claim {run:?}")).must(format_args!("claim {run:?}"))
}

/// Claims any run that can continue, with a long lease.
pub(super) async fn claim_any(bench: &dyn Bench, store: &dyn RunStore, now_ms: u64) -> Option<Lease> {
    store.claim(&of_any(bench, "the suite", now_ms, LONG)).await.must("claim any")
}

/// Gives a run back.
pub(super) async fn release(store: &dyn RunStore, lease: &Lease) {
    store.release(lease, &runstate_store::Release::clean()).await.must(format_args!("release {lease:?}"));
}

/// Makes a commit.
pub(super) async fn commit(store: &dyn RunStore, lease: &Lease, commit: &Commit) {
    let what = format!("commit {} of {:?}", commit.version, lease.run);
    store.commit(lease, commit).await.must(what);
}

/// Creates a run, claims it and makes all of its commits.
pub(super) async fn put(store: &dyn RunStore, played: &Played) -> Lease {
    let run = played.state().id();
    create(store, run).await;
    let lease = claim(store, run).await;
    for one in played.commits() {
        commit(store, &lease, one).await;
    }
    lease
}

/// Creates a run that waits for that number of decisions, and gives it back.
pub(super) async fn put_waiting(store: &dyn RunStore, run: &str, calls: usize) -> Played {
    let played = Played::new(run, &[questions(calls)]).await;
    let lease = put(store, &played).await;
    release(store, &lease).await;
    played
}

/// Creates a run that is over, and gives it back.
pub(super) async fn put_done(store: &dyn RunStore, run: &str) -> Played {
    let played = Played::new(run, &[one("a", "say", json!("hello"))]).await;
    let lease = put(store, &played).await;
    release(store, &lease).await;
    played
}

/// Loads a run.
pub(super) async fn load(store: &dyn RunStore, run: &str) -> Loaded {
    store.load(run).await.must(format_args!("load {run:?}"))
}

/// Restores a stored run and stores it again. Its messages are then in the order of the model requests, regardless of
/// the order of their arrival.
#[track_caller]
pub(super) fn restored(stored: Option<&StoredRun>) -> StoredRun {
    let stored = stored.must("a run that was committed");
    let state = stored.restore().unwrap_or_else(|error| panic!("restore the stored run: {error}"));
    at_rest(&state)
}

/// Returns the stored form of a run of the suite.
pub(super) fn at_rest(state: &RunState) -> StoredRun {
    StoredRun::of(state).unwrap_or_else(|error| panic!("the suite's run {:?}: {error}", state.id()))
}

/// Checks that the stored run equals this one after a restore.
pub(super) async fn assert_stored(store: &dyn RunStore, expected: &RunState, when: &str) {
    let loaded = load(store, expected.id()).await;
    let (got, expected) = (restored(loaded.stored.as_ref()), at_rest(expected));
    assert!(got == expected, "the run {when}: got\n{}\nexpected\n{}", got.to_json(), expected.to_json());
}

/// Returns the pending input of a run.
pub(super) async fn mail(store: &dyn RunStore, run: &str) -> PendingSignals {
    store.pending_signals(run).await.must(format_args!("pending signals of {run:?}"))
}

/// Returns the whole trace of a run.
pub(super) async fn trace(store: &dyn RunStore, run: &str) -> Vec<TraceRow> {
    store.trace(run, 0, ALL).await.must(format_args!("trace of {run:?}"))
}

/// Returns all events of a run.
pub(super) async fn events(store: &dyn RunStore, run: &str) -> Vec<EventRow> {
    store.events(run, 0, ALL).await.must(format_args!("events of {run:?}"))
}

/// Returns the waiting calls.
pub(super) async fn approvals(store: &dyn RunStore, about: ApprovalFilter) -> Vec<Approval> {
    store.approvals(&ApprovalQuery::new(about, ALL)).await.must("approvals")
}

/// Returns all runs.
pub(super) async fn runs(store: &dyn RunStore) -> Vec<RunInfo> {
    store.runs(&RunQuery::all(ALL)).await.must("runs")
}

/// All data of a run in a store.
#[derive(Debug, PartialEq)]
pub(super) struct Everything {
    loaded: Loaded,
    mail: PendingSignals,
    trace: Vec<TraceRow>,
    events: Vec<EventRow>,
    approvals: Vec<Approval>,
    listed: Option<RunInfo>,
}

/// Reads all data of a run in a store.
pub(super) async fn everything(store: &dyn RunStore, run: &str) -> Everything {
    Everything {
        loaded: load(store, run).await,
        mail: mail(store, run).await,
        trace: trace(store, run).await,
        events: events(store, run).await,
        approvals: approvals(store, ApprovalFilter::Run(run.to_owned())).await,
        listed: runs(store).await.into_iter().find(|info| info.id == run),
    }
}

/// Returns the waiting call with that name.
pub(super) async fn approval(store: &dyn RunStore, run: &str, call: &str) -> Approval {
    let found = approvals(store, ApprovalFilter::Run(run.to_owned())).await;
    let found = found.into_iter().find(|approval| approval.call == call);
    found.must(format_args!("a call {call:?} of {run:?} that waits"))
}

/// Creates a decision about a waiting call.
pub(super) fn decision(approval: &Approval, id: &str, action: DecisionAction) -> Decision {
    let mut decision = Decision::new(id, &*approval.suspension.id, action);
    decision.run_id.clone_from(&approval.run);
    decision.call.clone_from(&approval.call);
    decision.digest = Some(approval.digest.clone());
    decision.decided_at_ms = NOW;
    decision
}

/// Creates a decision that resumes the call.
pub(super) async fn yes(store: &dyn RunStore, run: &str, call: &str, id: &str) -> Decision {
    decision(&approval(store, run, call).await, id, DecisionAction::Resume)
}

/// Returns another handle of the bench.
pub(super) async fn handle(bench: &dyn Bench) -> std::sync::Arc<dyn RunStore> {
    bench.store().await
}
