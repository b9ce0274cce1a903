//! The output of a session: each event with its callbacks, as text or as JSON lines.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runstate_guardrails::Violation;
use runstate_guardrails::drift::DriftKind;
use runstate_stream::{AbortHandle, Callbacks, Event, Failure, State, TimeoutType};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::scenario::{AtEvent, CallbackName};

/// One line of the report.
#[derive(Debug, Clone)]
pub(super) enum Line {
    /// An event, as JSON. A saved checkpoint has its text beside its length.
    Event(Value),
    /// A callback, with its arguments in order.
    Callback(&'static str, Vec<Value>),
}

impl Line {
    pub(super) fn text(&self) -> String {
        match self {
            Line::Callback(name, args) => {
                let args: Vec<_> = args.iter().map(Value::to_string).collect();
                format!("              {name}({})", args.join(", "))
            }
            Line::Event(event) => {
                let (seq, at_ms) = (event["seq"].as_u64().unwrap_or(0), event["atMs"].as_u64().unwrap_or(0));
                let mut line =
                    format!("{seq:>4} {at_ms:>6} ms {}", event["type"].as_str().unwrap_or_default());
                for (name, value) in event.as_object().into_iter().flatten() {
                    if !["seq", "atMs", "type", "streamId", "meta"].contains(&name.as_str()) {
                        line.push_str(&format!(" {name}={value}"));
                    }
                }
                line
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Line::Event(event) => json!({"event": event}),
            Line::Callback(name, args) => json!({"callback": name, "args": args}),
        }
    }
}

/// The common fields of all events: the stream's id and the user's data.
///
/// # Errors
/// The number of an event with other values than the first.
pub(super) fn carried(lines: &[Line]) -> Result<(&str, &Value), u64> {
    let mut events = lines.iter().filter_map(|line| match line {
        Line::Event(event) => Some(event),
        Line::Callback(..) => None,
    });
    let of = |event: &'_ Value| (event["streamId"].clone(), event["meta"].clone());
    let Some(first) = events.next() else { return Ok(("", &Value::Null)) };
    match events.find(|event| of(event) != of(first)) {
        Some(other) => Err(other["seq"].as_u64().unwrap_or_default()),
        None => Ok((first["streamId"].as_str().unwrap_or_default(), &first["meta"])),
    }
}

/// Records all callbacks; panics in some, and aborts in one, as configured.
pub(super) struct Teller {
    lines: Arc<Mutex<Vec<Line>>>,
    panics: Vec<CallbackName>,
    abort: Option<AbortAt>,
}

/// The callback and the means of an abort.
pub(super) struct AbortAt {
    pub(super) at: AtEvent,
    pub(super) seen: u32,
    pub(super) token: CancellationToken,
    /// The session's handle, which exists once the session does.
    pub(super) handle: Arc<Mutex<Option<AbortHandle>>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A callback may panic on purpose; each change of the lines is one push.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Teller {
    pub(super) fn new(
        lines: Arc<Mutex<Vec<Line>>>,
        panics: Vec<CallbackName>,
        abort: Option<AbortAt>,
    ) -> Self {
        Teller { lines, panics, abort }
    }

    fn told(&self, which: CallbackName, name: &'static str, mut args: Vec<Value>) {
        args.iter_mut().for_each(Value::sort_all_objects);
        lock(&self.lines).push(Line::Callback(name, args));
        self.panic_in(which);
    }

    fn panic_in(&self, which: CallbackName) {
        if self.panics.contains(&which) {
            std::panic::resume_unwind(Box::new("scripted"));
        }
    }
}

impl AbortAt {
    fn sees(&mut self, event: &Event) {
        if event.name() != self.at.event {
            return;
        }
        self.seen += 1;
        if self.seen == self.at.nth {
            match &*lock(&self.handle) {
                Some(handle) => handle.abort(),
                None => self.token.cancel(),
            }
        }
    }
}

impl Callbacks for Teller {
    fn on_event(&mut self, event: &Event) {
        // An event is plain data: it cannot fail to be JSON.
        let mut json = serde_json::to_value(event).unwrap_or_default();
        json.sort_all_objects();
        lock(&self.lines).push(Line::Event(json));
        if let Some(abort) = &mut self.abort {
            abort.sees(event);
        }
        self.panic_in(CallbackName::OnEvent);
    }
    fn on_start(&mut self, attempt: u32, is_retry: bool, is_fallback: bool) {
        self.told(
            CallbackName::OnStart,
            "on_start",
            vec![attempt.into(), is_retry.into(), is_fallback.into()],
        );
    }
    fn on_complete(&mut self, state: &State) {
        let args = vec![json!({"content": state.content, "tokenCount": state.token_count})];
        self.told(CallbackName::OnComplete, "on_complete", args);
    }
    fn on_error(&mut self, error: &Failure, will_retry: bool, will_fallback: bool) {
        let args = vec![error.to_string().into(), will_retry.into(), will_fallback.into()];
        self.told(CallbackName::OnError, "on_error", args);
    }
    fn on_violation(&mut self, violation: &Violation) {
        let args = vec![serde_json::to_value(violation).unwrap_or_default()];
        self.told(CallbackName::OnViolation, "on_violation", args);
    }
    fn on_retry(&mut self, attempt: u32, reason: &str) {
        self.told(CallbackName::OnRetry, "on_retry", vec![attempt.into(), reason.into()]);
    }
    fn on_fallback(&mut self, index: u32, reason: &str) {
        self.told(CallbackName::OnFallback, "on_fallback", vec![index.into(), reason.into()]);
    }
    fn on_resume(&mut self, checkpoint: &str, token_count: u64) {
        self.told(CallbackName::OnResume, "on_resume", vec![checkpoint.into(), token_count.into()]);
    }
    fn on_checkpoint(&mut self, checkpoint: &str, token_count: u64) {
        // The event is the previous line: the text completes it.
        if let Some(Line::Event(event)) = lock(&self.lines).last_mut() {
            event["checkpoint"] = checkpoint.into();
            event.sort_all_objects();
        }
        self.told(CallbackName::OnCheckpoint, "on_checkpoint", vec![checkpoint.into(), token_count.into()]);
    }
    fn on_timeout(&mut self, timeout_type: TimeoutType, elapsed_ms: u64) {
        self.told(CallbackName::OnTimeout, "on_timeout", vec![timeout_type.name().into(), elapsed_ms.into()]);
    }
    fn on_abort(&mut self, token_count: u64, content_length: usize) {
        self.told(CallbackName::OnAbort, "on_abort", vec![token_count.into(), content_length.into()]);
    }
    fn on_drift(&mut self, types: &[DriftKind], confidence: f64) {
        let names: Vec<&str> = types.iter().map(|kind| kind.name()).collect();
        self.told(CallbackName::OnDrift, "on_drift", vec![names.into(), confidence.into()]);
    }
    fn on_tool_call(&mut self, tool_name: &str, id: &str, args: &Value) {
        let args = vec![tool_name.into(), id.into(), args.clone()];
        self.told(CallbackName::OnToolCall, "on_tool_call", args);
    }
}

/// The types of all events, for scenarios that name one.
pub(super) fn is_event_type(name: &str) -> bool {
    EVENT_TYPES.contains(&name)
}

pub(super) const EVENT_TYPES: [&str; 26] = [
    "SESSION_START",
    "ATTEMPT_START",
    "COMPLETE",
    "ERROR",
    "RETRY_ATTEMPT",
    "FALLBACK_START",
    "RESUME_START",
    "CHECKPOINT_SAVED",
    "ABORT_COMPLETED",
    "TIMEOUT_TRIGGERED",
    "GUARDRAIL_RULE_RESULT",
    "GUARDRAIL_PHASE_START",
    "GUARDRAIL_PHASE_END",
    "DRIFT_DETECTED",
    "TIMEOUT_START",
    "TIMEOUT_RESET",
    "RETRY_GIVE_UP",
    "FALLBACK_END",
    "CHECKPOINT_REJECTED",
    "CONTINUATION_START",
    "TOOL_REQUESTED",
    "CONTENT_RESET",
    "TOKEN",
    "MESSAGE",
    "DATA",
    "PROGRESS",
];
