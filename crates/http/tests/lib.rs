//! Tests of the server.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod access;
mod agents;
mod bodies;
mod counting;
mod document;
mod fixture;
mod flow;
mod matrix;
mod redact;
mod sockets;
mod streams;
