//! Conversations: random messages for threads of runs, drivers that die at each write, and a judge.

mod case;
mod judge;
mod play;
mod store;

pub use case::{Cancel, Death, Post, Script, Step, Talk, calm, generate, shrink};
pub use judge::{broken, judge};
pub use play::{Entry, Seen, What, play};
pub use store::Process;
