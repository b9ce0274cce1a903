//! The lifecycle of an agent run, as types.
//!
//! Each state of a run and of each of its tool calls is a type. That type owns the data of the state. A transition is
//! a method on its source state alone, so an illegal transition does not compile. A dynamic wrapper carries the same
//! states through storage. A recorder writes the transitions of a run as a trace. Tests check the trace against the
//! diagrams in the documentation, and the compiler checks those diagrams against the code.
//!
//! - [`lifecycle!`] defines a lifecycle; [`kernel`] has the traits behind it.
//! - The documented lifecycles: [`run`], [`tool_call`], [`run_flow`], [`resume_tool_call`], [`tool_execution`],
//!   [`stream_session`], [`governed_run`], [`approval`], [`service_run`], [`service_pass`]; the list of their graphs is
//!   [`lifecycles`].
//! - [`snapshot`]: the stored form of a machine.
//! - [`json`]: a reader of JSON from untrusted sources.
//! - [`trace`] and [`diagram`]: recorded transitions and documented transitions. `testing`: tools for tests of your
//!   own lifecycles.
//!
//! # Features
//! Without features the crate is the kernel, which depends on `serde` alone. Each feature enables the features that
//! it builds on.
//!
//! | feature | content | builds on |
//! |---|---|---|
//! | `snapshot` | the stored form of a machine, as JSON with a checksum | |
//! | `repair` | acceptance of stored content that a person changed: for command-line tools, not for a runtime in production | `snapshot` |
//! | `lifecycles`, a default | the ten documented lifecycles | `snapshot` |
//! | `diagram` | the parser of Mermaid state diagrams | |
//! | `trace`, a default | recording, rendering and checking of traces | `diagram` |
//! | `testing` | strategies, paths and explorers for tests | `snapshot`, `trace` |
//!
//! # Drivers and stores
//! They are crates of their own, on the public names of this one:
//!
//! | crate | content |
//! |---|---|
//! | `runstate-agent` | the driver of agent runs |
//! | `runstate-store` | stores of durable runs, and the worker that drives the stored runs |
//! | `runstate-stream` | the driver of model streams; `runstate-guardrails` has the rules for their output |
//! | `runstate-agent-stream` | a model stream as the model of agent runs |
//! | `runstate-governed` | the driver of governed runs |
//! | `runstate-service` | the driver of service runs, and the store of these runs |
//! | `runstate-review` | traces for reviewers: pages, timelines, summaries, snapshot tests, differences |
//! | `runstate-runtime` | clocks and durable files |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "lifecycles")]
#[doc(hidden)]
pub mod calendar;
#[cfg(feature = "diagram")]
pub mod diagram;
#[cfg(any(feature = "snapshot", feature = "trace"))]
pub mod json;
pub mod kernel;
#[cfg(feature = "lifecycles")]
mod lifecycle;
#[cfg(feature = "snapshot")]
pub mod snapshot;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "trace")]
pub mod trace;
#[cfg(any(feature = "lifecycles", feature = "trace"))]
mod unseen;

#[cfg(feature = "lifecycles")]
pub use lifecycle::*;

/// The graphs of the documented lifecycles in this build.
#[cfg(any(feature = "snapshot", feature = "trace"))]
fn documented_graphs() -> &'static [&'static kernel::Graph] {
    #[cfg(feature = "lifecycles")]
    return lifecycles();
    #[cfg(not(feature = "lifecycles"))]
    &[]
}

/// The examples of the README, compiled and run as doc tests.
#[cfg(all(doctest, feature = "lifecycles"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the page on migrations, compiled and run as doc tests.
#[cfg(all(doctest, feature = "lifecycles"))]
#[doc = include_str!("../docs/migrations.md")]
struct Migrations;
