//! Requests: each is carried out at most once, and no acknowledged one is lost.

use std::collections::HashMap;

use runstate_service::{RunStep, StepName};
use serde_json::Value;

use super::super::entry::{Asked, Deed, Reply};
use super::super::people::OTHER_TRANSACTIONS;
use super::{Facts, Findings, Index, Seen};

/// The step that a request leaves.
fn step_of(deed: &Deed) -> RunStep {
    match deed {
        Deed::Create { .. } => RunStep::RunCreated,
        Deed::Start | Deed::Resume { .. } => RunStep::RunStarted,
        Deed::Approve { .. } | Deed::Reject => RunStep::HumanApproval,
        Deed::Execute => RunStep::ExecutePrep,
        Deed::Submit { .. } => RunStep::TxSubmitted,
        Deed::Poll => RunStep::TxPoll,
    }
}

/// The request of a step: the person that its actor represents.
pub(super) fn request_of(data: &Value) -> Option<&str> {
    data.get("on_behalf_of").and_then(Value::as_str)
}

pub(super) fn count(index: &Index<'_>, facts: &mut Facts) {
    for replies in index.replies.values() {
        let any = |wanted: fn(&Reply) -> bool| replies.iter().any(|reply| wanted(reply));
        let is_done = any(|reply| *reply == Reply::Done);
        let is_repeated = any(|reply| *reply == Reply::Repeated);
        facts.done += usize::from(is_done || is_repeated);
        facts.repeated += usize::from(is_repeated);
        facts.survived += usize::from(is_repeated && !is_done);
        facts.refused += usize::from(!is_done && !is_repeated);
    }
}

pub(super) fn judge(seen: &Seen, index: &Index<'_>, findings: &mut Findings<'_>) {
    let mut effects: HashMap<&str, usize> = HashMap::new();
    for step in &seen.steps {
        let (step, is_of_person) = (&step.row, step.row.actor.is_some());
        let Some(request) = request_of(&step.data) else {
            if is_of_person {
                findings.say("requests", format!("the step {} has no request", step.step));
            }
            continue;
        };
        *effects.entry(request).or_default() += 1;
        match index.by_request.get(request) {
            Some(asked) => {
                let is_same = asked.run == seen.run.id
                    && step.actor.as_deref() == Some(&asked.actor)
                    && step.step == StepName::Run(step_of(&asked.deed));
                if !is_same {
                    findings.say("requests", format!("the step {step:?} is of the request {asked:?}"));
                }
            }
            None => findings.say("requests", format!("the step {} is of an unknown request", step.step)),
        }
    }
    for asked in index.asked.iter().filter(|asked| asked.run == seen.run.id) {
        of_request(asked, effects.get(&*asked.request).copied().unwrap_or(0), index, findings);
    }
}

fn of_request(asked: &Asked, effects: usize, index: &Index<'_>, findings: &mut Findings<'_>) {
    let request = &asked.request;
    let replies = index.replies.get(&**request).map_or(&[][..], Vec::as_slice);
    let done = replies.iter().filter(|reply| ***reply == Reply::Done).count();
    if effects > 1 || done > 1 {
        let what =
            format!("the request {request} was carried out {effects} times, and reported {done} times");
        findings.say("twice", what);
    }
    if effects == 0 && index.is_done(request) {
        findings.say(
            "lost",
            format!("the acknowledged request {request} is not among the steps: {:?}", asked.deed),
        );
    }
    let is_other = |digest: &str| digest == OTHER_TRANSACTIONS;
    if let Deed::Approve { digest } = &asked.deed
        && is_other(digest)
        && effects > 0
    {
        findings.say("approvals", format!("{} approved transactions that were not shown", asked.actor));
    }
}
