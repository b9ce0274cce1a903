//! Configuration of a session.

use std::fmt;
use std::future::Future;
use std::num::NonZeroU32;
use std::time::Duration;

use futures_core::Stream;
use runstate::kernel::Observer;
use runstate::turn::FinishReason;
use runstate_guardrails::drift::DriftDetector;
use runstate_guardrails::structured::Structured;
use runstate_guardrails::{Guardrail, Rules};
use runstate_runtime::clock::Clock;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::finish::{Finishes, OnFinish};
use super::fit::{Fit, Fitting};
use super::retry::{CalculateDelay, DelayContext, RetryQuestion, ShouldRetry};
use super::session::Session;
use super::source::{Factory, factory};
use super::{Callbacks, Continuation, Opening, RetryPolicy, SourceError, StreamEvent, Timeouts};

/// Builder of a [`Session`]; see [`Session::builder`].
pub struct SessionBuilder<C = ()> {
    config: Config,
    callbacks: C,
}

/// The settings of a session, except the callbacks.
pub(super) struct Config {
    pub(super) stream_id: String,
    pub(super) meta: Value,
    pub(super) streams: Vec<Factory>,
    pub(super) retry: RetryPolicy,
    pub(super) seed: Option<u64>,
    pub(super) should_retry: Option<ShouldRetry>,
    pub(super) finishes: Finishes,
    pub(super) calculate_delay: Option<CalculateDelay>,
    pub(super) rules: Rules,
    pub(super) drift: Option<DriftDetector>,
    pub(super) drift_every: Option<NonZeroU32>,
    pub(super) zero_output: bool,
    pub(super) fit: Option<Box<dyn Fit>>,
    pub(super) continuation: Option<Continuation>,
    pub(super) timeouts: Timeouts,
    pub(super) require_complete: bool,
    pub(super) record: bool,
    pub(super) clock: Option<Box<dyn Clock>>,
    pub(super) observer: Observer,
    pub(super) cancel: Option<CancellationToken>,
}

impl SessionBuilder {
    pub(super) fn new(stream_id: String, primary: Factory) -> Self {
        let config = Config {
            stream_id,
            meta: Value::Null,
            streams: vec![primary],
            retry: RetryPolicy::default(),
            seed: None,
            should_retry: None,
            finishes: Finishes::default(),
            calculate_delay: None,
            rules: Rules::new(),
            drift: None,
            drift_every: None,
            zero_output: true,
            fit: None,
            continuation: None,
            timeouts: Timeouts::default(),
            require_complete: false,
            record: true,
            clock: None,
            observer: Observer::default(),
            cancel: None,
        };
        SessionBuilder { config, callbacks: () }
    }
}

impl<C: Callbacks> SessionBuilder<C> {
    /// Adds a fallback, which is used after all earlier streams.
    pub fn fallback<F, Fut, S, E, O>(mut self, open: F) -> Self
    where
        F: FnMut(Opening) -> Fut + Send + 'static,
        Fut: Future<Output = Result<S, O>> + Send + 'static,
        S: Stream<Item = Result<StreamEvent, E>> + Send + 'static,
        E: Into<SourceError> + 'static,
        O: Into<SourceError>,
    {
        self.config.streams.push(factory(open));
        self
    }

    /// Sets the number of retries and the delay before each. Default: [`RetryPolicy::default`].
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.config.retry = policy;
        self
    }

    /// Sets the seed of the backoffs' jitter. Default: a hash of the stream's id, so that sessions that fail
    /// together do not retry together.
    pub fn seed(mut self, seed: u64) -> Self {
        self.config.seed = Some(seed);
        self
    }

    /// Sets a veto on retries that the policy allows. If the hook returns false, the next fallback follows, or
    /// the end. A hook that panics counts as a refusal, so that a broken veto costs no money.
    pub fn should_retry(mut self, hook: impl FnMut(&RetryQuestion<'_>) -> bool + Send + 'static) -> Self {
        self.config.should_retry = Some(Box::new(hook));
        self
    }

    /// Sets each backoff, in place of the delays of the policy and the provider. If the hook panics, their
    /// delay applies.
    pub fn calculate_delay(
        mut self,
        hook: impl FnMut(&DelayContext<'_>) -> Duration + Send + 'static,
    ) -> Self {
        self.config.calculate_delay = Some(Box::new(hook));
        self
    }

    /// Adds a rule that the output must satisfy.
    pub fn guardrail(mut self, rule: impl Guardrail + 'static) -> Self {
        self.config.rules.push(Box::new(rule));
        self
    }

    /// Sets the rules that the output must satisfy. Earlier rules are removed.
    pub fn guardrails(mut self, rules: Rules) -> Self {
        self.config.rules = rules;
        self
    }

    /// Sets the drift detector. Drift is a warning, and fails its attempt only if the kind has the
    /// [severity](DriftDetector::severity) of an error. Default: no detector.
    pub fn drift(mut self, detector: DriftDetector) -> Self {
        self.config.drift = Some(detector);
        self
    }

    /// Sets the number of tokens between two calls of the drift detector. Each call passes the text since the
    /// previous one. The detector is also called before a checkpoint and at the end. Default: 1.
    pub fn drift_every(mut self, tokens: NonZeroU32) -> Self {
        self.config.drift_every = (tokens.get() > 1).then_some(tokens);
        self
    }

    /// Sets the policy for answers that ended for `reason` ([`StreamEvent::Finish`]). By default an answer that
    /// reached its limit on length, or that a filter of the provider stopped, fails its attempt. Any other
    /// answer is whole. A stream that ends without a reason counts as [`FinishReason::Unknown`].
    /// The policy of [`FinishReason::Unknown`] also holds for each [`FinishReason::Other`] without a policy.
    ///
    /// ```
    /// use runstate_stream::{FinishReason, OnFinish, Session, SourceError, StreamEvent};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// # runtime.block_on(async {
    /// let open = async |_| {
    ///     let cut = [StreamEvent::token("Once upon"), StreamEvent::Finish(FinishReason::Length)];
    ///     Ok::<_, SourceError>(futures_util::stream::iter(cut.map(Ok::<_, SourceError>)))
    /// };
    /// let error = Session::builder("s", open).build().run().await.unwrap_err();
    /// assert_eq!(error.failure.message, "the answer was cut at its limit on length");
    ///
    /// let mut session = Session::builder("s", open).on_finish(FinishReason::Length, OnFinish::Accept).build();
    /// assert_eq!(session.run().await.unwrap().content, "Once upon");
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_finish(mut self, reason: FinishReason, then: OnFinish) -> Self {
        self.config.finishes.set(reason, then);
        self
    }

    /// Accepts a stream without any output. Default: such a stream fails its attempt with `ZERO_OUTPUT`.
    pub fn allow_zero_output(mut self) -> Self {
        self.config.zero_output = false;
        self
    }

    /// Requires an output that is a `T`, after repairs, and that `accept` accepts. Any other output fails its
    /// attempt, and a violation reports the reason. `accept` receives the value, its repairs and the other
    /// values of the output, so that `accept(Structured::only)` requires an output with a single value.
    /// [`Session::value`] returns the value.
    ///
    /// ```
    /// use runstate_guardrails::structured::Structured;
    /// use runstate_stream::{RetryPolicy, Session, SourceError, StreamEvent};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// # runtime.block_on(async {
    /// let open = async |_| Ok::<_, SourceError>(futures_util::stream::iter([Ok::<_, SourceError>(StreamEvent::token("[7, 11]"))]));
    /// let even = |all: &Structured<Vec<u32>>| match all.value.iter().find(|one| *one % 2 == 1) {
    ///     Some(odd) => Err(format!("{odd} is odd")),
    ///     None => Ok(()),
    /// };
    /// let mut session = Session::builder("stream_1", open).retry(RetryPolicy::none()).accept(even).build();
    /// let error = session.value::<Vec<u32>>().await.unwrap_err();
    /// assert_eq!(error.to_string(), "the JSON in the output is refused: 7 is odd (attempts: 1)");
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn accept<T, E>(
        mut self,
        accept: impl FnMut(&Structured<T>) -> Result<(), E> + Send + 'static,
    ) -> Self
    where
        T: DeserializeOwned + Send + 'static,
        E: ToString,
    {
        self.config.fit = Some(Box::new(Fitting::new(accept)));
        self
    }

    /// Sets the checkpoints, from which later attempts continue. Default: no checkpoints.
    pub fn continuation(mut self, continuation: Continuation) -> Self {
        self.config.continuation = Some(continuation);
        self
    }

    /// Sets the limits on waits for streams. Default: 60 s for the first token, 30 s between tokens.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.config.timeouts = timeouts;
        self
    }

    /// Requires [`StreamEvent::Complete`]: a stream that ends without it fails its attempt as a network
    /// failure. Default: not required.
    pub fn require_complete(mut self) -> Self {
        self.config.require_complete = true;
        self
    }

    /// Disables the recording. With a recording, a session holds each token twice. Default: enabled.
    pub fn without_recording(mut self) -> Self {
        self.config.record = false;
        self
    }

    /// Sets the clock of the events. Default: a clock that is 0 when the session is built, and that follows
    /// tokio's clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.config.clock = Some(Box::new(clock));
        self
    }

    /// Sets the observer of the lifecycle's transitions, such as a `trace::Recorder`.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.config.observer = observer;
        self
    }

    /// Sets a token whose cancellation aborts the session.
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.config.cancel = Some(token);
        self
    }

    /// Sets the user's data, which each event carries. Default: null.
    pub fn meta(mut self, meta: Value) -> Self {
        self.config.meta = meta;
        self
    }

    /// Sets the callbacks. Earlier callbacks are removed.
    pub fn callbacks<D: Callbacks>(self, callbacks: D) -> SessionBuilder<D> {
        SessionBuilder { config: self.config, callbacks }
    }

    /// Builds the session. The session does nothing until it is polled.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime if tokio's clock is paused and no [`clock`](Self::clock) was set.
    pub fn build(self) -> Session<C> {
        Session::new(self.config, self.callbacks)
    }
}

impl<C> fmt::Debug for SessionBuilder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionBuilder")
            .field("stream_id", &self.config.stream_id)
            .field("streams", &self.config.streams.len())
            .finish_non_exhaustive()
    }
}
