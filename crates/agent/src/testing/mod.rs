//! Models and tools for tests: a model that answers from a list, and recordings of real ones.
//!
//! - [`ScriptedModel`] answers from a list of replies.
//! - [`Cassette`] records the answers of a model and the results of tools once, and replays them without a network.

mod cassette;
mod recorded;
mod script;

pub use cassette::{Cassette, CassetteError, CassetteModel, CassetteTool, RECORD};
pub use script::{ScriptedModel, ScriptedReply};
