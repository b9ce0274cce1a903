//! What is outside of a run: a store that fails when told, a listener, checks of schemas, a redactor.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use runstate::checkpoint::{Due, Trigger};
use runstate_agent::event::{AgentEvent, EventKind, EventSink, Redact, Redacted};
use runstate_agent::{CommitError, Delta, MemoryCommitter, SchemaCheck, StateCommitter, async_trait};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// Keeps what was committed, as bytes. Each commit takes turns of the scheduler.
#[derive(Default)]
pub struct Kept {
    pub memory: MemoryCommitter,
    /// This commit fails, counted from 0 over all tries.
    pub fail_at: Option<usize>,
    /// And all after it.
    pub fail_on: bool,
    /// At this commit, counted from 0 over those that were made, nothing goes on any more.
    pub hangs_at: Option<usize>,
    tries: usize,
    pub commits: Arc<AtomicUsize>,
    /// Stops before and behind each commit, until it is told to go on.
    pub moments: Option<mpsc::UnboundedSender<Moment>>,
}

/// A commit that goes no further until `go` is dropped.
#[derive(Debug)]
pub struct Moment {
    _go: oneshot::Sender<()>,
}

impl Kept {
    async fn reach(&self) {
        let Some(moments) = &self.moments else { return };
        let (go, gone) = oneshot::channel();
        if moments.send(Moment { _go: go }).is_ok() {
            gone.await.ok();
        }
    }

    pub fn triggers(&self) -> Vec<Trigger> {
        self.memory.triggers().collect()
    }
}

#[async_trait]
impl StateCommitter for Kept {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        // Twice, since a stream that has events to give asks its loop again at once.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        self.tries += 1;
        if self.fail_at.is_some_and(|at| at + 1 == self.tries || self.fail_on && at < self.tries) {
            return Err(CommitError::new("the disk is full"));
        }
        if self.hangs_at == Some(self.commits.load(Ordering::SeqCst)) {
            std::future::pending().await
        }
        self.reach().await;
        self.commits.fetch_add(1, Ordering::SeqCst);
        let committed = self.memory.commit(due, delta).await;
        self.reach().await;
        committed
    }
}

/// Keeps all events.
#[derive(Default)]
pub struct Told(Mutex<Vec<Arc<AgentEvent>>>);

impl Told {
    pub fn all(&self) -> Vec<Arc<AgentEvent>> {
        self.0.lock().unwrap().clone()
    }

    pub fn kinds(&self) -> Vec<EventKind> {
        self.all().iter().map(|event| event.kind.clone()).collect()
    }
}

impl EventSink for Told {
    fn emit(&self, event: &Arc<AgentEvent>) {
        self.0.lock().unwrap().push(Arc::clone(event));
    }
}

/// A schema says what type a value has, and nothing else.
pub struct TypeOnly;

impl SchemaCheck for TypeOnly {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let fits = match schema["type"].as_str() {
            Some("string") => value.is_string(),
            Some("object") => value.is_object(),
            _ => true,
        };
        if fits { Ok(()) } else { Err(format!("{value} is no {}", schema["type"])) }
    }
}

/// Secrets are words in capitals.
pub struct NoSecrets;

impl Redact for NoSecrets {
    fn redact(&self, _: Redacted<'_>, value: &Value) -> Value {
        without_secrets(value)
    }
}

fn without_secrets(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains("SECRET") => json!("***"),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), without_secrets(field))).collect()
        }
        other => other.clone(),
    }
}
