//! CLARIFY and FINALIZE, and the outcome of the run.

use runstate::service_pass::{
    AnyServicePass, Clarify, Finalize, Finish, FinishReason, ServicePass, ServicePassStatus,
};
use runstate::service_run::{AgentStatus, AnyServiceRun, FinalStatus, JudgeVerdict, RunOutcome};
use serde_json::json;

use super::{Graph, sure};
use crate::artifact::{Artifacts, DecisionAction, RepairSummary};
use crate::rows::TimelineStatus;
use crate::slots::question;
use crate::work::Work;

impl Graph {
    pub(super) fn clarify(&self, work: &mut Work, pass: ServicePass<Clarify>) -> AnyServicePass {
        let node = ServicePassStatus::Clarify;
        match &mut work.artifacts.needs_input {
            Some(needs) => {
                // Existing questions stay as they are.
                if needs.questions.is_empty() {
                    needs.questions = needs.missing.iter().map(question).collect();
                }
                let count = needs.questions.len();
                work.ended(node, TimelineStatus::NeedsInput, &format!("{count} questions"));
            }
            None => work.ended(node, TimelineStatus::Ok, "no question"),
        }
        sure(pass.finish(Finish::clarified())).into()
    }

    pub(super) fn finalize(&self, work: &mut Work, pass: ServicePass<Finalize>) {
        let attempts = pass.record().attempt();
        if attempts > 1 {
            let verdict = work.artifacts.judge_result.as_ref().and_then(|result| result.verdict);
            let success = verdict == Some(JudgeVerdict::Pass);
            work.artifacts.repair_summary = Some(RepairSummary { success, attempts });
        }
        let final_status = pass.state().final_status();
        let outcome = outcome(&work.artifacts, final_status, pass.state().reason());
        let plan = work.artifacts.tx_plan.as_ref().map_or("", |plan| &plan.summary);
        let mut message = message(&outcome, plan);
        // A person must know that a judge has objections.
        let judge = work.artifacts.judge_result.as_ref().filter(|judge| judge.status == AgentStatus::Warn);
        if let (FinalStatus::Ready, Some(judge)) = (final_status, judge) {
            let issues = judge.issues.iter().map(String::as_str);
            let said: Vec<&str> =
                [judge.summary.as_str()].into_iter().chain(issues).filter(|it| !it.is_empty()).collect();
            message.push_str(&format!(" The judge does not pass it: {}.", said.join("; ")));
        }
        let mark = match final_status {
            FinalStatus::Ready | FinalStatus::Noop => TimelineStatus::Ok,
            FinalStatus::NeedsInput => TimelineStatus::NeedsInput,
            FinalStatus::Blocked => TimelineStatus::Blocked,
            FinalStatus::Failed => TimelineStatus::Failed,
        };
        work.ended(ServicePassStatus::Finalize, mark, &message);
        work.artifacts.assistant_message = Some(message);
        work.artifacts.final_status_suggested = Some(final_status);
        work.pass = Some(pass.into());
        work.finish(outcome);
    }
}

fn outcome(artifacts: &Artifacts, final_status: FinalStatus, reason: &FinishReason) -> RunOutcome {
    match final_status {
        FinalStatus::Ready => {
            let requests = artifacts.tx_requests.iter().flatten();
            RunOutcome::Ready { tx_requests: requests.map(|request| json!(request)).collect() }
        }
        FinalStatus::NeedsInput => {
            let questions = artifacts.needs_input.iter().flat_map(|needs| &needs.questions);
            RunOutcome::NeedsInput { questions: questions.map(|question| question.text.clone()).collect() }
        }
        FinalStatus::Noop => {
            let summary = match reason {
                FinishReason::Noop { summary } => summary.clone(),
                FinishReason::Fatal { .. } | FinishReason::Clarified => String::new(),
            };
            RunOutcome::Noop { summary }
        }
        FinalStatus::Blocked => RunOutcome::Blocked { reason: blocked_by(artifacts) },
        FinalStatus::Failed => {
            let error = match reason {
                FinishReason::Fatal { error } => error.clone(),
                FinishReason::Noop { .. } | FinishReason::Clarified => {
                    let simulation = artifacts.simulation.as_ref();
                    simulation.map_or_else(|| "there is no plan".into(), |it| it.summary.clone())
                }
            };
            RunOutcome::Failed { error }
        }
    }
}

/// The reasons of the policy; those of the judge where the policy does not block.
fn blocked_by(artifacts: &Artifacts) -> String {
    let decision = artifacts.decision.as_ref();
    if let Some(decision) = decision.filter(|decision| decision.action == DecisionAction::Block) {
        return decision.reasons.join("; ");
    }
    let judge = artifacts.judge_result.as_ref();
    judge.map_or_else(String::new, |result| format!("judge: {}", result.summary))
}

fn message(outcome: &RunOutcome, plan: &str) -> String {
    match outcome {
        RunOutcome::Ready { tx_requests } => match tx_requests.len() {
            1 => format!("One transaction is ready: {plan}. Please review and approve it."),
            count => format!("{count} transactions are ready: {plan}. Please review and approve them."),
        },
        RunOutcome::NeedsInput { questions } => questions.join(" "),
        RunOutcome::Noop { summary } => format!("There is nothing to do: {summary}"),
        RunOutcome::Blocked { reason } => format!("The request is blocked: {reason}"),
        RunOutcome::Failed { error } => format!("The request failed: {error}"),
    }
}

impl Work {
    /// Ends the pass of a RUNNING run with its outcome.
    fn finish(&mut self, outcome: RunOutcome) {
        self.run = match self.take_run() {
            AnyServiceRun::Running(run) => run.finish(outcome).into(),
            run => unreachable!("a pass ends while its run is RUNNING, not {}", run.status()),
        };
    }
}
