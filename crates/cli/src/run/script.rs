//! The model of a scenario: it says what the scenario says, whatever it is told.

use runstate::agent::{Message, Model, ModelError, RunState};
use runstate::turn::{CallRequest, Turn};
use serde_json::Value;

use super::progress::Progress;
use crate::scenario;

/// The turns of a scenario, in order.
///
/// Which turn comes next is not kept here but read from the run's messages: a resumed run has its answers in its
/// history, so the script goes on where the run is.
#[derive(Debug)]
pub(super) struct Script<'p> {
    turns: Vec<Turn>,
    progress: &'p Progress,
}

impl<'p> Script<'p> {
    pub(super) fn new(turns: &[scenario::Turn], progress: &'p Progress) -> Self {
        Script { turns: turns.iter().map(turn).collect(), progress }
    }
}

impl Model for Script<'_> {
    fn infer(&mut self, _: u32, state: &RunState) -> Result<Turn, ModelError> {
        let answered =
            state.messages().iter().filter(|message| matches!(message, Message::Assistant(_))).count();
        let Some(turn) = self.turns.get(answered) else {
            let (have, want) = (self.turns.len(), answered + 1);
            return Err(ModelError::new(format!(
                "its script has {have} turns, and turn {want} was asked for"
            )));
        };
        self.progress.says("model", &turn.text);
        Ok(turn.clone())
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
