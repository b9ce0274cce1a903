//! The documented lifecycles, one to a module.

pub mod approval;
pub mod governed_run;
pub mod service_run;
pub mod stream_session;
pub mod tool_call;
