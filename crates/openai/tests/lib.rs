//! The adapter against servers on this machine: one from the npm registry, and one that is hostile.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]
#![allow(unreachable_pub, reason = "the parts of one harness")]

mod aimock;
mod answers;
mod conformance;
mod failures;
mod hostile;
mod keys;
mod kinds;
mod odd;
mod requests;
mod runs;
mod server;
mod thinking;
mod tls;
