//! The fuzzer, held against systems with planted faults.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]
#![allow(unreachable_pub, reason = "lifecycles make public items wherever they are defined")]

mod conformance;
mod engine;
mod maps;
mod order;
mod payloads;
#[cfg(unix)]
mod programs;
mod regressions;
