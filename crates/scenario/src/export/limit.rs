//! The time limit of a run that its limit stopped.

use runstate::run::AnyRun;
use runstate::termination::TerminationReason;
use runstate_agent::RunState;
use runstate_agent::event::{AgentEvent, EventKind};

use super::Record;
use crate::Scenario;
use crate::file::Turn;
use crate::play::Played;

/// The code of the stop condition.
const TIMEOUT: &str = "timeout";

/// Moves the answer of the last step, so that the limit is reached in that step, after the recorded time. The time of commits,
/// of plugins and of stopped processes is in the record, and not in its scenario. Returns whether an answer was moved.
pub(super) fn reach(record: &Record<'_>, played: &Played, scenario: &mut Scenario) -> bool {
    let Some(recorded) = measured_ms(record.state) else { return false };
    let Some(step) = last_step(record.events) else { return false };
    // A play that goes on has the answer of another step last.
    let of_play = match measured_ms(&played.state) {
        Some(measured) if last_step(&played.committed) == Some(step) => Some(measured),
        _ => ended_ms(&played.committed, step),
    };
    let turn = (step as usize).checked_sub(1).and_then(|place| scenario.model.get_mut(place));
    let (Some(of_play), Some(turn)) = (of_play, turn) else { return false };
    move_answer(turn, recorded, of_play)
}

fn move_answer(turn: &mut Turn, recorded: u64, played: u64) -> bool {
    let before = (turn.after_ms, turn.pauses_ms.clone());
    turn.after_ms = turn.after_ms.saturating_add(recorded.saturating_sub(played));
    let mut sooner = played.saturating_sub(recorded);
    for silence in std::iter::once(&mut turn.after_ms).chain(&mut turn.pauses_ms) {
        let less = sooner.min(*silence);
        (*silence, sooner) = (*silence - less, sooner - less);
    }
    before != (turn.after_ms, turn.pauses_ms.clone())
}

/// The time after which the limit stopped the run, which its reason has: `3.004 of 3 seconds`.
fn measured_ms(state: &RunState) -> Option<u64> {
    let AnyRun::Done(run) = state.run() else { return None };
    let TerminationReason::Stopped(reason) = run.reason() else { return None };
    let (seconds, ms) =
        reason.detail().filter(|_| reason.code() == TIMEOUT)?.split_once(" of ")?.0.split_once('.')?;
    seconds.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(ms.parse().ok()?)
}

/// The step of the last answer.
fn last_step(events: &[AgentEvent]) -> Option<u32> {
    events.iter().rev().find_map(|event| match event.kind {
        EventKind::InferenceFinished { step, .. } => Some(step),
        _ => None,
    })
}

/// The time from the beginning of a run to the end of its step.
fn ended_ms(events: &[AgentEvent], step: u32) -> Option<u64> {
    let is_end =
        |event: &&AgentEvent| matches!(event.kind, EventKind::StepFinished { step: of, .. } if of == step);
    Some(events.iter().find(is_end)?.at_ms.saturating_sub(events.first()?.at_ms))
}
