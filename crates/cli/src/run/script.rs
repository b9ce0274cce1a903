//! The model of a scenario: it says what the scenario says, whatever it is told.

use runstate::turn::{CallRequest, Turn};
use serde_json::Value;

use crate::scenario;

/// The turns of a scenario, by their number.
///
/// Which turn comes next is not kept here but told: a resumed run has its answers in its history, so the script goes on
/// where the run is.
#[derive(Debug)]
pub(crate) struct Script {
    turns: Vec<Turn>,
}

impl Script {
    /// The script of these turns.
    pub(crate) fn new(turns: &[scenario::Turn]) -> Self {
        Script { turns: turns.iter().map(turn).collect() }
    }

    /// The answer to an inference; `answered` is how many answers the run has already.
    ///
    /// # Errors
    /// There is no such turn.
    pub(crate) fn answer(&self, answered: usize) -> Result<Turn, String> {
        self.turns.get(answered).cloned().ok_or_else(|| {
            format!("the script has {} turns, and the run asks for turn {}", self.turns.len(), answered + 1)
        })
    }
}

fn turn(turn: &scenario::Turn) -> Turn {
    let calls = turn.calls.iter().map(|call| CallRequest {
        id: call.id.value.clone(),
        tool: call.tool.value.clone(),
        arguments: Value::Object(call.arguments.clone()),
    });
    Turn { text: turn.text.clone().unwrap_or_default(), calls: calls.collect() }
}
