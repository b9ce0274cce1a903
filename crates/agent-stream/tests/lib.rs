//! Stream sessions as the model of agent runs.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "tests")]

/// The scripted streams of the tests of sessions.
#[path = "../../stream/tests"]
#[allow(dead_code, reason = "these tests use a part of them")]
mod stream {
    pub mod script;
    pub mod sessions;
    pub mod told;
}

mod ends;
mod live;
mod whole;
mod world;
