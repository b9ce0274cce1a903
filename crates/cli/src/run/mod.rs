//! Driving a scenario: its model, its tools, the answers of people, its state on disk.

mod answers;
mod ask;
mod checkpoint;
mod clock;
mod driven;
mod progress;
mod report;

pub(crate) use answers::{COMMAND_LINE, answers};
pub(crate) use driven::{Driven, Ending, How};
pub(crate) use report::report;
