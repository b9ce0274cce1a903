//! Agent-run and tool-call lifecycles as types.

#[cfg(feature = "lifecycles")]
pub mod agent;
#[cfg(feature = "diagram")]
pub mod diagram;
pub mod kernel;
#[cfg(feature = "lifecycles")]
mod lifecycle;
#[cfg(feature = "snapshot")]
pub mod snapshot;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "trace")]
pub mod trace;
#[cfg(feature = "lifecycles")]
pub use lifecycle::*;
