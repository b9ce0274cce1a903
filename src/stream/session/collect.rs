//! A session whose output is a value.

use std::any::TypeId;

use serde::de::DeserializeOwned;

use super::Session;
use crate::stream::structured::{CollectError, Fitting, Structured};
use crate::stream::{Callbacks, ErrorKind};

impl<C: Callbacks> Session<C> {
    /// Drives the session to its end, and gives its output as a value.
    ///
    /// An output that is no such value is a failed attempt like any other: the rule `structured` tells its violation, and what
    /// follows is the policy's, within the model's budget. It is not gone on from: its checkpoints are dropped. Usual mistakes of
    /// models are repaired first, see [`structured::read`](crate::stream::structured::read). A condition on the value is
    /// [`SessionBuilder::accept`](crate::stream::SessionBuilder::accept)'s.
    ///
    /// ```
    /// use runstate::stream::structured::{CollectError, StructuredError};
    /// use runstate::stream::{Opening, RetryPolicy, Session, SourceError, StreamEvent};
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
    /// When the last attempt's output does not fit, with what does not; or why the session ended otherwise.
    ///
    /// # Panics
    /// When it has to wait outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    /// As [`run`](Self::run): dropped half way and called again, it goes on.
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
        // It was put there above, or is of the same type; and an output that was not held against it is now.
        let mut fitting = fitting.unwrap_or_else(|| Box::new(Fitting::new(|_| Ok::<_, String>(()))));
        let last = fitting.last.take();
        match (ended, last) {
            (Ok(_), Some(Ok(value))) => Ok(value),
            // The session was over before.
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

    /// The same, for whom the value is all that matters.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    ///
    /// # Panics
    /// As [`value`](Self::value).
    ///
    /// # Cancel safety
    /// Dropped half way, the session is aborted.
    pub async fn collect<T>(mut self) -> Result<Structured<T>, CollectError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        self.value().await
    }
}
