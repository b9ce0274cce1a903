//! The documented lifecycles, one to a module.

pub mod checkpoint;
pub mod decision;
pub mod derive;
pub mod resume_tool_call;
pub mod run;
pub mod run_flow;
pub mod termination;
pub mod tool_call;
pub mod tool_execution;
pub mod tool_result;
pub mod turn;
