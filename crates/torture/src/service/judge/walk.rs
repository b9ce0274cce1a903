//! The life of a run by its steps: each is legal where it stands, and the run is where they lead.

use std::collections::{BTreeMap, BTreeSet};

use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate_service::sim::SimChain;
use runstate_service::{Artifacts, RunStep, ServiceEvent, Step, StepName, StepPhase};
use serde_json::{Value, json};

use super::super::entry::{Asked, Deed};
use super::super::world::World;
use super::expected::{expected, status_of};
use super::requests::request_of;
use super::{Facts, Findings, Index, Seen};

/// The fewest noted claims of a node that lost too many drivers: a killed driver may not have noted one.
const LEAST_CLAIMS: u32 = 4;

/// A run on its way.
#[derive(Debug, Default)]
pub(super) struct Walk {
    status: Option<ServiceRunStatus>,
    statuses: Vec<ServiceRunStatus>,
    final_status: Option<FinalStatus>,
    world: Option<World>,
    wallet: Option<String>,
    answers: BTreeMap<String, Value>,
    requesters: BTreeSet<String>,
    nodes: Vec<String>,
    passes: usize,
    repairs: usize,
    repaired: usize,
    given_up: usize,
    resumed: usize,
    approved: Option<String>,
    executed: bool,
    hashes: Vec<String>,
}

/// Walks along the steps.
pub(super) fn walk(seen: &Seen, index: &Index<'_>, findings: &mut Findings<'_>) -> Walk {
    let mut walk = Walk::default();
    for step in &seen.steps {
        let asked = request_of(&step.row.data).and_then(|request| index.by_request.get(request).copied());
        if let Err(what) = walk.step(&step.row, asked, index.claims.get(&*seen.run.id).copied()) {
            findings.say("steps", format!("{} ({}): {what}", step.row.step, step.seq));
            break;
        }
    }
    walk
}

impl Walk {
    fn step(&mut self, step: &Step, asked: Option<&Asked>, claims: Option<u32>) -> Result<(), String> {
        use ServiceRunStatus::*;
        let status = self.status;
        let refused = || Err(format!("it stands where the run is {status:?}"));
        let run = match step.step {
            StepName::Node(_) if status != Some(Running) => return refused(),
            StepName::Node(node) => return self.node(node.name(), step, claims),
            StepName::Run(run) => run,
        };
        let deed = asked.map(|asked| &asked.deed);
        match (run, deed, status) {
            (RunStep::RunCreated, Some(Deed::Create { world, wallet }), None) => {
                (self.world, self.wallet) = (Some(world.clone()), wallet.clone());
                self.requesters.extend(step.actor.clone());
                self.to(Created);
            }
            (RunStep::RunStarted, Some(Deed::Start), Some(Created)) => self.begin(),
            (RunStep::RunStarted, Some(Deed::Resume { answers, world }), Some(Paused)) => {
                self.resumed = 1;
                self.resume(answers, world.as_ref())?;
                self.requesters.extend(step.actor.clone());
                self.begin();
            }
            (RunStep::HumanApproval, Some(Deed::Approve { digest }), Some(AwaitingApproval)) => {
                if step.data["decision"] != "approved" || step.data["digest"] != **digest {
                    return Err(format!("the approval of {digest} is stored as {}", step.data));
                }
                let actor = step.actor.clone().unwrap_or_default();
                if self.requesters.contains(&actor) {
                    return Err(format!("{actor} requested the run and approved it"));
                }
                self.approved = Some(digest.clone());
                self.to(ApprovedReady);
            }
            (RunStep::HumanApproval, Some(Deed::Reject), Some(AwaitingApproval)) => {
                if step.data["decision"] != "rejected" {
                    return Err(format!("the rejection is stored as {}", step.data));
                }
                self.to(Rejected);
            }
            (RunStep::ExecutePrep, Some(Deed::Execute), Some(ApprovedReady)) => {
                if step.data["digest"].as_str() != self.approved.as_deref() {
                    return Err(format!("{} is handed out, and {:?} approved", step.data, self.approved));
                }
                self.executed = true;
            }
            (RunStep::TxSubmitted, Some(Deed::Submit { hashes }), Some(ApprovedReady | Submitted)) => {
                if step.data["tx_hashes"] != json!(hashes) {
                    return Err(format!("the hashes {hashes:?} are stored as {}", step.data));
                }
                self.hashes.extend(hashes.clone());
                self.to(Submitted);
            }
            (RunStep::TxPoll, Some(Deed::Poll), Some(Submitted)) => {}
            (RunStep::TxConfirmed, None, Some(Submitted)) => self.to(Confirmed),
            (RunStep::TxReverted, None, Some(Submitted)) => self.to(Reverted),
            _ => return refused(),
        }
        Ok(())
    }

    fn to(&mut self, status: ServiceRunStatus) {
        self.status = Some(status);
        // A run may be RUNNING within one change; then no event has that status.
        if status != ServiceRunStatus::Running && self.statuses.last() != Some(&status) {
            self.statuses.push(status);
        }
    }

    fn begin(&mut self) {
        self.passes += 1;
        self.nodes.clear();
        self.to(ServiceRunStatus::Running);
    }

    fn resume(&mut self, answers: &BTreeMap<String, Value>, world: Option<&World>) -> Result<(), String> {
        if let Some(world) = world {
            if self.final_status != Some(FinalStatus::Noop) {
                return Err(format!("a new intent for a run that is {:?}", self.final_status));
            }
            self.world = Some(world.clone());
            self.answers.clear();
        }
        self.answers.extend(answers.clone());
        if let Some(wallet) = answers.get("wallet_address").and_then(Value::as_str) {
            self.wallet = Some(wallet.to_owned());
        }
        Ok(())
    }

    /// A step of a node: the nodes of a pass are those of the tables.
    fn node(&mut self, node: &str, step: &Step, claims: Option<u32>) -> Result<(), String> {
        if step.phase == StepPhase::Started {
            self.nodes.push(node.to_owned());
            return Ok(());
        }
        if usize::try_from(step.pass) != Ok(self.passes) {
            return Err(format!("it is of pass {}, and pass {} executes", step.pass, self.passes));
        }
        let Some(world) = &self.world else { return Err("the run has no world".to_owned()) };
        if step.summary.starts_with("the node lost 5 drivers") {
            self.given_up += 1;
            return match claims {
                Some(claims) if claims >= LEAST_CLAIMS => Ok(()),
                _ => Err(format!("it is given up after {claims:?} claims")),
            };
        }
        if node != "FINALIZE" {
            return Ok(());
        }
        let outcome = expected(world, self.wallet.as_deref(), &self.answers);
        let final_status = if self.given_up > 0 { FinalStatus::Failed } else { outcome.final_status };
        let done = self.nodes.len() - 1;
        let is_expected = match self.given_up {
            0 => self.nodes == outcome.nodes,
            _ => outcome.nodes.len() > done && self.nodes[..done] == outcome.nodes[..done],
        };
        if !is_expected {
            return Err(format!("the nodes are {:?}, expected {:?}", self.nodes, outcome.nodes));
        }
        (self.repairs, self.repaired) = (outcome.repairs, self.repaired + outcome.repairs);
        self.final_status = Some(final_status);
        self.to(status_of(final_status));
        Ok(())
    }

    /// Compares the end of the way with the stored run, its events, and the chain.
    pub(super) fn compare(
        &self,
        seen: &Seen,
        index: &Index<'_>,
        chain: &SimChain,
        findings: &mut Findings<'_>,
    ) {
        let run = &seen.run;
        if Some(run.status) != self.status || run.final_status != self.final_status {
            let expected = (self.status, self.final_status);
            findings.say(
                "outcomes",
                format!("it is {}, {:?}; expected {expected:?}", run.status, run.final_status),
            );
        }
        let mut statuses = Vec::new();
        for event in &seen.events {
            match &event.row.event {
                ServiceEvent::Status { status, .. }
                    if *status != ServiceRunStatus::Running && statuses.last() != Some(status) =>
                {
                    statuses.push(*status);
                }
                _ => {}
            }
        }
        if statuses != self.statuses {
            findings.say("events", format!("the statuses are {statuses:?}, expected {:?}", self.statuses));
        }
        let artifacts = match Artifacts::from_map(&run.artifacts) {
            Ok(artifacts) => artifacts,
            Err(error) => return findings.say("artifacts", error),
        };
        if artifacts.user_inputs != self.answers {
            let (got, expected) = (json!(artifacts.user_inputs), json!(self.answers));
            findings.say("answers", format!("the run has {got}, expected {expected}"));
        }
        if artifacts.tx_plan_history.len() != self.repairs && self.given_up == 0 && self.passes > 0 {
            findings.say("outcomes", format!("{} plans before repairs", artifacts.tx_plan_history.len()));
        }
        if index.paid.contains_key(&*run.id) && !self.executed {
            findings.say("approvals", "transactions were sent, and none was handed out");
        }
        self.compare_chain(run.status, &artifacts, chain, findings);
    }

    fn compare_chain(
        &self,
        status: ServiceRunStatus,
        artifacts: &Artifacts,
        chain: &SimChain,
        findings: &mut Findings<'_>,
    ) {
        let txs = artifacts.tx_requests.as_deref().unwrap_or_default();
        if self.hashes.len() > txs.len() {
            findings.say("chain", format!("{} hashes for {} transactions", self.hashes.len(), txs.len()));
        }
        let receipts = self.hashes.iter().zip(txs).map(|(hash, tx)| {
            let receipt = chain.receipt_of(hash).filter(|receipt| receipt.difference(hash, tx).is_none());
            receipt.map(|receipt| receipt.success)
        });
        let receipts: Vec<Option<bool>> = receipts.collect();
        let is_true = match status {
            ServiceRunStatus::Confirmed => {
                receipts.len() == txs.len() && receipts.iter().all(|receipt| *receipt == Some(true))
            }
            ServiceRunStatus::Reverted => receipts.contains(&Some(false)),
            _ => true,
        };
        let is_poor = self.world.as_ref().is_some_and(|world| world.is_poor);
        let is_fit = match status {
            ServiceRunStatus::Confirmed => !is_poor,
            ServiceRunStatus::Reverted => is_poor,
            _ => true,
        };
        if !is_true || !is_fit {
            findings.say("chain", format!("the run is {status}, and its receipts are {receipts:?}"));
        }
    }

    /// The hashes of the sent transactions.
    pub(super) fn hashes(&self) -> &[String] {
        &self.hashes
    }

    pub(super) fn count(&self, facts: &mut Facts) {
        facts.passes += self.passes;
        facts.repaired += self.repaired;
        facts.given_up += self.given_up;
        facts.resumed += self.resumed;
    }
}
