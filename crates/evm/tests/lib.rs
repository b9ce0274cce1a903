//! The ports before a node on the loopback address. A test chooses its answers.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

mod compile;
mod decode;
mod flow;
mod hostile;
mod node;
mod receipts;
mod simulate;
mod wallet;
