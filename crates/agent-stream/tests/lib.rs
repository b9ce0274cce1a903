//! Stream sessions as the model of agent runs.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]
#![allow(unreachable_pub, reason = "lifecycles make public items wherever they are defined")]

/// The scripted streams of the tests of sessions.
#[path = "../../../tests/stream"]
#[allow(dead_code, reason = "these tests use a part of them")]
mod stream {
    pub mod flows;
    pub mod script;
    pub mod told;
}

mod ends;
mod live;
mod whole;
mod world;
