//! Which calls wait for a person.

use std::collections::BTreeSet;

use runstate::agent::{Gate, Verdict};
use runstate::decision::Decision;
use runstate::tool_call::CallRecord;

use crate::scenario::Scenario;

/// The tools that a scenario wants approved.
#[derive(Debug)]
pub(super) struct Approval {
    tools: BTreeSet<String>,
}

/// What a call that waits for approval asks for, as a word for programs.
pub(super) const APPROVE: &str = "approve";

impl Approval {
    pub(super) fn of(scenario: &Scenario) -> Self {
        Approval { tools: scenario.approve.iter().map(|tool| tool.value.clone()).collect() }
    }
}

impl Gate for Approval {
    fn check(&self, call: &CallRecord, decision: Option<&Decision>) -> Verdict {
        match decision {
            Some(decision) if !decision.result.is_null() => Verdict::SetResult(decision.result.clone()),
            Some(_) => Verdict::Allow,
            None if self.tools.contains(call.tool()) => Verdict::Suspend {
                action: APPROVE.to_owned(),
                message: format!("may {} execute?", call.tool()),
            },
            None => Verdict::Allow,
        }
    }
}
