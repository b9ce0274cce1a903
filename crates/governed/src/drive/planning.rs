//! PLANNING: a plan is made, and approved before any tool runs.

use runstate::governed_run::{Execute, GovernedRun, Halt, HaltReason, Planning, RunId};

use super::asking::{asked_about_plan, pending};
use super::{Governor, OpenRun, Result, Step, went};
use crate::guarded::{Ended, guarded};
use crate::notes::{PlanNote, short};
use crate::outcome::AwaitedInput;
use crate::parts::{PlanAnswer, ProposedPlan};

/// The number of plans to request before the run waits for an approver.
const MOST_PLANS: u32 = 3;

enum Considered {
    Approved(ProposedPlan, String),
    Objection(String),
    Critical(ProposedPlan, String),
    Undecided(ProposedPlan),
    TimedOut,
}

impl Governor {
    pub(super) async fn planning(&self, open: &mut OpenRun<'_>, run: GovernedRun<Planning>) -> Result<Step> {
        if let Some(id) = asked_about_plan(&open.notes) {
            let waits = AwaitedInput::Approval(pending(&open.notes, id, run.answer_by()));
            return Ok(Step::Park(run.into(), waits));
        }
        let mut objection = open.notes.plan.as_ref().and_then(|plan| plan.objection.clone());
        for _ in 0..MOST_PLANS {
            match self.consider(&open.id, run.deadline(), objection.as_deref()).await {
                Considered::TimedOut => return Step::on(run),
                Considered::Objection(why) => objection = Some(short(&why)),
                Considered::Undecided(plan) => {
                    open.notes.plan = Some(note(plan.clone(), None, None));
                    return self.ask_about_plan(open, run, &plan);
                }
                Considered::Critical(plan, risk) => {
                    open.notes.plan = Some(note(plan, None, Some(risk.clone())));
                    let halt = Halt::new(HaltReason::CriticalRisk { risk }, self.now());
                    return went(open, run.halt(halt));
                }
                Considered::Approved(plan, by) => {
                    let execute = Execute::new(plan.tools.clone(), self.now());
                    open.notes.plan = Some(note(plan, Some(by), None));
                    return went(open, run.execute(execute));
                }
            }
        }
        // PLANNING has no transition for a plan without approval. The run can be resumed, or it expires.
        open.notes.plan = Some(note(ProposedPlan::default(), None, objection.clone()));
        open.progressed(&run)?;
        Ok(Step::Park(run.into(), AwaitedInput::Plan { objection }))
    }

    async fn consider(&self, id: &RunId, deadline: Option<u64>, objection: Option<&str>) -> Considered {
        let clock = self.clock.as_ref();
        let plan = match guarded(clock, deadline, self.parts.planner.plan(id, objection)).await.in_time() {
            None => return Considered::TimedOut,
            Some(Err(why)) => return Considered::Objection(format!("there is no plan: {why}")),
            Some(Ok(plan)) => plan,
        };
        if let Some(critical) = plan.risks.iter().find(|declared| declared.risk.halts_a_plan()) {
            let risk = short(&critical.what);
            return Considered::Critical(plan, risk);
        }
        if let Some(unknown) = plan.tools.iter().find(|name| self.tool(name).is_none()) {
            return Considered::Objection(format!("the plan has a tool {unknown:?}, and there is none"));
        }
        match guarded(clock, deadline, self.parts.plan_approval.decide(id, &plan)).await {
            Ended::TimedOut => Considered::TimedOut,
            Ended::Panicked(why) => Considered::Objection(format!("the approval of the plan failed: {why}")),
            Ended::Done(PlanAnswer::Undecided) => Considered::Undecided(plan),
            Ended::Done(PlanAnswer::Refused { why }) => Considered::Objection(why),
            Ended::Done(PlanAnswer::Approved { by }) if by.trim().is_empty() => {
                Considered::Objection("the approval of the plan has no name".to_owned())
            }
            Ended::Done(PlanAnswer::Approved { by }) => Considered::Approved(plan, by),
        }
    }
}

fn note(plan: ProposedPlan, approved_by: Option<String>, objection: Option<String>) -> PlanNote {
    PlanNote { tools: plan.tools, risks: plan.risks, approved_by, objection, baseline: plan.baseline }
}
