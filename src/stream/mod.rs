//! The driver of sessions with a model's stream (document 002): it tries again, falls back, goes on from checkpoints and
//! aborts, in one order that is the same each time.
//!
//! A [`Session`] leads the typed [`StreamSession`](crate::stream_session::StreamSession) through its states and does what they
//! ask of the world: opens a stream, reads it, waits. It is polled and runs nothing behind its back, so that dropping it aborts
//! it. What it tells are [`Event`]s, tokens and lifecycle in one order: to its [`Callbacks`], to its consumer, who polls it as a
//! stream, and to its [`Recording`], which can be stored and replayed without the sources.
//!
//! | step of a failed attempt (C14) | event | callback |
//! |---|---|---|
//! | what was wrong | `TIMEOUT_TRIGGERED`, `GUARDRAIL_RULE_RESULT`, `DRIFT_DETECTED` | `on_timeout`, `on_violation`, `on_drift` |
//! | what follows is decided, once for all kinds of failure | `RETRY_GIVE_UP`, `ERROR` | `on_error` |
//! | the same stream again: the back-off | `RETRY_ATTEMPT`, then `ATTEMPT_START` | `on_retry`, then `on_start` |
//! | the next stream | `FALLBACK_START` | `on_fallback`, `on_start` |
//! | from the last checkpoint, if there is one and it is valid | `RESUME_START`, `CONTINUATION_START` | `on_resume` |
//! | what the consumer has beyond it is void (C9) | `CONTENT_RESET` | |
//!
//! # Example
//! The connection is cut in the middle. The session waits, opens the stream again and goes on; on a paused clock that takes no
//! time.
//!
//! ```
//! use runstate::stream::{Continuation, ErrorKind, Hooks, Opening, Session, SourceError, StreamEvent};
//! use std::num::NonZeroU32;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
//! # runtime.block_on(async {
//! // Anything that gives `Result<StreamEvent, E>` is a source. This one is cut when it is first read.
//! let open = async |opening: Opening| {
//!     let cut = SourceError::new(ErrorKind::Network, "connection reset");
//!     Ok::<_, SourceError>(futures_util::stream::iter(match opening.checkpoint {
//!         None => vec![Ok(StreamEvent::token("The quick ")), Ok(StreamEvent::token("brown ")), Err(cut)],
//!         // The model is told what it wrote, and says some of it again.
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
//! // Its record replays to the same end, without a source.
//! let replayed = session.recording().unwrap().replay(()).unwrap();
//! assert_eq!(replayed.result, Some(Ok(state)));
//! # Ok::<(), runstate::stream::SessionError>(())
//! # }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Limits
//! A session holds its content, and unless told otherwise its record, in memory. A callback runs on the session's task: what
//! takes long belongs elsewhere. Timers need a tokio runtime with time; lengths of content are in bytes.

mod abort;
mod builder;
mod callbacks;
mod checks;
mod continuation;
mod dispatch;
pub mod drift;
mod event;
mod failure;
mod finish;
pub mod guardrail;
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
pub mod structured;
mod text;
mod wait;

pub use crate::turn::FinishReason;
pub use abort::AbortHandle;
pub use builder::SessionBuilder;
pub use callbacks::Callbacks;
pub use continuation::Continuation;
pub use event::{ErrorEvent, Event, EventKind, GaveUp, Phase, RuleResultEvent, Strategy};
pub use failure::{Failure, SessionError};
pub use finish::OnFinish;
pub use hooks::Hooks;
pub use kind::{Category, ErrorKind};
pub use overlap::Overlap;
pub use record::{Compare, Difference, Recorded, Recording, ReplayError, Replayed};
pub use retry::{Backoff, Curve, DelayContext, Jitter, Recourse, RetryPolicy, RetryQuestion, RetryTable};
pub use session::Session;
pub use source::{BoxSource, Message, Opening, StreamEvent, ToolCall};
pub use source_error::SourceError;
pub use state::{CheckpointMark, State};
pub use text::ConsumerText;
pub use wait::{TimeoutType, Timeouts};
