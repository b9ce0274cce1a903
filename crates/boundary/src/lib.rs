//! The drivers and stores of `runstate`, compiled as a separate crate.
//!
//! A private name of the kernel, of snapshots, of a lifecycle or of traces does not resolve here. The crate has no
//! code of its own: each of its modules could be published separately.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the files are those of `runstate`, where each of these is used"
)]

pub use runstate::{
    actor, approval, checkpoint, decision, derive, documents, governed_run, kernel, lifecycle, lifecycles,
    resume_tool_call, run, run_flow, service_run, snapshot, stream_session, termination, tool_call,
    tool_execution, tool_result, trace, turn,
};

#[path = "../../../src/agent/mod.rs"]
pub mod agent;
#[path = "../../../src/calendar.rs"]
mod calendar;
#[path = "../../../src/clock.rs"]
pub mod clock;
#[path = "../../../src/files/mod.rs"]
pub mod files;
#[path = "../../../src/governed/mod.rs"]
pub mod governed;
#[path = "../../../src/json.rs"]
mod json;
#[path = "../../../src/store/mod.rs"]
pub mod store;
#[path = "../../../src/stream/mod.rs"]
pub mod stream;
#[path = "../../../src/stream_model/mod.rs"]
pub mod stream_model;
