//! A run with its tool calls, as a [`Composition`].

use crate::derive::derive_run_status;
use crate::kernel::{Edge, Stateful, Status};
use crate::run::{AnyRun, RunStatus};
use crate::tool_call::{AnyToolCall, ToolCallStatus};

use super::composition::Composition;

/// Makes a composition of a run and `calls` tool calls, in this order, for [`Composition::explore`] with [`run_rule`] and
/// [`run_invariant`].
///
/// ```
/// use runstate::testing::{run_and_calls, run_invariant, run_rule};
///
/// let explored = run_and_calls(3).explore(run_rule, run_invariant)?;
/// assert_eq!((explored.states, explored.depth), (505, 7));
///
/// // A run that may be done at any time leaves a call open.
/// let error = run_and_calls(3).explore(|_, _, _| true, run_invariant).unwrap_err();
/// assert_eq!(error.counterexample().unwrap().steps.len(), 2);
/// # Ok::<(), runstate::testing::Unproven<runstate::testing::CompositionState, runstate::testing::CompositionStep>>(())
/// ```
pub fn run_and_calls(calls: usize) -> Composition {
    Composition::new().with("run", AnyRun::GRAPH).with_each("call", calls, AnyToolCall::GRAPH)
}

/// The rule for the transitions of a run and its calls.
///
/// The run waits only when [`derive_run_status`] returns waiting. It is done only when no call is executing or
/// suspended. Calls take transitions while the run is running. While the run waits, a call may only be cancelled.
/// When the run is done, no call takes a transition.
pub fn run_rule(at: &[u8], machine: usize, edge: &'static Edge) -> bool {
    let Some((run, calls)) = at.split_first() else { return false };
    let run = status::<RunStatus>(*run);
    if machine > 0 {
        let gives_up = edge.to_index == ToolCallStatus::Cancelled.index();
        return run == RunStatus::Running || run == RunStatus::Waiting && gives_up;
    }
    match status::<RunStatus>(edge.to_index as u8) {
        RunStatus::Running => true,
        to @ (RunStatus::Waiting | RunStatus::Done) => to == derived(calls),
    }
}

/// The invariant: a done run has no executing and no suspended call.
pub fn run_invariant(at: &[u8]) -> bool {
    at.split_first().is_none_or(|(run, calls)| {
        status::<RunStatus>(*run) != RunStatus::Done || derived(calls) == RunStatus::Done
    })
}

fn derived(calls: &[u8]) -> RunStatus {
    derive_run_status(calls.iter().map(|call| status::<ToolCallStatus>(*call)))
}

fn status<S: Status>(place: u8) -> S {
    S::ALL[usize::from(place)]
}
