//! Plays a case under virtual time, and records the observations.

mod drive;
mod log;
mod model;
mod plugin;
mod send;
mod store;
mod tool;
mod veil;
mod world;

pub use drive::play;
pub use log::{CallSeen, Durable, Ended, Entry, Final, Look, Seen, What};
pub use model::model_says;
pub use tool::{Checked, OUTPUT};
pub use world::RUN;
