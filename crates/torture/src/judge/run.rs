//! A stored run.

use runstate::decision::Decision;
use runstate::run::RunStatus;
use runstate::trace::Event;
use runstate_agent::RunState;
use runstate_store::{EventRow, Loaded, RunStore, StoreError};
use serde_json::Value;

use super::Violation;
use super::book::LedgerIndex;
use crate::script::Script;

/// A run with all its data.
pub(super) struct Seen {
    pub(super) id: String,
    pub(super) loaded: Loaded,
    pub(super) script: Script,
    /// The restored run.
    pub(super) state: Option<RunState>,
    /// The restored previous run of its thread.
    pub(super) before: Option<RunState>,
    /// The stored messages of the run, in order.
    pub(super) messages: Vec<Value>,
    /// The message that no commit has taken.
    pub(super) message: Option<String>,
    /// The stored machines of the calls, by name.
    pub(super) calls: Value,
    /// The values, by scope and key.
    pub(super) values: Value,
    pub(super) rows: Vec<(u64, String)>,
    pub(super) trace: Vec<Event<'static>>,
    pub(super) events: Vec<EventRow>,
    /// Taken decisions.
    pub(super) taken: Vec<Decision>,
    /// Untaken decisions.
    pub(super) untaken: Vec<Decision>,
}

impl Seen {
    pub(super) async fn read(store: &dyn RunStore, run: &str) -> Result<Seen, Violation> {
        let wrong = |rule: &'static str, what: String| Violation::new(rule, run, what);
        let loaded = match store.load(run).await {
            Err(StoreError::NoRun { .. }) => {
                return Err(wrong("acknowledged", "it was created, and is not there".to_owned()));
            }
            loaded => loaded.map_err(|error| wrong("types", error.to_string()))?,
        };
        let script = serde_json::from_value(loaded.spec.clone());
        let script = script.map_err(|error| wrong("types", format!("its spec: {error}")))?;
        let stored = loaded.stored.as_ref();
        let state = stored.map(|stored| stored.restore()).transpose();
        let state = state.map_err(|error| wrong("types", error.to_string()))?;
        let before = loaded.before.as_ref().map(|before| before.restore()).transpose();
        let before = before.map_err(|error| wrong("types", format!("the run before it: {error}")))?;
        let json = stored.map(serde_json::to_value).transpose();
        let json = json.map_err(|error| wrong("types", error.to_string()))?;
        let mut messages =
            json.as_ref().and_then(|json| json["messages"].as_array()).cloned().unwrap_or_default();
        let own = usize::try_from(loaded.messages).unwrap_or(usize::MAX);
        let messages = messages.split_off(messages.len().saturating_sub(own));
        let part = |name: &str| json.as_ref().map(|json| json[name].clone()).unwrap_or_default();
        let rows = store.trace(run, 0, usize::MAX).await;
        let rows = rows.map_err(|error| wrong("types", error.to_string()))?;
        let events = rows.iter().map(|row| Event::from_json(&row.json).map(Event::into_owned));
        let trace = events.collect::<Result<_, _>>();
        let events = store.events(run, 0, usize::MAX).await;
        let events = events.map_err(|error| wrong("types", error.to_string()))?;
        let mail = store.pending_signals(run).await.map_err(|error| wrong("types", error.to_string()))?;
        Ok(Seen {
            id: run.to_owned(),
            script,
            state,
            before,
            messages,
            message: mail.message.map(|message| message.id),
            calls: part("__tool_call_states"),
            values: part("values"),
            rows: rows.into_iter().map(|row| (row.seq, row.json)).collect(),
            trace: trace.map_err(|error| wrong("trace", error.to_string()))?,
            events,
            taken: stored.map(|stored| stored.decisions().values().cloned().collect()).unwrap_or_default(),
            untaken: mail.decisions,
            loaded,
        })
    }

    /// Has it a message that superseded its questions?
    pub(super) fn is_messaged(&self, book: &LedgerIndex<'_>) -> bool {
        let texts = self.messages.iter().filter_map(|message| message["user"].as_str());
        texts.skip(1).any(|text| book.was_sent(text))
    }

    pub(super) fn is_over(&self) -> bool {
        self.loaded.info.status == RunStatus::Done
    }

    pub(super) fn ended_as(&self, reason: &str) -> bool {
        self.is_over() && self.loaded.info.reason.as_deref() == Some(reason)
    }
}
