//! Who is called when something happens.

use serde_json::Value;

use super::drift::DriftKind;
use super::event::{Event, EventKind, Strategy};
use super::guardrail::Violation;
use super::panics::guarded;
use super::{Failure, State, TimeoutType};

/// The thirteen callbacks of document 002, "Callback Signatures"; each does nothing unless it is written.
///
/// They are called in the order of the events, [`on_event`](Self::on_event) first and then the one for the event, before a
/// consumer of the session's stream sees it. One that panics is called again the next time; one that is slow delays the
/// session and uses up no timeout. [`Hooks`](super::Hooks) makes them from closures.
///
/// ```
/// use runstate::stream::{Callbacks, Session, SourceError, StreamEvent};
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
/// # Ok::<(), runstate::stream::SessionError>(())
/// # }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[expect(unused_variables, reason = "the names of the arguments are the documentation")]
pub trait Callbacks: Send {
    /// An attempt begins: the first, a retry, the first on a fallback. `attempt` counts from 1 on each stream.
    fn on_start(&mut self, attempt: u32, is_retry: bool, is_fallback: bool) {}
    /// The output is whole.
    fn on_complete(&mut self, state: &State) {}
    /// An attempt failed. What follows is decided; with neither, the session is over. Not called for an abort (C15).
    fn on_error(&mut self, error: &Failure, will_retry: bool, will_fallback: bool) {}
    /// Anything happened, a token among it.
    fn on_event(&mut self, event: &Event) {}
    /// A rule found something.
    fn on_violation(&mut self, violation: &Violation) {}
    /// The same stream will be tried again. `attempt` is the retry's number, from 1.
    fn on_retry(&mut self, attempt: u32, reason: &str) {}
    /// The next stream is tried. `index` is the fallback's, from 0.
    fn on_fallback(&mut self, index: u32, reason: &str) {}
    /// The attempt goes on from a checkpoint.
    fn on_resume(&mut self, checkpoint: &str, token_count: u64) {}
    /// A checkpoint was saved.
    fn on_checkpoint(&mut self, checkpoint: &str, token_count: u64) {}
    /// No token in time.
    fn on_timeout(&mut self, timeout_type: TimeoutType, elapsed_ms: u64) {}
    /// The session was aborted. `content_length` is in bytes.
    fn on_abort(&mut self, token_count: u64, content_length: usize) {}
    /// The output drifts; `confidence` is from 0 to 1.
    fn on_drift(&mut self, types: &[DriftKind], confidence: f64) {}
    /// The model asks for a tool.
    fn on_tool_call(&mut self, tool_name: &str, id: &str, args: &Value) {}
}

/// Nobody is called.
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

/// Calls those whom an event concerns, and counts those that panicked. `content` is the session's.
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
