//! The documented lifecycles. Each module brings its machine to every state by legal steps (`at`) and has payloads of every
//! event, for the tests of all of them.
pub(crate) mod approval;
mod catalog;
mod checks;
mod derive;
mod documented;
mod examples;
pub(crate) mod governed_run;
mod plan_answer;
pub(crate) mod resume_tool_call;
pub(crate) mod run;
pub(crate) mod run_flow;
pub(crate) mod service_pass;
pub(crate) mod service_run;
mod stored;
pub(crate) mod stream_session;
mod tables;
mod termination;
pub(crate) mod tool_call;
pub(crate) mod tool_execution;

use checks::{
    assert_every_edge_is_taken, assert_states_are_reached, assert_stored, doctored, round_trips, snapshots,
    tables_agree, takes_its_edges,
};
