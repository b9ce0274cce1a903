//! A tool call as one would write it without the macro: the same record and data, an enum of states, one `match`.

use runstate::decision::{Decision, Suspension};
use runstate::tool_call::CallKey;
use serde_json::Value;

#[derive(Debug)]
pub struct Record {
    pub id: String,
    pub tool: String,
    pub arguments: Value,
    pub key: CallKey,
    pub attempts: u32,
    pub suspensions: u32,
}

#[derive(Debug)]
pub enum State {
    New,
    Running,
    Suspended(Suspension),
    Resuming(Suspension, Decision),
    Succeeded(Value),
    Failed(String),
    Cancelled(String),
}

#[derive(Debug)]
pub struct Call {
    pub record: Record,
    pub state: State,
}

#[derive(Debug)]
pub enum Event {
    Start,
    Suspend(Suspension),
    Resume(Decision),
    Succeed(Value),
    Fail(String),
    Cancel(String),
}

impl Call {
    pub fn new(id: &str, tool: &str) -> Self {
        let record = Record {
            id: id.to_owned(),
            tool: tool.to_owned(),
            arguments: Value::Null,
            key: CallKey::default(),
            attempts: 0,
            suspensions: 0,
        };
        Call { record, state: State::New }
    }

    #[inline]
    pub fn apply(mut self, event: Event) -> Result<Call, Box<(Call, Event)>> {
        self.state = match (self.state, event) {
            (State::New | State::Resuming(..), Event::Start) => {
                self.record.attempts += 1;
                State::Running
            }
            (State::New | State::Running | State::Resuming(..), Event::Suspend(suspension)) => {
                self.record.suspensions += 1;
                State::Suspended(suspension)
            }
            (State::Suspended(suspension), Event::Resume(decision))
                if suspension.id == decision.suspension_id =>
            {
                State::Resuming(suspension, decision)
            }
            (State::Running | State::Resuming(..), Event::Succeed(output)) => State::Succeeded(output),
            (State::Running | State::Resuming(..), Event::Fail(error)) => State::Failed(error),
            (State::Running | State::Suspended(_) | State::Resuming(..), Event::Cancel(why)) => {
                State::Cancelled(why)
            }
            (state, event) => {
                self.state = state;
                return Err(Box::new((self, event)));
            }
        };
        Ok(self)
    }
}
