//! Chat completions of OpenAI-compatible servers, as the streams that [`runstate_stream`] reads.
//!
//! [`OpenAi::stream`] posts a [`Chat`] and returns its answer as a stream of server-sent events: tokens,
//! complete tool calls, and typed failures. A session makes attempts of it:
//!
//! ```no_run
//! use runstate_stream::{Opening, Session};
//! use runstate_openai::{Chat, OpenAi};
//!
//! # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
//! let server = OpenAi::new("https://api.openai.com/v1")?.with_key("sk-...")?;
//! let chat = Chat::new("gpt-5").user("Name a river.");
//! let mut session = Session::builder("river", move |opening: Opening| {
//!     let (server, mut chat) = (server.clone(), chat.clone());
//!     if let Some(checkpoint) = &opening.checkpoint {
//!         chat = chat.go_on_from(checkpoint);
//!     }
//!     async move { server.stream(&chat).await }
//! })
//! .build();
//! session.run().await?;
//! println!("{}", session.content());
//! # Ok(())
//! # }
//! ```
//!
//! # Tolerated differences between servers
//! A missing `index`, `id`, `choices` or `[DONE]`; interleaved pieces of tool calls; comments and CRLF; an
//! error in the middle of the stream; an answer that is not streamed; thinking in fields, blocks and parts of
//! the content. An answer that ends before its `finish_reason` is a failure of the network, and is retried. The
//! client follows no redirects and uses no proxy.

mod calls;
mod chat;
mod chunk;
mod client;
mod connect;
mod events;
mod model;
mod parts;
mod reader;

pub use chat::Chat;
pub use client::{ConfigError, OpenAi};
pub use events::ChatStream;
pub use model::{OpenAiModel, Opened, usage};

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
