//! The driver of stream sessions.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod aborts;
mod backoffs;
mod collect;
#[allow(dead_code, reason = "the helpers of the rules' tests, of which the tests here use a part")]
#[path = "../../guardrails/tests/cutting.rs"]
mod cutting;
mod flows;
mod hooks;
mod overlap;
mod random;
mod records;
mod rows;
mod script;
mod sessions;
mod spoilt;
mod told;
