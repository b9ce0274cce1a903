//! A program that gives out its work by itself has the first part of a store and no other.

use std::sync::Arc;
use std::time::Duration;

use runstate::decision::Decision;
use runstate::run::RunStatus;
use runstate::trace::Recorder;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{
    Agent, InferenceRequest, Input, Model, ModelStream, RunHandles, RunState, async_trait, run_loop,
};
use runstate_runtime::clock::SetClock;
use runstate_store::{
    Claim, Commit, EventRow, Lease, MemoryStore, NewRun, Parts, PendingSignals, Posted, RunData, RunQueue,
    StoreCommitter, StoreError, Superseded, TraceRow, UserMessage,
};

/// Each run is driven once, by the task that created it.
#[derive(Debug, Default)]
struct Engine {
    rows: MemoryStore,
}

impl Engine {
    /// Leases are the engine's own, and have no term.
    async fn begin(&self, run: &str) -> Result<Lease, StoreError> {
        self.create(&NewRun::new(run, serde_json::Value::Null, 0)).await?;
        Ok(self.rows.claim(&Claim::of(run, "engine", Duration::MAX)).await?.expect("a new run"))
    }
}

#[async_trait]
impl RunData for Engine {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        self.rows.create(run).await
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        self.rows.is_given(run).await
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        self.rows.parts(run).await
    }

    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError> {
        self.rows.last_of_thread(thread).await
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        self.rows.supersede(run, message).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.rows.commit(lease, commit).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        self.rows.post(decision).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        self.rows.cancel(run, reason).await
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        self.rows.pending_signals(run).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.rows.trace(run, after, limit).await
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.rows.events(run, after, limit).await
    }
}

struct Brief;

impl Model for Brief {
    fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
        Box::pin(futures_util::stream::iter([ModelEvent::Finish(FinishReason::Stop)]))
    }
}

#[tokio::test]
async fn a_run_is_driven_with_the_first_part_of_a_store() {
    let engine = Arc::new(Engine::default());
    let lease = engine.begin("r1").await.unwrap();
    let loaded = engine.load("r1").await.unwrap();
    let recorder = Recorder::builder("r1").build();
    let mut state = RunState::watched("r1", &recorder);
    let clock = Arc::new(SetClock::default());
    let mut committer = StoreCommitter::new(engine.clone(), lease, &loaded, recorder.clone(), clock);
    let agent = Agent::builder(Brief).build().unwrap();
    let io = RunHandles::new().committer(&mut committer).watch(&recorder);
    run_loop(&agent, &mut state, Input::message("hi"), io).await.unwrap();
    let stored = engine.load("r1").await.unwrap();
    assert_eq!((stored.info.status, stored.info.version), (RunStatus::Done, 3));
    assert_eq!(engine.trace("r1", 0, 100).await.unwrap().len() as u64, stored.traced);
}
