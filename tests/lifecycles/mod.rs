//! The documented lifecycles.
mod catalog;
mod derive;
mod documented;
pub(crate) mod resume_tool_call;
pub(crate) mod run;
pub(crate) mod run_flow;
mod stored;
mod termination;
pub(crate) mod tool_call;
pub(crate) mod tool_execution;

use std::fmt::Debug;

use runstate::kernel::{Machine, Persist, Status};

/// Snapshots of this area go to `snapshots/` at the top, as `lifecycle__*`.
fn snapshots() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// `at` gives a machine in each status that it is asked for.
fn assert_states_are_reached<M: Machine + Persist>(all: &[M::Status], at: fn(M::Status) -> M) {
    for status in all {
        assert_eq!(at(*status).status(), *status);
    }
}

/// `ready` and `event` give, for each edge of the graph, a machine and a payload that take it.
fn assert_every_edge_is_taken<M: Machine + Debug>(
    all: &[M::Status],
    ready: fn(M::Status, &str) -> M,
    event: fn(&M, &str) -> M::Event,
) {
    let mut taken = 0;
    for status in all {
        for edge in M::GRAPH.ways_out(status.name()) {
            let machine = ready(*status, edge.event);
            let payload = event(&machine, edge.event);
            let machine = machine.apply(payload).unwrap_or_else(|refused| panic!("{edge}: {refused}"));
            assert_eq!(machine.status().name(), edge.to, "{edge}");
            taken += 1;
        }
    }
    assert_eq!(taken, M::GRAPH.edges.len());
}
