//! The judge: what a pass comes to, by the tables of the source and by nothing of the driver.

use runstate::service_run::{FinalStatus, ServiceRunStatus};

use super::world::{Plan, Simulated, Verdict, World};

/// What a pass comes to.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) final_status: FinalStatus,
    /// The executed nodes, in order.
    pub(super) nodes: Vec<&'static str>,
    pub(super) repairs: usize,
}

impl Judged {
    /// "Fatal errors set fatal_error": the node before FINALIZE.
    pub(super) fn failed_at(&self) -> Option<&'static str> {
        let failed = self.final_status == FinalStatus::Failed;
        self.nodes.iter().rev().nth(1).copied().filter(|_| failed)
    }

    /// "Mapping (current)".
    pub(super) fn status(&self) -> ServiceRunStatus {
        match self.final_status {
            FinalStatus::Ready => ServiceRunStatus::AwaitingApproval,
            FinalStatus::NeedsInput | FinalStatus::Noop => ServiceRunStatus::Paused,
            FinalStatus::Blocked => ServiceRunStatus::Blocked,
            FinalStatus::Failed => ServiceRunStatus::Failed,
        }
    }
}

/// "Node Order" and "Failure Handling".
pub(super) fn expected(world: &World, answered: bool) -> Judged {
    let mut nodes = vec!["INPUT_NORMALIZE", "PRECHECK"];
    let mut repairs = 0;
    let end = |nodes: Vec<&'static str>, final_status, repairs| {
        let mut nodes = nodes;
        nodes.push("FINALIZE");
        Judged { final_status, nodes, repairs }
    };
    if !world.has_wallet {
        nodes.push("CLARIFY");
        return end(nodes, FinalStatus::NeedsInput, repairs);
    }
    nodes.push("WALLET_SNAPSHOT");
    if !world.wallet_reached {
        return end(nodes, FinalStatus::Failed, repairs);
    }
    loop {
        nodes.push(if repairs == 0 { "PLAN_TX" } else { "REPAIR_PLAN_TX" });
        match world.plans[repairs] {
            // "Invalid planner output -> fallback noop plan", "LLM errors -> degrade to safe defaults".
            Plan::Nothing | Plan::Invalid | Plan::TooMany | Plan::Unreachable => {
                return end(nodes, FinalStatus::Noop, repairs);
            }
            Plan::NoRecipient if !answered => {
                nodes.push("CLARIFY");
                return end(nodes, FinalStatus::NeedsInput, repairs);
            }
            Plan::NoRecipient | Plan::Send => {}
        }
        nodes.push("BUILD_TXS");
        if !world.compiler_reached {
            return end(nodes, FinalStatus::Failed, repairs);
        }
        nodes.push("SIMULATE_TXS");
        if world.simulated == Simulated::Unreachable {
            return end(nodes, FinalStatus::Failed, repairs);
        }
        nodes.extend(["POLICY_EVAL", "SECURITY_EVAL", "JUDGE_AGENT", "REPAIR_ROUTER"]);
        // "Simulation revert -> policy FAIL -> BLOCKED"; a contract that no list has fails the policy too.
        let policy_blocks = world.simulated == Simulated::Reverts || !world.is_allowed;
        let verdict = world.verdicts[repairs];
        // "Optional bounded repair": one.
        if verdict == Verdict::Rework && repairs == 0 {
            repairs += 1;
            continue;
        }
        nodes.push("CLARIFY");
        let blocked = policy_blocks || verdict == Verdict::Block;
        let final_status = if blocked { FinalStatus::Blocked } else { FinalStatus::Ready };
        return end(nodes, final_status, repairs);
    }
}
