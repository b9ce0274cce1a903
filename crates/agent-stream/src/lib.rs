//! A stream session as the model of agent runs. Its model calls are retried, fall back to other streams, and are
//! checked against rules.
//!
//! The crate depends on both drivers. [`runstate_agent`] and [`runstate_stream`] do not depend on each other.
//!
//! | session event | result for the run |
//! |---|---|
//! | text, until the output is complete | nothing yet; with [`SessionModel::live`], the text as it arrives |
//! | PROGRESS | the usage that [`SessionModel::progress`] reads from it, immediately; also for failed attempts, because their tokens were used |
//! | a failed attempt with text and without PROGRESS | nothing; with [`SessionModel::bounding`], an upper bound of its tokens |
//! | COMPLETE | the text of `state.content`, the calls of `state.tool_calls` in their order, `state.extra` and `state.finish` |
//! | the last ERROR, ABORT_COMPLETED | [`ModelEvent::Error`] with the [`SessionError`](runstate_stream::SessionError) as its source |
//!
//! So the text of a failed attempt is never part of the answer. Messages and additional data are not part of an
//! answer either; the session's [`Callbacks`] receive them.
//!
//! # Example
//! The first attempt is cut off. The run does not notice. Without a retry, the run ends with the error code of the
//! session.
//!
//! ```
//! use runstate_agent::{Agent, InferenceRequest, Input, RunHandles, RunState, run_loop};
//! use runstate_agent_stream::SessionModel;
//! use runstate_stream::{ErrorKind, Opening, RetryPolicy, Session, SessionBuilder, SourceError, StreamEvent};
//! use runstate::termination::TerminationReason;
//!
//! fn session(request: &InferenceRequest) -> SessionBuilder {
//!     let step = request.step;
//!     Session::builder(format!("{}/{step}", request.run), move |opening: Opening| async move {
//!         let cut = SourceError::new(ErrorKind::Network, "connection reset");
//!         Ok::<_, SourceError>(futures_util::stream::iter(match opening.attempt.number() {
//!             1 => vec![Ok(StreamEvent::token("Hel")), Err(cut)],
//!             _ => vec![Ok(StreamEvent::token(format!("Hello in step {step}")))],
//!         }))
//!     })
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
//! # runtime.block_on(async {
//! let agent = Agent::builder(SessionModel::new(session)).build()?;
//! let mut state = RunState::new("r1");
//! let outcome = run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new()).await?;
//! assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
//! assert_eq!(state.thread().last_answer().unwrap().text, "Hello in step 1");
//!
//! let impatient = SessionModel::new(|request| session(request).retry(RetryPolicy::none()));
//! let agent = Agent::builder(impatient).build()?;
//! let mut state = RunState::new("r2");
//! let outcome = run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new()).await?;
//! let said = "the model did not answer: NETWORK_ERROR: connection reset";
//! assert_eq!(outcome.reason, TerminationReason::Error(said.to_owned()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod bound;
#[cfg(feature = "testing")]
pub mod conformance;
mod void;

use std::fmt;

use futures_util::stream;
use runstate_agent::answer::{ModelEvent, Usage};
use runstate_agent::{InferenceRequest, Model, ModelStream};
use runstate_stream::{Callbacks, Session, SessionBuilder};
use serde_json::Value;

use answer::Answer;

pub use void::VoidText;

/// A model whose answers are the outputs of stream sessions, with one session per inference.
///
/// The [crate documentation](crate) has the conversion of a session to an answer, with an example. When the run is cancelled,
/// the session is aborted: it opens no more streams, and emits ABORT_COMPLETED.
pub struct SessionModel<C: Callbacks = ()> {
    how: How<C>,
    make: Make<C>,
}

type Make<C> = Box<dyn Fn(&InferenceRequest) -> SessionBuilder<C> + Send + Sync>;
type Read = Box<dyn Fn(&Value) -> Option<Usage> + Send + Sync>;
type Look<C> = Box<dyn Fn(&Session<C>) + Send + Sync>;

/// The conversion of a model's sessions to answers.
struct How<C: Callbacks> {
    read: Read,
    ended: Option<Look<C>>,
    live: bool,
    bounded: bool,
}

impl<C: Callbacks + 'static> SessionModel<C> {
    /// Creates a model. `make` returns the session for a request. The streams of the session send the request to the
    /// model. Its retries, fallbacks and rules are configured in the session.
    pub fn new(make: impl Fn(&InferenceRequest) -> SessionBuilder<C> + Send + Sync + 'static) -> Self {
        let how = How { read: Box::new(|_| None), ended: None, live: false, bounded: false };
        SessionModel { how, make: Box::new(make) }
    }

    /// Sets the function that reads newly used tokens from [`StreamEvent::Progress`] values. The form of these values
    /// depends on the streams. Default: no usage is reported.
    ///
    /// [`StreamEvent::Progress`]: runstate_stream::StreamEvent::Progress
    pub fn progress(mut self, read: impl Fn(&Value) -> Option<Usage> + Send + Sync + 'static) -> Self {
        self.how.read = Box::new(read);
        self
    }

    /// Counts a failed attempt that gave text and reported no tokens, by an upper bound: the bytes of its request and of its
    /// text. A provider charges such an attempt. The bound is reported at the end of the answer, and only if the last
    /// attempt reported its tokens or the session failed. Default: such an attempt counts nothing.
    pub fn bounding(mut self) -> Self {
        self.how.bounded = true;
        self
    }

    /// Emits text as it arrives. Default: text is emitted when the output is complete.
    ///
    /// Emitted text cannot be taken back. So a failed attempt with emitted text ends the answer with [`VoidText`],
    /// unless the next attempt continues from a checkpoint that contains all of that text. An attempt that fails
    /// before its first token is retried as usual.
    pub fn live(mut self) -> Self {
        self.how.live = true;
        self
    }

    /// Sets a callback for each session at its end: complete, failed, or aborted with its run. It can read the record
    /// and the callbacks of the session. Default: none.
    pub fn ended(mut self, look: impl Fn(&Session<C>) + Send + Sync + 'static) -> Self {
        self.how.ended = Some(Box::new(look));
        self
    }
}

impl<C: Callbacks + 'static> Model for SessionModel<C> {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let session = (self.make)(&request).build();
        let most = if self.how.bounded { bound::of_request(&request) } else { 0 };
        let answer = Answer::new(session, &self.how, request.cancelled, most);
        Box::pin(stream::unfold(answer, async |mut answer| {
            let event: ModelEvent = answer.next().await?;
            Some((event, answer))
        }))
    }
}

impl<C: Callbacks> fmt::Debug for SessionModel<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionModel").field("live", &self.how.live).finish_non_exhaustive()
    }
}

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
