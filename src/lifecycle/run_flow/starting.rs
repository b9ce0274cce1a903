//! The commit before the execution of calls that must not run twice.
#![expect(clippy::result_large_err, reason = "a refusal hands what was refused back by value")]

use std::collections::HashSet;

use super::super::checkpoint::{Due, Receipt, Trigger, WrongReceipt};
use super::super::tool_execution::{BeforeToolExecute, Started, ToolExecution};
use super::RunFlow;
use super::states::{LlmCall, ResumeAfterTool, ResumeReplay0, ResumeToolCall, ToolRound};

/// Calls that will execute and must not run twice. The fact that they were begun must be committed first.
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
    /// The pending commit, which records these calls as begun.
    pub fn due(&self) -> Due {
        self.due
    }

    /// The trace names of the calls.
    pub fn calls(&self) -> &[String] {
        &self.calls
    }

    /// Exchanges the receipt of the commit for the proofs, one for each call, in order.
    ///
    /// # Errors
    /// [`WrongReceipt`], with the calls, when the receipt is for another commit.
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
            /// Begins executions of tools that must not run twice. A commit is due before they continue. Executions
            /// that run at one time can share the commit.
            ///
            /// The proofs fit these executions only, and only executions of
            /// [this flow](crate::tool_execution::ExecutionRecord::of). Of two executions of one call in one commit,
            /// the first gets a proof and the second gets none. A replay begins a call again with another commit, and
            /// gets another proof. A flow has no list of its calls; its driver must ensure that a call executes once.
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

            /// Begins a commit of the questions of suspended calls while other calls execute. After this commit
            /// actors can decide the questions before the other calls end. No state waits for the receipt, because
            /// the next commit contains the questions too.
            pub fn questions_due(&mut self) -> Due {
                let flow = self.record().identity();
                self.record_mut().next_due(Trigger::QuestionAsked).within(flow)
            }
        }
    )+ };
}
// Calls start in the round, at the three gates, and in the window of LlmCall. The gates and the window start the
// calls that an earlier suspension left unstarted.
starting!(ToolRound, ResumeReplay0, ResumeToolCall, ResumeAfterTool, LlmCall);
