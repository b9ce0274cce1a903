//! Models of Anthropic, Gemini, OpenAI's Responses and further providers, as the streams that [`runstate_stream`]
//! reads. The requests and the wire formats are genai's; the crate makes up for the gaps between genai's events and
//! the rules of a session.
//!
//! | gap of genai | this crate |
//! |---|---|
//! | a stream of Gemini or Responses that was cut ends as a whole one | [`ErrorKind::Network`](runstate_stream::ErrorKind::Network), which is retried |
//! | a stream goes on after an error | the error is the last event |
//! | errors within a stream lose their type | the kind follows from the type, from the status and from `Retry-After` |
//! | `incomplete`, a refusal, a blocked prompt | a typed reason of the end, or a failure |
//! | malformed events of Responses are skipped | a failure, which is retried |
//! | comments are dropped | [`StreamEvent::Alive`](runstate_stream::StreamEvent::Alive) |
//! | two calls of Gemini in two pieces have one id | each call has an id of its own |
//! | usage of a stream that failed is lost | it is reported before the failure |
//!
//! The README names the losses that remain.

mod client;
mod events;
mod failure;
mod model;
mod provider;
mod request;
mod watch;

pub use client::{ConfigError, Genai};
pub use events::AnswerStream;
pub use model::{GenaiModel, Opened, usage};
pub use provider::Provider;

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
