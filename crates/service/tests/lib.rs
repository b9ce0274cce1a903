//! Tests of the run service.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod chain;
mod fixture;
mod flow;
mod models;
mod operations;
mod plans;
mod policy;
mod ports;
mod random;
mod requests;
mod sent;
mod store;
mod worker;
