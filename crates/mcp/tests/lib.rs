//! Tools of servers before agents. The server is this test program, or it is hostile.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod agent;
mod approvals;
mod calls;
mod http;
mod input;
mod server;
