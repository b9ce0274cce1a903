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
mod quiet;
mod regressions;
mod state_machine;

/// Stands in for the crate `libfuzzer-sys`, with the form of its macro.
extern crate self as libfuzzer_sys;

#[macro_export]
macro_rules! fuzz_target {
    (|$bytes:ident: &[u8]| $body:expr) => {
        fn target($bytes: &[u8]) {
            $body
        }
    };
}
