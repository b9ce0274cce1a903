//! Agent-run and tool-call lifecycles as types.

#[cfg(feature = "diagram")]
pub mod diagram;
