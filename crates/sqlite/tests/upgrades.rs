//! A program of a later version opens a store in which an older one has parked a run: with the migrations that its author
//! registered it goes on with it, without them it leaves it alone and says what to do.

use std::path::Path;
use std::sync::Arc;

use std::time::Duration;

use runstate::decision::DecisionAction;
use runstate::kernel::{Fingerprint, Stateful};
use runstate::run::{AnyRun, RunStatus};
use runstate::snapshot::{Migration, Snapshot, Stored};
use runstate::tool_call::AnyToolCall;
use runstate::trace::{JsonlReader, Rulebook, Verdict, check_jsonl};
use runstate_agent::{Incoming, Reply, Unchecked, async_trait};
use runstate_runtime::clock::SetClock;
use runstate_sqlite::{Options, SqliteStore};
use runstate_store::{Claim, Executor, ExecutorError, JobSpec, Loaded, Release, RunStore, Worker, decide};
use serde_json::Value;

use crate::drive::{Plot, approve_all, commits, create, waiting};

thread_local! {
    /// That of the store and of the worker of a test.
    static CLOCK: SetClock = SetClock::default();
}

/// One round of two calls, each of which a person has to approve.
const PLOT: Plot = Plot { rounds: 1, calls: 2, asks: Some(None) };

const OLD_RUN: Fingerprint = Fingerprint::from_hex("00000000000000aa");
const OLD_CALL: Fingerprint = Fingerprint::from_hex("00000000000000bb");

fn raised<M: Stateful>(mut stored: Stored) -> Stored {
    stored.version = M::GRAPH.version;
    stored
}

/// Moves a value to another name.
fn renamed(value: &mut Value, from: &str, to: &str) -> Result<(), String> {
    let fields = value.as_object_mut().ok_or("it is no object")?;
    let moved = fields.remove(from).ok_or_else(|| format!("it has no {from:?}"))?;
    fields.insert(to.to_owned(), moved);
    Ok(())
}

/// In version 0 a run that waits was `Parked`, and its calls were its questions.
const RUNS: Migration = Migration::step("a parked run is Waiting", 0, OLD_RUN, |mut stored| {
    if stored.status == "Parked" {
        stored.status = "Waiting".to_owned();
        renamed(&mut stored.state, "questions", "calls")?;
    }
    Ok(raised::<AnyRun>(stored))
});

/// In version 0 a call that waits was `Asked` with a ticket, and every call had a `name`.
const CALLS: Migration = Migration::step("an asked call is Suspended", 0, OLD_CALL, |mut stored| {
    renamed(&mut stored.record, "name", "tool")?;
    if stored.status == "Asked" {
        stored.status = "Suspended".to_owned();
        renamed(&mut stored.state, "ticket", "suspension")?;
    }
    Ok(raised::<AnyToolCall>(stored))
});

/// The same with a mistake in it.
const ASTRAY: Migration = Migration::step("a parked run is Waiting, astray", 0, OLD_RUN, |mut stored| {
    renamed(&mut stored.state, "answers", "calls")?;
    Ok(raised::<AnyRun>(stored))
});

/// One that reads another graph than the stored one.
const ELSEWHERE: Migration = Migration::step("elsewhere", 0, Fingerprint::from_hex("00000000000000cc"), Ok);

/// A snapshot as version 0 wrote it.
fn older(snapshot: &str, fingerprint: Fingerprint, change: impl FnOnce(&mut Value)) -> String {
    let mut json: Value = serde_json::from_str(snapshot).unwrap();
    (json["version"], json["fingerprint"]) = (0.into(), fingerprint.to_string().into());
    change(&mut json);
    let mut older: Snapshot = serde_json::from_value(json).unwrap();
    older.recompute_checksum();
    older.to_json()
}

fn older_run(json: &mut Value) {
    if json["status"] == "Waiting" {
        json["status"] = "Parked".into();
        renamed(&mut json["state"], "calls", "questions").unwrap();
    }
}

fn older_call(json: &mut Value) {
    renamed(&mut json["record"], "tool", "name").unwrap();
    if json["status"] == "Suspended" {
        json["status"] = "Asked".into();
        renamed(&mut json["state"], "suspension", "ticket").unwrap();
    }
}

/// A file in which version 0 has parked the run `r1`.
async fn parked(file: &Path) -> Arc<dyn RunStore> {
    let clock = CLOCK.with(Clone::clone);
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open_by(file, Options::default(), clock).unwrap());
    create(&store, "r1").await;
    let lease = store.claim(&Claim::of("r1", "version 0", Duration::MAX)).await.unwrap().unwrap();
    for mut commit in commits(PLOT).await {
        commit.run.snapshot = older(&commit.run.snapshot, OLD_RUN, older_run);
        for call in &mut commit.calls {
            call.snapshot = older(&call.snapshot, OLD_CALL, older_call);
        }
        store.commit(&lease, &commit).await.unwrap();
    }
    store.release(&lease, &Release::clean()).await.unwrap();
    store
}

/// Approves one of the calls that wait: people need no program of either version.
async fn approve(store: &Arc<dyn RunStore>, place: usize) {
    let approval = &waiting(store).await[place];
    let id = &*approval.suspension.id;
    let mut approved = Incoming::new(id, &*approval.call, DecisionAction::Resume).on(id);
    approved.run_id = Some("r1".to_owned());
    assert_eq!(decide(&**store, &approved, 2_000, &Unchecked).await.unwrap(), Reply::Accepted);
}

/// The program of this version, with what its author has registered.
struct Program {
    of_runs: &'static [Migration],
    of_calls: &'static [Migration],
}

#[async_trait]
impl Executor for Program {
    async fn prepare(&self, _: &Loaded) -> Result<JobSpec, ExecutorError> {
        Ok(JobSpec::new(PLOT.agent(), "tidy up").migrated_by(self.of_runs.into(), self.of_calls.into()))
    }
}

/// Drives what can go on at that time.
async fn drive_at(store: &Arc<dyn RunStore>, program: &Program, seconds: u64) {
    let clock = CLOCK.with(Clone::clone);
    clock.set(seconds * 1_000);
    let worker = Worker::new(Arc::clone(store), "version 1").clock(clock);
    worker.run_ready(program).await.unwrap();
}

async fn conforms(store: &Arc<dyn RunStore>) {
    let rows = store.trace("r1", 0, 10_000).await.unwrap();
    let lines: String = rows.iter().map(|row| format!("{}\n", row.json)).collect();
    let rulebook = Rulebook::of(runstate::lifecycles().iter().copied());
    let report = check_jsonl(JsonlReader::new(lines.as_bytes()), &rulebook).unwrap();
    assert_eq!(report.verdict, Verdict::Conforms, "{}", report.summary());
}

#[tokio::test]
async fn parked_run_of_an_older_version_resumes_by_migration() {
    let folder = tempfile::tempdir().unwrap();
    let store = parked(&folder.path().join("runs.db")).await;
    assert_eq!(approve_all(&store).await, 2);
    drive_at(&store, &Program { of_runs: &[RUNS], of_calls: &[CALLS] }, 10).await;
    let loaded = store.load("r1").await.unwrap();
    assert_eq!((loaded.info.status, loaded.info.problem), (RunStatus::Done, None));
    assert_eq!(loaded.info.reason.as_deref(), Some("natural_end"));
    // All that moved is of this version now.
    let state = loaded.stored.unwrap().restore().unwrap();
    let ends: Vec<&str> = state.calls().map(|(_, call)| call.status().name()).collect();
    assert_eq!(ends, ["Succeeded", "Succeeded"]);
    conforms(&store).await;
}

#[tokio::test]
async fn unmigrated_run_is_refused_with_advice_and_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let store = parked(&folder.path().join("runs.db")).await;
    assert_eq!(approve_all(&store).await, 2);
    let parked = store.load("r1").await.unwrap();
    assert_eq!(parked.stored.as_ref().unwrap().status(), "Parked");
    let trace = store.trace("r1", 0, 10_000).await.unwrap();

    let programs: [(&'static [Migration], &'static [Migration], &str); 4] = [
        (
            &[],
            &[],
            "__run: run was stored under version 0, this is version 1: register a migration from 0, or finish the run with \
             the program that stored it",
        ),
        (
            &[RUNS],
            &[],
            "__tool_call_states.call_0_0: tool_call was stored under version 0, this is version 1: register a migration \
             from 0, or finish the run with the program that stored it",
        ),
        (
            &[ASTRAY],
            &[CALLS],
            "__run: migration 'a parked run is Waiting, astray' failed: it has no \"answers\"",
        ),
        (
            &[ELSEWHERE],
            &[CALLS],
            "__run: run was stored under another graph: fingerprint \"00000000000000aa\", expected 00000000000000cc; if \
             states or transitions were only added, register `Migration::only_grew` from \"00000000000000aa\", else raise the \
             version and register a migration",
        ),
    ];
    // Each is put off for half a minute.
    for (minute, (of_runs, of_calls, why)) in (1..).zip(programs) {
        drive_at(&store, &Program { of_runs, of_calls }, 60 * minute).await;
        let left = store.load("r1").await.unwrap();
        assert_eq!(left.info.problem, Some(format!("it cannot be read: {why}")));
        assert_eq!((left.info.version, left.info.status), (parked.info.version, RunStatus::Waiting));
        assert_eq!(left.stored, parked.stored);
        assert_eq!(store.trace("r1", 0, 10_000).await.unwrap(), trace);
        assert_eq!(store.pending_signals("r1").await.unwrap().decisions.len(), 2, "what was decided is kept");
    }

    // Once its author has registered them, it goes on from where version 0 left it.
    drive_at(&store, &Program { of_runs: &[RUNS], of_calls: &[CALLS] }, 600).await;
    let loaded = store.load("r1").await.unwrap();
    assert_eq!((loaded.info.status, loaded.info.problem), (RunStatus::Done, None));
    conforms(&store).await;
}

/// A store may hold both versions for as long as a call waits.
#[tokio::test]
async fn unmoved_call_keeps_its_version_and_migrates_on_each_load() {
    let folder = tempfile::tempdir().unwrap();
    let store = parked(&folder.path().join("runs.db")).await;
    let program = Program { of_runs: &[RUNS], of_calls: &[CALLS] };
    approve(&store, 0).await;
    drive_at(&store, &program, 10).await;
    let stored = store.load("r1").await.unwrap().stored.unwrap();
    assert_eq!(stored.status(), "Waiting", "the run is of this version");
    let refused = stored.restore_with(&[RUNS], &[]).unwrap_err().to_string();
    assert!(
        refused.starts_with("__tool_call_states.call_0_1: tool_call was stored under version 0"),
        "{refused}"
    );
    let state = stored.restore_with(&[], &[CALLS]).unwrap();
    assert_eq!(state.pending().len(), 1);
    assert_eq!(state.pending()[0].suspension.message, "is it fine?");

    approve(&store, 0).await;
    drive_at(&store, &program, 60).await;
    assert_eq!(store.load("r1").await.unwrap().info.reason.as_deref(), Some("natural_end"));
    conforms(&store).await;
}
