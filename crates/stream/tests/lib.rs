//! The driver of stream sessions.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod aborts;
mod backoffs;
mod collect;
mod flows;
mod hooks;
mod random;
mod records;
mod rows;
mod script;
mod sessions;
mod spoilt;
mod told;
