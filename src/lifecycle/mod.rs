//! The documented lifecycles, one to a module.

pub mod checkpoint;
pub mod decision;
pub mod derive;
pub mod run;
pub mod termination;
pub mod tool_call;
pub mod tool_result;
