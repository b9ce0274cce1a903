//! A stream session as the model of agent runs: a model call that tries again, falls back and is held against rules.
//!
//! It stands above both drivers: [`agent`](crate::agent) and [`stream`](crate::stream) know nothing of each other.
//!
//! | the session tells | the run is given |
//! |---|---|
//! | text, until the output is whole | nothing yet; with [`SessionModel::live`] the text as it comes |
//! | PROGRESS | what [`SessionModel::progress`] reads in it: usage at once, of failed attempts too, since it was paid for |
//! | COMPLETE | the text of `state.content`, the calls of `state.tool_calls` in their order, `state.extra` and `state.finish` |
//! | the last ERROR, ABORT_COMPLETED | [`ModelEvent::Error`] with the [`SessionError`](crate::stream::SessionError) as its source |
//!
//! So a failed attempt's text never stands in the answer (document 002, C9). Messages and data beside the text are no part of
//! an answer; the session's [`Callbacks`] see them.
//!
//! # Example
//! The first attempt is cut. The run does not notice; without a retry it ends with the session's code.
//!
//! ```
//! use runstate::agent::{Agent, InferenceRequest, Input, Io, RunState, run_loop};
//! use runstate::session_model::SessionModel;
//! use runstate::stream::{ErrorKind, Opening, RetryPolicy, Session, SessionBuilder, SourceError, StreamEvent};
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
//! let outcome = run_loop(&agent, &mut state, Input::message("hi"), Io::new()).await?;
//! assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
//! assert_eq!(state.thread().last_answer().unwrap().text, "Hello in step 1");
//!
//! let impatient = SessionModel::new(|request| session(request).retry(RetryPolicy::none()));
//! let agent = Agent::builder(impatient).build()?;
//! let mut state = RunState::new("r2");
//! let outcome = run_loop(&agent, &mut state, Input::message("hi"), Io::new()).await?;
//! let said = "the model did not answer: NETWORK_ERROR: connection reset";
//! assert_eq!(outcome.reason, TerminationReason::Error(said.to_owned()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod void;

use std::fmt;

use futures_util::stream;
use serde_json::Value;

use crate::agent::answer::{ModelEvent, Usage};
use crate::agent::{InferenceRequest, Model, ModelStream};
use crate::stream::{Callbacks, Session, SessionBuilder};
use answer::Answer;
pub use void::VoidText;

/// A model whose answers are the outputs of stream sessions, one session for each inference.
///
/// See the [module](self) for what of a session becomes what of an answer, and for an example. When the run is cancelled the
/// session is aborted: it opens no stream any more and tells ABORT_COMPLETED.
pub struct SessionModel<C: Callbacks = ()> {
    how: How<C>,
    make: Make<C>,
}

type Make<C> = Box<dyn Fn(&InferenceRequest) -> SessionBuilder<C> + Send + Sync>;
type Read = Box<dyn Fn(&Value) -> Option<Usage> + Send + Sync>;
type Look<C> = Box<dyn Fn(&Session<C>) + Send + Sync>;

/// How the sessions of a model become answers.
struct How<C: Callbacks> {
    read: Read,
    ended: Option<Look<C>>,
    live: bool,
}

impl<C: Callbacks + 'static> SessionModel<C> {
    /// Each inference is a session that `make` gives for the request: its streams ask the model what the request asks, and its
    /// retries, fallbacks and rules are the session's own.
    pub fn new(make: impl Fn(&InferenceRequest) -> SessionBuilder<C> + Send + Sync + 'static) -> Self {
        let how = How { read: Box::new(|_| None), ended: None, live: false };
        SessionModel { how, make: Box::new(make) }
    }

    /// Reads the tokens that were used, and were not told before, in what the streams give as [`StreamEvent::Progress`]; its shape is the
    /// streams' own. Without, no usage is told.
    ///
    /// [`StreamEvent::Progress`]: crate::stream::StreamEvent::Progress
    pub fn progress(mut self, read: impl Fn(&Value) -> Option<Usage> + Send + Sync + 'static) -> Self {
        self.how.read = Box::new(read);
        self
    }

    /// Gives text on as it comes, instead of when the output is whole.
    ///
    /// An answer cannot take text back. So a failed attempt of which text was given on ends the answer with [`VoidText`],
    /// unless the next attempt goes on from a checkpoint that holds all of that text. Before its first token each attempt may
    /// fail as without.
    pub fn live(mut self) -> Self {
        self.how.live = true;
        self
    }

    /// Shows each session at its end, for its record and its callbacks: whole, failed, or aborted with its run.
    pub fn ended(mut self, look: impl Fn(&Session<C>) + Send + Sync + 'static) -> Self {
        self.how.ended = Some(Box::new(look));
        self
    }
}

impl<C: Callbacks + 'static> Model for SessionModel<C> {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let session = (self.make)(&request).build();
        let answer = Answer::new(session, &self.how, request.cancelled);
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
