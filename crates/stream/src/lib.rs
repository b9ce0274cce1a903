//! The driver of a session with a model's stream: retries, fallbacks, checkpoints and aborts, in one fixed
//! order.
//!
//! A [`Session`] leads the typed [`StreamSession`](runstate::stream_session::StreamSession) through its states.
//! For each state the session does the I/O that the state needs: it opens a stream, reads a stream, or waits.
//! The session is polled and spawns no task, so that dropping it aborts it. Its output is [`Event`]s: tokens
//! and lifecycle in one order. The session gives each event to its [`Callbacks`], to its consumer, which polls
//! the session as a stream, and to its [`Recording`], which can be stored and replayed without the sources.
//!
//! | step of a failed attempt | event | callback |
//! |---|---|---|
//! | cause: a time limit | `TIMEOUT_TRIGGERED` | `on_timeout` |
//! | cause: a rule, or drift | `GUARDRAIL_RULE_RESULT`, `DRIFT_DETECTED` | `on_violation`, `on_drift` |
//! | the decision on the next step, one for all kinds of failure | `RETRY_GIVE_UP`, `ERROR` | `on_error` |
//! | a retry on this stream, after its backoff | `RETRY_ATTEMPT`, then `ATTEMPT_START` | `on_retry`, then `on_start` |
//! | the next stream | `FALLBACK_START` | `on_fallback`, `on_start` |
//! | from the last checkpoint, if it is valid | `RESUME_START`, `CONTINUATION_START` | `on_resume` |
//! | the text after the checkpoint becomes void for the consumer | `CONTENT_RESET` | |
//!
//! # Example
//! The connection breaks in the middle. The session waits, opens the stream again and continues. On a paused
//! clock the wait takes no time.
//!
//! ```
//! use runstate_stream::{Continuation, ErrorKind, Hooks, Opening, Session, SourceError, StreamEvent};
//! use std::num::NonZeroU32;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
//! # runtime.block_on(async {
//! // Any stream of `Result<StreamEvent, E>` is a source. This source breaks on the first attempt.
//! let open = async |opening: Opening| {
//!     let cut = SourceError::new(ErrorKind::Network, "connection reset");
//!     Ok::<_, SourceError>(futures_util::stream::iter(match opening.checkpoint {
//!         None => vec![Ok(StreamEvent::token("The quick ")), Ok(StreamEvent::token("brown ")), Err(cut)],
//!         // The prompt shows the model its earlier text, and the model repeats some of it.
//!         Some(_) => vec![Ok(StreamEvent::token("quick brown fox"))],
//!     }))
//! };
//! let hooks = Hooks::new().on_retry(|attempt, reason| println!("retry {attempt} after {reason}"));
//! let mut session = Session::builder("stream_1", open)
//!     .continuation(Continuation::every(NonZeroU32::MIN))
//!     .callbacks(hooks)
//!     .build();
//! let state = session.run().await?;
//! assert_eq!((state.content.as_str(), state.attempts), ("The quick brown fox", 2));
//!
//! // The recording replays to an equal end, without a source.
//! let replayed = session.recording().unwrap().replay(()).unwrap();
//! assert_eq!(replayed.result, Some(Ok(state)));
//! # Ok::<(), runstate_stream::SessionError>(())
//! # }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Limits
//! A session holds its content in memory, and its record too unless recording is off. Callbacks run on the
//! session's task, so long work belongs on another task. Timers need a tokio runtime with time. Lengths of
//! content are in bytes.

mod abort;
mod builder;
mod callbacks;
mod checks;
mod collect_error;
mod continuation;
mod dispatch;
mod event;
mod failure;
mod finish;
mod fit;
#[cfg(feature = "adapters")]
#[doc(hidden)]
pub mod for_adapters;
mod hooks;
mod kind;
mod overlap;
mod panics;
mod random;
mod record;
mod retry;
mod session;
mod source;
mod source_error;
mod state;
mod text;
mod wait;

pub use abort::AbortHandle;
pub use builder::SessionBuilder;
pub use callbacks::Callbacks;
pub use collect_error::CollectError;
pub use continuation::Continuation;
pub use event::{ErrorEvent, Event, EventKind, GaveUp, Phase, RuleResultEvent, Strategy};
pub use failure::{Failure, SessionError};
pub use finish::OnFinish;
pub use hooks::Hooks;
pub use kind::{Category, ErrorKind};
pub use overlap::Overlap;
pub use record::{Compare, Difference, Recorded, Recording, ReplayError, Replayed};
pub use retry::{Backoff, Curve, DelayContext, Jitter, Recourse, RetryPolicy, RetryQuestion, RetryTable};
pub use runstate::turn::FinishReason;
pub use session::Session;
pub use source::{BoxSource, Message, Opening, StreamEvent, ToolCall};
pub use source_error::SourceError;
pub use state::{CheckpointMark, State};
pub use text::ConsumerText;
pub use wait::{TimeoutType, Timeouts};

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
