//! What drives a scenario: its model, its answers, its tools.

mod answers;
mod script;

pub(crate) use answers::{Answer, Answers, Question, ask};
pub(crate) use script::Script;
