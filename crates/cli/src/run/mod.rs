//! The drive of a scenario in this process: its model, its tools, the answers of people, and its commits into a
//! store.

mod answers;
mod ask;
mod begin;
mod commits;
mod create;
mod driven;
mod lease;
mod mailbox;
mod progress;
mod report;

pub(crate) use answers::answers;
#[cfg(feature = "agents")]
pub(crate) use ask::{Lines, asked};
pub(crate) use begin::{Undriven, accept_restored, load, take};
#[cfg(feature = "agents")]
pub(crate) use create::create_agent_run;
pub(crate) use create::{create, follow};
pub(crate) use driven::{Driven, Ending, How};
#[cfg(feature = "agents")]
pub(crate) use progress::Progress;
pub(crate) use report::report;
