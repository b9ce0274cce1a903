//! The guards and entries of a pass's transitions.

use super::*;
use crate::kernel::{Enter, Guard, State};
use crate::service_run::{PlanFact, RunFacts};

type Checked = Result<(), ServicePassError>;

impl Enter<SimulateTxs, Simulate> for PolicyEval {
    fn enter(_: SimulateTxs, event: Simulate, _: &mut PassRecord) -> Self {
        PolicyEval { simulation_ok: event.succeeded }
    }
}

impl Enter<PolicyEval, Decide> for SecurityEval {
    fn enter(from: PolicyEval, event: Decide, _: &mut PassRecord) -> Self {
        SecurityEval { simulation_ok: from.simulation_ok, decision_blocks: event.blocks }
    }
}

impl Enter<SecurityEval, Secure> for JudgeAgent {
    fn enter(from: SecurityEval, event: Secure, _: &mut PassRecord) -> Self {
        let SecurityEval { simulation_ok, decision_blocks } = from;
        JudgeAgent { simulation_ok, decision_blocks, security_blocks: event.blocks }
    }
}

impl Enter<JudgeAgent, Judge> for RepairRouter {
    fn enter(from: JudgeAgent, event: Judge, _: &mut PassRecord) -> Self {
        let JudgeAgent { simulation_ok, decision_blocks, security_blocks } = from;
        let Judge { verdict, issues } = event;
        RepairRouter { simulation_ok, decision_blocks, security_blocks, verdict, issues }
    }
}

impl Guard<RepairRouter, Repair> for RepairPlanTx {
    type Error = ServicePassError;

    fn check(from: &RepairRouter, _: &Repair, record: &PassRecord) -> Checked {
        record.check_repair(from.verdict, &from.issues).map_err(ServicePassError::NoRepair)
    }
}

impl Enter<RepairRouter, Repair> for RepairPlanTx {
    fn enter(from: RepairRouter, _: Repair, record: &mut PassRecord) -> Self {
        record.begin_attempt();
        RepairPlanTx { issues: from.issues }
    }
}

impl Guard<RepairRouter, Accept> for Clarify {
    type Error = ServicePassError;

    fn check(from: &RepairRouter, _: &Accept, record: &PassRecord) -> Checked {
        match record.check_repair(from.verdict, &from.issues) {
            Ok(()) => Err(ServicePassError::RepairDue { issues: from.issues.clone() }),
            Err(_) => Ok(()),
        }
    }
}

impl Enter<RepairRouter, Accept> for Clarify {
    fn enter(from: RepairRouter, _: Accept, _: &mut PassRecord) -> Self {
        Clarify { facts: from.found(), missing: Vec::new(), questions: Vec::new() }
    }
}

macro_rules! asks {
    ($($From:ident),+) => { $(
        impl Guard<$From, Ask> for Clarify {
            type Error = ServicePassError;

            fn check(_: &$From, event: &Ask, _: &PassRecord) -> Checked {
                if event.missing.is_empty() && event.questions.is_empty() {
                    return Err(ServicePassError::NothingAsked);
                }
                Ok(())
            }
        }

        impl Enter<$From, Ask> for Clarify {
            fn enter(from: $From, event: Ask, _: &mut PassRecord) -> Self {
                let facts = RunFacts { needs_input: true, ..from.found() };
                Clarify { facts, missing: event.missing, questions: event.questions }
            }
        }
    )+ };
}
asks!(Precheck, PlanTx, RepairPlanTx);

/// Each node may end the pass after a fatal error. The pattern has the further reasons of the node.
macro_rules! finishes {
    ($($From:ident $([$reason:pat])?;)+) => { $(
        impl Guard<$From, Finish> for Finalize {
            type Error = ServicePassError;

            fn check(_: &$From, event: &Finish, _: &PassRecord) -> Checked {
                match &event.reason {
                    FinishReason::Fatal { .. } => Ok(()),
                    $($reason => Ok(()),)?
                    #[allow(unreachable_patterns, reason = "some nodes have more reasons than others")]
                    reason => {
                        let node = <$From as State>::STATUS;
                        Err(ServicePassError::NoSuchReason { node, reason: reason.clone() })
                    }
                }
            }
        }

        impl Enter<$From, Finish> for Finalize {
            fn enter(from: $From, event: Finish, _: &mut PassRecord) -> Self {
                finalize(<$From as State>::STATUS, from.found(), event.reason)
            }
        }
    )+ };
}
finishes! {
    InputNormalize;
    Precheck;
    WalletSnapshot;
    PlanTx [FinishReason::Noop { .. }];
    BuildTxs;
    SimulateTxs;
    PolicyEval;
    SecurityEval;
    JudgeAgent;
    RepairRouter;
    RepairPlanTx [FinishReason::Noop { .. }];
    Clarify [FinishReason::Clarified];
}

fn finalize(after: ServicePassStatus, mut facts: RunFacts, reason: FinishReason) -> Finalize {
    match reason {
        FinishReason::Fatal { .. } => facts.fatal_error = true,
        FinishReason::Noop { .. } => facts.plan = PlanFact::Noop,
        FinishReason::Clarified => {}
    }
    Finalize { after, reason, facts }
}
