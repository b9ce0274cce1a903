//! The outcome of a pass, by the tables of the source and by nothing of the driver.

use std::collections::BTreeMap;

use runstate::service_run::{FinalStatus, ServiceRunStatus};
use serde_json::Value;

use super::super::world::{Outside, Plan, UNREAD, Verdict, World};

/// The outcome of a pass.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) final_status: FinalStatus,
    /// The executed nodes, in order.
    pub(super) nodes: Vec<&'static str>,
    pub(super) repairs: usize,
}

/// "Mapping (current)": the status of a run by the final status of its pass.
pub(super) fn status_of(final_status: FinalStatus) -> ServiceRunStatus {
    match final_status {
        FinalStatus::Ready => ServiceRunStatus::AwaitingApproval,
        FinalStatus::NeedsInput | FinalStatus::Noop => ServiceRunStatus::Paused,
        FinalStatus::Blocked => ServiceRunStatus::Blocked,
        FinalStatus::Failed => ServiceRunStatus::Failed,
    }
}

/// "Node Order" and "Failure Handling".
pub(super) fn expected(world: &World, wallet: Option<&str>, answers: &BTreeMap<String, Value>) -> Outcome {
    let mut nodes = vec!["INPUT_NORMALIZE", "PRECHECK"];
    let mut repairs = 0;
    let final_status = 'end: {
        let Some(wallet) = wallet else {
            nodes.push("CLARIFY");
            break 'end FinalStatus::NeedsInput;
        };
        nodes.push("WALLET_SNAPSHOT");
        if wallet == UNREAD {
            break 'end FinalStatus::Failed;
        }
        loop {
            nodes.push(if repairs == 0 { "PLAN_TX" } else { "REPAIR_PLAN_TX" });
            match world.plans[repairs] {
                // "Invalid planner output -> fallback noop plan", "LLM errors -> degrade to safe defaults".
                Plan::Nothing | Plan::Invalid | Plan::Unreachable => break 'end FinalStatus::Noop,
                Plan::NoRecipient if !answers.contains_key("recipient") => {
                    nodes.push("CLARIFY");
                    break 'end FinalStatus::NeedsInput;
                }
                Plan::NoRecipient | Plan::Send => {}
            }
            nodes.push("BUILD_TXS");
            if world.outside == Outside::NoCompiler {
                break 'end FinalStatus::Failed;
            }
            nodes.push("SIMULATE_TXS");
            if world.outside == Outside::NoSimulator {
                break 'end FinalStatus::Failed;
            }
            nodes.extend(["POLICY_EVAL", "SECURITY_EVAL", "JUDGE_AGENT", "REPAIR_ROUTER"]);
            let verdict = world.verdicts[repairs];
            // "Optional bounded repair": one.
            if verdict == Verdict::Rework && repairs == 0 {
                repairs += 1;
                continue;
            }
            nodes.push("CLARIFY");
            // "Simulation revert -> policy FAIL -> BLOCKED".
            let is_blocked = world.outside == Outside::Reverts || verdict == Verdict::Block;
            break 'end if is_blocked { FinalStatus::Blocked } else { FinalStatus::Ready };
        }
    };
    nodes.push("FINALIZE");
    Outcome { final_status, nodes, repairs }
}
