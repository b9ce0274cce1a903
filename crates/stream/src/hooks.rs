//! Callbacks from closures.

use std::fmt;

use runstate_guardrails::Violation;
use runstate_guardrails::drift::DriftKind;
use serde_json::Value;

use super::{Callbacks, Event, Failure, State, TimeoutType};

/// Callbacks made of closures, each of them optional. [`Callbacks`] documents the arguments and the time of
/// each call.
///
/// ```
/// use runstate_stream::{Hooks, Session, SourceError, StreamEvent};
/// use std::sync::mpsc;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let (say, said) = mpsc::channel();
/// let hooks = Hooks::new().on_complete(move |state| say.send(state.content.clone()).unwrap_or_default());
/// let open = async |_| Ok::<_, SourceError>(futures_util::stream::iter([Ok::<_, SourceError>(StreamEvent::token("hi"))]));
/// Session::builder("stream_1", open).callbacks(hooks).build().run().await?;
/// assert_eq!(said.recv(), Ok("hi".to_owned()));
/// # Ok::<(), runstate_stream::SessionError>(())
/// # }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Default)]
#[expect(
    clippy::type_complexity,
    reason = "a name for each of thirteen closures would say less than its type"
)]
pub struct Hooks {
    start: Option<Box<dyn FnMut(u32, bool, bool) + Send>>,
    complete: Option<Box<dyn FnMut(&State) + Send>>,
    error: Option<Box<dyn FnMut(&Failure, bool, bool) + Send>>,
    event: Option<Box<dyn FnMut(&Event) + Send>>,
    violation: Option<Box<dyn FnMut(&Violation) + Send>>,
    retry: Option<Box<dyn FnMut(u32, &str) + Send>>,
    fallback: Option<Box<dyn FnMut(u32, &str) + Send>>,
    resume: Option<Box<dyn FnMut(&str, u64) + Send>>,
    checkpoint: Option<Box<dyn FnMut(&str, u64) + Send>>,
    timeout: Option<Box<dyn FnMut(TimeoutType, u64) + Send>>,
    abort: Option<Box<dyn FnMut(u64, usize) + Send>>,
    drift: Option<Box<dyn FnMut(&[DriftKind], f64) + Send>>,
    tool_call: Option<Box<dyn FnMut(&str, &str, &Value) + Send>>,
}

impl Hooks {
    /// Creates hooks without a callback.
    pub fn new() -> Self {
        Hooks::default()
    }

    /// Sets [`Callbacks::on_start`].
    pub fn on_start(mut self, hook: impl FnMut(u32, bool, bool) + Send + 'static) -> Self {
        self.start = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_complete`].
    pub fn on_complete(mut self, hook: impl FnMut(&State) + Send + 'static) -> Self {
        self.complete = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_error`].
    pub fn on_error(mut self, hook: impl FnMut(&Failure, bool, bool) + Send + 'static) -> Self {
        self.error = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_event`].
    pub fn on_event(mut self, hook: impl FnMut(&Event) + Send + 'static) -> Self {
        self.event = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_violation`].
    pub fn on_violation(mut self, hook: impl FnMut(&Violation) + Send + 'static) -> Self {
        self.violation = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_retry`].
    pub fn on_retry(mut self, hook: impl FnMut(u32, &str) + Send + 'static) -> Self {
        self.retry = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_fallback`].
    pub fn on_fallback(mut self, hook: impl FnMut(u32, &str) + Send + 'static) -> Self {
        self.fallback = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_resume`].
    pub fn on_resume(mut self, hook: impl FnMut(&str, u64) + Send + 'static) -> Self {
        self.resume = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_checkpoint`].
    pub fn on_checkpoint(mut self, hook: impl FnMut(&str, u64) + Send + 'static) -> Self {
        self.checkpoint = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_timeout`].
    pub fn on_timeout(mut self, hook: impl FnMut(TimeoutType, u64) + Send + 'static) -> Self {
        self.timeout = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_abort`].
    pub fn on_abort(mut self, hook: impl FnMut(u64, usize) + Send + 'static) -> Self {
        self.abort = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_drift`].
    pub fn on_drift(mut self, hook: impl FnMut(&[DriftKind], f64) + Send + 'static) -> Self {
        self.drift = Some(Box::new(hook));
        self
    }

    /// Sets [`Callbacks::on_tool_call`].
    pub fn on_tool_call(mut self, hook: impl FnMut(&str, &str, &Value) + Send + 'static) -> Self {
        self.tool_call = Some(Box::new(hook));
        self
    }
}

impl Callbacks for Hooks {
    fn on_start(&mut self, attempt: u32, is_retry: bool, is_fallback: bool) {
        if let Some(hook) = &mut self.start {
            hook(attempt, is_retry, is_fallback);
        }
    }
    fn on_complete(&mut self, state: &State) {
        if let Some(hook) = &mut self.complete {
            hook(state);
        }
    }
    fn on_error(&mut self, error: &Failure, will_retry: bool, will_fallback: bool) {
        if let Some(hook) = &mut self.error {
            hook(error, will_retry, will_fallback);
        }
    }
    fn on_event(&mut self, event: &Event) {
        if let Some(hook) = &mut self.event {
            hook(event);
        }
    }
    fn on_violation(&mut self, violation: &Violation) {
        if let Some(hook) = &mut self.violation {
            hook(violation);
        }
    }
    fn on_retry(&mut self, attempt: u32, reason: &str) {
        if let Some(hook) = &mut self.retry {
            hook(attempt, reason);
        }
    }
    fn on_fallback(&mut self, index: u32, reason: &str) {
        if let Some(hook) = &mut self.fallback {
            hook(index, reason);
        }
    }
    fn on_resume(&mut self, checkpoint: &str, token_count: u64) {
        if let Some(hook) = &mut self.resume {
            hook(checkpoint, token_count);
        }
    }
    fn on_checkpoint(&mut self, checkpoint: &str, token_count: u64) {
        if let Some(hook) = &mut self.checkpoint {
            hook(checkpoint, token_count);
        }
    }
    fn on_timeout(&mut self, timeout_type: TimeoutType, elapsed_ms: u64) {
        if let Some(hook) = &mut self.timeout {
            hook(timeout_type, elapsed_ms);
        }
    }
    fn on_abort(&mut self, token_count: u64, content_length: usize) {
        if let Some(hook) = &mut self.abort {
            hook(token_count, content_length);
        }
    }
    fn on_drift(&mut self, types: &[DriftKind], confidence: f64) {
        if let Some(hook) = &mut self.drift {
            hook(types, confidence);
        }
    }
    fn on_tool_call(&mut self, tool_name: &str, id: &str, args: &Value) {
        if let Some(hook) = &mut self.tool_call {
            hook(tool_name, id, args);
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}
