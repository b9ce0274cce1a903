//! Calls that must not run twice, before they execute.
#![expect(clippy::result_large_err, reason = "a refusal hands what was refused back by value")]

use std::collections::HashSet;

use super::super::checkpoint::{Due, Receipt, Trigger, WrongReceipt};
use super::super::tool_execution::{BeforeToolExecute, Started, ToolExecution};
use super::RunFlow;
use super::states::{LlmCall, ResumeAfterTool, ResumeReplay0, ResumeToolCall, ToolRound};

/// Calls that are to execute and must not run twice: that they were begun is to be committed first.
///
/// ```
/// use runstate::checkpoint::without_committer;
/// use runstate::run_flow::{RunFlow, ToolRound};
/// use runstate::tool_execution::{Allow, BeforeToolExecute, ToolExecution};
///
/// fn execute(flow: &mut RunFlow<ToolRound>, gate: ToolExecution<BeforeToolExecute>) {
///     let starting = flow.calls_started([&gate]);
///     let receipt = without_committer(starting.due());
///     let [started] = starting.committed(receipt).unwrap().try_into().unwrap();
///     let open = gate.allow(Allow::once(started)).unwrap();
/// # drop(open);
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the calls do not execute before their commit"]
pub struct Starting {
    due: Due,
    calls: Vec<String>,
    started: Vec<Started>,
}

impl Starting {
    /// The commit that is due, with these calls as begun.
    pub fn due(&self) -> Due {
        self.due
    }

    /// The calls, as they are named in traces.
    pub fn calls(&self) -> &[String] {
        &self.calls
    }

    /// Committed: the proof for each call, in order.
    ///
    /// # Errors
    /// [`WrongReceipt`], with the calls, when it is for another commit.
    pub fn committed(self, receipt: Receipt) -> Result<Vec<Started>, (Self, WrongReceipt)> {
        match self.due.is_met_by(&receipt) {
            Ok(()) => Ok(self.started),
            Err(wrong) => Err((self, wrong)),
        }
    }
}

macro_rules! starting {
    ($($State:ident),+) => { $(
        impl RunFlow<$State> {
            /// Begins executions whose tools must not run twice: a commit is due before they go on. Several that are to
            /// execute at once can share it.
            ///
            /// The proofs fit these executions and no others, and only those that belong to
            /// [this flow](crate::tool_execution::ExecutionRecord::of). Of two executions
            /// of one call in one commit the first alone gets a proof. A call that another commit begins again, as a replay does, gets
            /// another one, and a flow knows no list of its calls: its driver sees to it that a call is executed once.
            pub fn calls_started<'a>(
                &mut self,
                executions: impl IntoIterator<Item = &'a ToolExecution<BeforeToolExecute>>,
            ) -> Starting {
                let flow = self.record().identity();
                let due = self.record_mut().next_due(Trigger::CallsStarted).within(flow);
                let started = executions.into_iter().map(|execution| {
                    let record = execution.record();
                    Started::of(record.call().to_owned(), record, flow)
                });
                let mut calls = HashSet::new();
                let started: Vec<Started> = started.filter(|it| calls.insert(it.call().to_owned())).collect();
                Starting { due, calls: started.iter().map(|started| started.call().to_owned()).collect(), started }
            }

            /// The commit of what calls ask while others execute. With it their questions can be decided before the others are
            /// done. No state waits for it: the questions are in the next commit as well.
            pub fn questions_due(&mut self) -> Due {
                let flow = self.record().identity();
                self.record_mut().next_due(Trigger::QuestionAsked).within(flow)
            }
        }
    )+ };
}
// Beside the round itself the three gates, and the window while the model speaks, behind which calls start that a suspension
// left of one.
starting!(ToolRound, ResumeReplay0, ResumeToolCall, ResumeAfterTool, LlmCall);
