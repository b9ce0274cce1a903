//! The adapter against servers on this machine: the conformance suite for each wire format, and mock servers.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]
#![allow(unreachable_pub, reason = "the parts of one harness")]

mod aimock;
mod gemini;
mod headers;
mod messages;
mod odd;
mod responses;
mod wires;
