//! Tools of MCP servers for agents, over stdio and streamable HTTP.
//!
//! A [`Server`] is a connection to one server. [`Server::tools`] lists its tools, each a [`Tool`](runstate_agent::Tool) with
//! the name `server__tool`. A server that has ended is started, or connected to, again at the next call.
//!
//! | the server | the call |
//! |---|---|
//! | answers | succeeds; images, sounds and files are described, texts are kept |
//! | answers with `isError`, refuses the call, ends, sends a message that is too long | fails |
//! | is silent for longer than [`ServerOptions::timeout`] | fails, and the server is asked to stop the call |
//! | requires input | waits for a decision, whose result is the input |
//! | has changed the tool since the agent read it | fails, and the tool is not called |
//!
//! The server is foreign. Its tools need an approval unless the options trust the server and the server declares the tool
//! read-only. An approval is for one server, one tool and one definition of it. Sampling, roots and tasks are not advertised.

mod connection;
mod error;
mod handler;
mod held;
mod http;
mod input;
mod list;
mod open_call;
mod options;
mod output;
mod process;
mod secrets;
mod server;
mod sse;
mod tool;

pub use error::McpError;
pub use options::ServerOptions;
pub use process::end_servers;
pub use server::Server;
pub use tool::McpTool;

/// The examples of the README, compiled as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
