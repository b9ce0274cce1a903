//! Scenarios: what is read, what is refused, what is played.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod exports;
mod faults;
mod limits;
mod play;
mod replies;
mod schema;
