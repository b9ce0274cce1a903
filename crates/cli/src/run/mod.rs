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
pub(crate) use begin::{Undriven, accept_restored, load, take};
pub(crate) use create::{Created, create, follow};
pub(crate) use driven::{Driven, Ending, How};
pub(crate) use report::report;
