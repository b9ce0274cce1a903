//! Errors of servers.

use runstate::actor::is_unseen;

/// The longest text of a server in an error, in characters.
const MAX_TEXT: usize = 300;

/// The error of a server, or of its options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// An option cannot be used.
    #[error("the MCP server {server:?}: {reason}")]
    Option {
        /// The name of the server.
        server: String,
        /// The option, the value and the expected one.
        reason: String,
    },
    /// The server cannot be started or reached, or does not speak the protocol.
    #[error("the MCP server {server:?} cannot be used: {reason}")]
    Connect {
        /// The name of the server.
        server: String,
        /// The reason.
        reason: String,
    },
    /// The server does not list its tools, or the list cannot be used.
    #[error("the MCP server {server:?}: its tools cannot be used: {reason}")]
    Tools {
        /// The name of the server.
        server: String,
        /// The reason.
        reason: String,
    },
}

/// A text of a server on one line, without invisible characters, and short.
pub(crate) fn one_line(text: &str) -> String {
    let mut shown: String = text
        .trim()
        .chars()
        .take(MAX_TEXT)
        .map(|c| if c.is_control() || is_unseen(c) { ' ' } else { c })
        .collect();
    if text.trim().chars().nth(MAX_TEXT).is_some() {
        shown.push('…');
    }
    shown
}
