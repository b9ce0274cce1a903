//! Scenarios of agent runs: files that script a model, tools and people, and a player for them.
//!
//! A [`Scenario`] is data. [`play`] drives it over the agent runtime, by default under tokio's paused clock, so that minutes
//! of delays take no time and each [`Played`] is equal. [`to_text`] writes it as text for review and for comparison in CI.
//!
//! ```
//! use runstate_scenario::{Options, Scenario, play};
//!
//! let scenario = Scenario::parse("
//! name: slow
//! message: how is the weather?
//! tools:
//!   weather: {does: [{takes_ms: 60000, gives: {success: sunny}}]}
//! model:
//!   - calls: [{id: w, tool: weather}]
//!   - text: It is sunny.
//! ")?;
//! let played = play(&scenario, Options::default())?;
//! assert_eq!(played.at_ms, 60_000);
//! assert_eq!(played.effects[0].call, "w");
//! assert_eq!(played.state.thread().last_answer().unwrap().text, "It is sunny.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// The tools of `runstate run` beside the scripted ones: they work on a copy of the scenario's folder.
pub const FILE_TOOLS: &[&str] = &["list_files", "read_file", "write_file", "delete_file"];

mod check;
pub mod export;
pub mod file;
mod play;
mod read;
#[cfg(feature = "json-schema")]
pub mod schema;
mod script;
mod text;

pub use file::Scenario;
pub use play::{
    Ended, ExternalInput, Line, Options, PlayError, Played, Ready, Replied, ReplyObserver, Sent, Setting,
    Stage, Stop, play,
};
pub use read::{Refused, from_yaml, place};
pub use script::{Effect, Ledger, ModelRequest, Requests, agent};
pub use text::to_text;

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
