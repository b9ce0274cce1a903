//! The documented lifecycles, one to a module.

pub mod stream_session;
pub mod tool_call;
