//! Callbacks of a session.

use runstate_guardrails::Violation;
use runstate_guardrails::drift::DriftKind;
use serde_json::Value;

use super::event::{Event, EventKind, Strategy};
use super::panics::guarded;
use super::{Failure, State, TimeoutType};

/// The thirteen callbacks of a session. The default of each does nothing.
///
/// The session calls them in the order of its events. For each event [`on_event`](Self::on_event) comes first,
/// then the callback of that event, and then the consumer of the session's stream sees the event. A callback
/// that panics is called again for the next event. A slow callback delays the session and uses up no timeout.
/// [`Hooks`](super::Hooks) builds callbacks from closures.
///
/// ```
/// use runstate_stream::{Callbacks, Session, SourceError, StreamEvent};
///
/// #[derive(Default)]
/// struct Attempts(Vec<u32>);
///
/// impl Callbacks for Attempts {
///     fn on_start(&mut self, attempt: u32, _is_retry: bool, _is_fallback: bool) {
///         self.0.push(attempt);
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let open = async |_| Ok::<_, SourceError>(futures_util::stream::iter([Ok::<_, SourceError>(StreamEvent::token("hi"))]));
/// let mut session = Session::builder("stream_1", open).callbacks(Attempts::default()).build();
/// session.run().await?;
/// assert_eq!(session.callbacks().0, [1]);
/// # Ok::<(), runstate_stream::SessionError>(())
/// # }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[expect(unused_variables, reason = "the names of the arguments are the documentation")]
pub trait Callbacks: Send {
    /// Called when an attempt begins: the first, a retry, or the first on a fallback. `attempt` counts from 1
    /// on each stream.
    fn on_start(&mut self, attempt: u32, is_retry: bool, is_fallback: bool) {}
    /// Called when the output is whole.
    fn on_complete(&mut self, state: &State) {}
    /// Called when an attempt failed. The next step is decided already; if both flags are false, the session is
    /// over. An abort does not call it.
    fn on_error(&mut self, error: &Failure, will_retry: bool, will_fallback: bool) {}
    /// Called for every event, tokens included.
    fn on_event(&mut self, event: &Event) {}
    /// Called for each violation that a rule found.
    fn on_violation(&mut self, violation: &Violation) {}
    /// Called before a retry on the same stream. `attempt` is the retry's number, from 1.
    fn on_retry(&mut self, attempt: u32, reason: &str) {}
    /// Called when the next stream starts. `index` is the number of the fallback, from 0.
    fn on_fallback(&mut self, index: u32, reason: &str) {}
    /// Called when an attempt continues from a checkpoint.
    fn on_resume(&mut self, checkpoint: &str, token_count: u64) {}
    /// Called when a checkpoint was saved.
    fn on_checkpoint(&mut self, checkpoint: &str, token_count: u64) {}
    /// Called when no token arrived in time. `elapsed_ms` is in milliseconds.
    fn on_timeout(&mut self, timeout_type: TimeoutType, elapsed_ms: u64) {}
    /// Called when the session was aborted. `content_length` is in bytes.
    fn on_abort(&mut self, token_count: u64, content_length: usize) {}
    /// Called when the output drifts in a way that fails the attempt. `confidence` is from 0 to 1.
    fn on_drift(&mut self, types: &[DriftKind], confidence: f64) {}
    /// Called when the model requests a tool.
    fn on_tool_call(&mut self, tool_name: &str, id: &str, args: &Value) {}
}

/// No callbacks.
impl Callbacks for () {}

impl<C: Callbacks + ?Sized> Callbacks for Box<C> {
    fn on_start(&mut self, attempt: u32, is_retry: bool, is_fallback: bool) {
        (**self).on_start(attempt, is_retry, is_fallback);
    }
    fn on_complete(&mut self, state: &State) {
        (**self).on_complete(state);
    }
    fn on_error(&mut self, error: &Failure, will_retry: bool, will_fallback: bool) {
        (**self).on_error(error, will_retry, will_fallback);
    }
    fn on_event(&mut self, event: &Event) {
        (**self).on_event(event);
    }
    fn on_violation(&mut self, violation: &Violation) {
        (**self).on_violation(violation);
    }
    fn on_retry(&mut self, attempt: u32, reason: &str) {
        (**self).on_retry(attempt, reason);
    }
    fn on_fallback(&mut self, index: u32, reason: &str) {
        (**self).on_fallback(index, reason);
    }
    fn on_resume(&mut self, checkpoint: &str, token_count: u64) {
        (**self).on_resume(checkpoint, token_count);
    }
    fn on_checkpoint(&mut self, checkpoint: &str, token_count: u64) {
        (**self).on_checkpoint(checkpoint, token_count);
    }
    fn on_timeout(&mut self, timeout_type: TimeoutType, elapsed_ms: u64) {
        (**self).on_timeout(timeout_type, elapsed_ms);
    }
    fn on_abort(&mut self, token_count: u64, content_length: usize) {
        (**self).on_abort(token_count, content_length);
    }
    fn on_drift(&mut self, types: &[DriftKind], confidence: f64) {
        (**self).on_drift(types, confidence);
    }
    fn on_tool_call(&mut self, tool_name: &str, id: &str, args: &Value) {
        (**self).on_tool_call(tool_name, id, args);
    }
}

/// Calls the callbacks of an event, and returns the number of calls that panicked. `content` is the session's
/// content.
#[inline]
pub(super) fn call<C: Callbacks>(callbacks: &mut C, event: &Event, content: &str) -> u32 {
    let told = guarded(|| callbacks.on_event(event));
    let mut panics = u32::from(told.is_err());
    if !matches!(event.kind, EventKind::Token { .. } | EventKind::TimeoutReset { .. }) {
        call_named(callbacks, &event.kind, content, &mut panics);
    }
    panics
}

fn call_named<C: Callbacks>(callbacks: &mut C, kind: &EventKind, content: &str, panics: &mut u32) {
    let mut each = |run: &mut dyn FnMut(&mut C)| *panics += u32::from(guarded(|| run(callbacks)).is_err());
    match kind {
        EventKind::SessionStart { attempt, is_retry, is_fallback }
        | EventKind::AttemptStart { attempt, is_retry, is_fallback } => {
            each(&mut |c| c.on_start(*attempt, *is_retry, *is_fallback));
        }
        EventKind::FallbackStart { to_index, reason, .. } => {
            each(&mut |c| c.on_fallback(to_index.saturating_sub(1), reason.name()));
            each(&mut |c| c.on_start(1, false, true));
        }
        EventKind::Complete { state } => each(&mut |c| c.on_complete(state)),
        EventKind::Error(error) => {
            let strategy = error.recovery_strategy;
            each(&mut |c| {
                c.on_error(&error.error, strategy == Strategy::Retry, strategy == Strategy::Fallback)
            });
        }
        EventKind::RetryAttempt { attempt, reason, .. } => each(&mut |c| c.on_retry(*attempt, reason.name())),
        EventKind::ResumeStart { checkpoint, token_count } => {
            each(&mut |c| c.on_resume(checkpoint, *token_count));
        }
        EventKind::CheckpointSaved { token_count, content_length } => {
            let checkpoint = content.get(..*content_length).unwrap_or(content);
            each(&mut |c| c.on_checkpoint(checkpoint, *token_count));
        }
        EventKind::AbortCompleted { token_count, content_length } => {
            each(&mut |c| c.on_abort(*token_count, *content_length));
        }
        EventKind::TimeoutTriggered { timeout_type, elapsed_ms } => {
            each(&mut |c| c.on_timeout(*timeout_type, *elapsed_ms));
        }
        EventKind::GuardrailRuleResult(result) => {
            for violation in result.fresh() {
                each(&mut |c| c.on_violation(violation));
            }
        }
        EventKind::DriftDetected { types, confidence } => each(&mut |c| c.on_drift(types, *confidence)),
        EventKind::ToolRequested(call) => {
            each(&mut |c| c.on_tool_call(&call.name, &call.id, &call.arguments))
        }
        EventKind::GuardrailPhaseStart { .. }
        | EventKind::GuardrailPhaseEnd { .. }
        | EventKind::TimeoutStart { .. }
        | EventKind::TimeoutReset { .. }
        | EventKind::RetryGiveUp { .. }
        | EventKind::FallbackEnd { .. }
        | EventKind::CheckpointRejected { .. }
        | EventKind::ContinuationStart { .. }
        | EventKind::ContentReset { .. }
        | EventKind::Token { .. }
        | EventKind::Reasoning { .. }
        | EventKind::Extra { .. }
        | EventKind::Finished { .. }
        | EventKind::Message(_)
        | EventKind::Data { .. }
        | EventKind::Progress { .. } => {}
    }
}
