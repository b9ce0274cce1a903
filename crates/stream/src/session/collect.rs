//! Sessions with a typed value as their output.

use std::any::TypeId;

use runstate_guardrails::structured::Structured;
use serde::de::DeserializeOwned;

use super::super::CollectError;
use super::super::fit::Fitting;
use super::Session;
use crate::{Callbacks, ErrorKind};

impl<C: Callbacks> Session<C> {
    /// Drives the session to its end and returns its output as a value.
    ///
    /// An output that is not such a value fails its attempt: the rule `structured` reports the violation, and
    /// the policy decides on the next attempt within the model's budget. The next attempt does not continue
    /// from that output, whose checkpoints are dropped. Usual mistakes of models are repaired first, see
    /// [`structured::read`](runstate_guardrails::structured::read).
    /// [`SessionBuilder::accept`](crate::SessionBuilder::accept) adds a condition on the value.
    ///
    /// ```
    /// use runstate_guardrails::structured::StructuredError;
    /// use runstate_stream::{CollectError, Opening, RetryPolicy, Session, SourceError, StreamEvent};
    ///
    /// #[derive(Debug, serde::Deserialize)]
    /// struct Trip { to: String }
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// # runtime.block_on(async {
    /// let open = async |opening: Opening| {
    ///     let said = if opening.attempt.number() == 1 { "Oslo is nice." } else { "```json\n{'to': 'Oslo',}\n```" };
    ///     Ok::<_, SourceError>(futures_util::stream::iter([Ok::<_, SourceError>(StreamEvent::token(said))]))
    /// };
    /// let mut session = Session::builder("stream_1", open).build();
    /// let trip = session.value::<Trip>().await?;
    /// assert_eq!(trip.value.to, "Oslo");
    /// assert_eq!(session.result().unwrap().unwrap().attempts, 2);
    ///
    /// let mut session = Session::builder("stream_1", open).retry(RetryPolicy::none()).build();
    /// let Err(CollectError::Misfit { misfit, state }) = session.value::<Trip>().await else { unreachable!() };
    /// assert!(matches!(misfit, StructuredError::NoJson { .. }));
    /// assert_eq!(state.content, "Oslo is nice.");
    /// # Ok::<(), CollectError>(())
    /// # }).unwrap();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CollectError::Misfit`] if the last attempt's output does not fit, with the reason.
    /// [`CollectError::Session`] if the session ended otherwise.
    ///
    /// # Panics
    /// Panics if it has to wait outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    /// Like [`run`](Self::run): a call after a dropped future continues the session.
    pub async fn value<T>(&mut self) -> Result<Structured<T>, CollectError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let checks = &mut self.core.checks;
        if checks.fit.as_ref().is_none_or(|fit| fit.type_id() != TypeId::of::<T>()) {
            checks.fit = Some(Box::new(Fitting::<T>::new(|_| Ok::<_, String>(()))));
        }
        let ended = self.run().await;
        let fitting =
            self.core.checks.fit.take().and_then(|fit| fit.into_any().downcast::<Fitting<T>>().ok());
        // The branch above stored the value, or it has type `T` already. An output that was not checked against
        // the type is checked now.
        let mut fitting = fitting.unwrap_or_else(|| Box::new(Fitting::new(|_| Ok::<_, String>(()))));
        let last = fitting.last.take();
        match (ended, last) {
            (Ok(_), Some(Ok(value))) => Ok(value),
            // The session was over before the call.
            (Ok(state), None) => {
                fitting.read(&state.content).map_err(|misfit| CollectError::Misfit { misfit, state })
            }
            (Ok(state), Some(Err(misfit))) => Err(CollectError::Misfit { misfit, state }),
            (Err(error), Some(Err(misfit))) if error.failure.kind == ErrorKind::Guardrail => {
                Err(CollectError::Misfit { misfit, state: error.state })
            }
            (Err(error), _) => Err(CollectError::Session(error)),
        }
    }

    /// Drives the session to its end, consumes it, and returns its output as a value.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    ///
    /// # Panics
    /// As [`value`](Self::value).
    ///
    /// # Cancel safety
    /// Dropping the future aborts the session.
    pub async fn collect<T>(mut self) -> Result<Structured<T>, CollectError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        self.value().await
    }
}
