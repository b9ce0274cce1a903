//! The documented lifecycles, one to a module.

pub mod tool_call;
