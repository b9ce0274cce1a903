//! The real binary, run as a person or a script runs it; a module per command.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod absent;
#[cfg(feature = "agents")]
mod agents;
mod check;
mod crash;
mod decide;
mod diagram;
mod diff;
mod durable;
mod every_store;
#[cfg(feature = "serve")]
mod evm;
mod folders;
mod formats;
mod fuzz;
mod governed;
mod held;
mod help;
mod keyed;
mod lapses;
mod limits;
#[cfg(unix)]
mod links;
mod list;
#[cfg(unix)]
mod lossy;
#[cfg(unix)]
mod lost;
#[cfg(feature = "mcp")]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the server of the tests of its crate, of which these use a part"
)]
#[path = "../../mcp/tests/server.rs"]
mod mcp_server;
mod nothing;
mod numbers;
mod place;
#[cfg(unix)]
mod postgres;
mod program;
mod prune;
mod questions;
mod redacted;
mod repairs;
mod restored;
mod run;
mod runs;
mod schemas;
mod seal;
#[cfg(feature = "serve")]
mod serve;
#[cfg(unix)]
mod server;
mod session;
mod show;
mod shown;
mod stores;
mod stream;
mod suite;
mod table;
mod traces;
mod untrusted;
mod versions;
mod worker;
