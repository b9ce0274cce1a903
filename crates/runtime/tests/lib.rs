//! The files below the stores, on the machine's disk and on one that forgets.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod real;
mod sim;
