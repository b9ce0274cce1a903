//! The documented lifecycles, one per module.
#![expect(clippy::result_large_err, reason = "a guarded move that is refused gives machine and event back")]

mod nonce;
mod record;

pub mod actor;
pub mod approval;
mod catalog;
pub mod checkpoint;
pub mod decision;
pub mod derive;
pub mod governed_run;
pub mod resume_tool_call;
pub mod run;
pub mod run_flow;
pub mod service_pass;
pub mod service_run;
pub mod stream_session;
pub mod termination;
pub mod tool_call;
pub mod tool_execution;
pub mod tool_result;
pub mod turn;

#[cfg(feature = "trace")]
pub use catalog::rulebook;
pub use catalog::{Document, documents, lifecycles};
