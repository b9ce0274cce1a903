//! The lifecycle of an agent run, as types.
//!
//! Each state of a run and of each of its tool calls is a type of its own that owns what is true in it; a move is a method on its
//! source state alone. So an illegal step does not compile. A dynamic wrapper carries the same states through storage, and what
//! happened is recorded as a trace that is held against the diagrams in the documentation, which the compiler holds against the
//! code.
//!
//! - [`lifecycle!`] defines a lifecycle; [`kernel`] has the traits behind it.
//! - The documented lifecycles: [`run`], [`tool_call`], [`run_flow`], [`resume_tool_call`], [`tool_execution`],
//!   [`stream_session`], [`governed_run`], [`approval`], [`service_run`]; all of them in [`lifecycles`].
//! - [`snapshot`]: a machine at rest. [`agent`]: a driver of runs. [`stream`]: a driver of model streams, and
//!   [`session_model`], which makes one the model of agent runs. [`governed`]: a driver of governed runs, and [`files`] for what must
//!   survive a crash.
//! - [`json`]: a reader of JSON that others wrote.
//! - [`trace`] and [`diagram`]: what happened, and what is documented. `testing`: for tests of your own lifecycles.
//!
//! # Features
//! Without any of them this is the kernel, which depends on `serde` alone. Each brings what it builds on.
//!
//! | feature | what it adds | builds on |
//! |---|---|---|
//! | `snapshot` | a machine at rest as JSON with a checksum | |
//! | `repair` | accepting stored content that a person changed: for commands, not for a runtime in production | `snapshot` |
//! | `lifecycles` | the nine documented lifecycles | `snapshot` |
//! | `agent`, the default | the driver of agent runs | `lifecycles` |
//! | `stream` | the driver of model streams; with `agent`, a stream as the model of a run | `lifecycles` |
//! | `governed` | the driver of governed runs | `lifecycles` |
//! | `store` | stores of durable runs, and the worker that drives what is in them | `agent`, `trace` |
//! | `diagram` | the parser of Mermaid state diagrams | |
//! | `trace` | recording, rendering and checking of traces | `diagram` |
//! | `regex` | regular expressions where a pattern is configured | |
//! | `testing` | strategies, walks, explorers and conformance suites for tests | `snapshot`, `trace` |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "lifecycles")]
mod calendar;
#[cfg(any(feature = "agent", feature = "stream", feature = "governed"))]
pub mod clock;
#[cfg(feature = "diagram")]
pub mod diagram;
#[cfg(any(feature = "agent", feature = "governed", feature = "testing"))]
pub mod files;
#[cfg(feature = "governed")]
pub mod governed;
#[cfg(any(feature = "snapshot", feature = "trace"))]
pub mod json;
pub mod kernel;
#[cfg(feature = "lifecycles")]
mod lifecycle;
#[cfg(all(feature = "agent", feature = "stream"))]
pub mod session_model;
#[cfg(feature = "snapshot")]
pub mod snapshot;
#[cfg(feature = "store")]
pub mod store;
#[cfg(feature = "stream")]
pub mod stream;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "trace")]
pub mod trace;
#[cfg(any(feature = "lifecycles", feature = "trace"))]
mod unseen;

#[cfg(feature = "lifecycles")]
pub use lifecycle::*;

/// The graphs of the documented lifecycles that this build has.
#[cfg(any(feature = "snapshot", feature = "trace"))]
fn documented_graphs() -> &'static [&'static kernel::Graph] {
    #[cfg(feature = "lifecycles")]
    return lifecycles();
    #[cfg(not(feature = "lifecycles"))]
    &[]
}

/// The tour of the README compiles and says what it says.
#[cfg(all(doctest, feature = "lifecycles"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// So do the examples of the page on migrations.
#[cfg(all(doctest, feature = "lifecycles"))]
#[doc = include_str!("../docs/migrations.md")]
struct Migrations;
