//! The nodes of the graph. A node takes the pass in its state and returns it in the next one.

mod end;
mod input;
mod plan;
mod review;
mod tx;

use std::sync::Arc;

use runstate::service_pass::{AnyServicePass, Finish, ServicePassStatus};
use runstate::service_run::AnyServiceRun;

use crate::artifact::FatalError;
use crate::config::{Chain, Config};
use crate::port::{PortError, Ports};
use crate::rows::TimelineStatus;
use crate::work::Work;

/// The graph: its ports and its configuration.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    pub(crate) ports: Ports,
    pub(crate) config: Arc<Config>,
}

/// A result that the machine cannot refuse, because the node checked the condition.
fn sure<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| unreachable!("the node checks the condition of its transition: {error}"))
}

impl Graph {
    /// Executes the nodes without input or output, up to the next node with it, or to the end of the run's pass.
    pub(crate) fn settle(&self, work: &mut Work) {
        while let Some(pass) = work.pass.take() {
            if self.does_io(pass.status()) {
                work.pass = Some(pass);
                return;
            }
            let next = match pass {
                AnyServicePass::InputNormalize(pass) => self.normalize(work, pass),
                AnyServicePass::Precheck(pass) => self.precheck(work, pass),
                AnyServicePass::PlanTx(pass) => self.plan_by_phrase(work, pass),
                AnyServicePass::PolicyEval(pass) => self.policy(work, pass),
                AnyServicePass::SecurityEval(pass) => self.security(work, pass),
                AnyServicePass::JudgeAgent(pass) => self.without_judge(work, pass),
                AnyServicePass::RepairRouter(pass) => self.route(work, pass),
                AnyServicePass::Clarify(pass) => self.clarify(work, pass),
                AnyServicePass::Finalize(pass) => return self.finalize(work, pass),
                io @ (AnyServicePass::WalletSnapshot(_)
                | AnyServicePass::BuildTxs(_)
                | AnyServicePass::SimulateTxs(_)
                | AnyServicePass::RepairPlanTx(_)) => unreachable!("{} does I/O", io.status()),
            };
            work.enter(next);
        }
    }

    /// Fails the pass at a node whose drivers were lost.
    pub(crate) fn give_up(&self, work: &mut Work, lost: u32) {
        let Some(pass) = work.pass.take() else { return };
        if pass.status() == ServicePassStatus::Finalize {
            work.pass = Some(pass);
            return;
        }
        let error = format!("the node lost {lost} drivers, which ended without a result");
        let next = fatal(work, pass, error);
        work.enter(next);
    }

    /// Executes the node at which the pass stands, which does I/O.
    pub(crate) async fn perform(&self, work: &mut Work) {
        let Some(pass) = work.pass.take() else { return };
        let next = match pass {
            AnyServicePass::WalletSnapshot(pass) => self.read_wallet(work, pass).await,
            AnyServicePass::PlanTx(pass) => self.plan(work, pass).await,
            AnyServicePass::BuildTxs(pass) => self.build(work, pass).await,
            AnyServicePass::SimulateTxs(pass) => self.simulate(work, pass).await,
            AnyServicePass::JudgeAgent(pass) => self.judge(work, pass).await,
            AnyServicePass::RepairPlanTx(pass) => self.plan_again(work, pass).await,
            pure => {
                work.pass = Some(pure);
                return;
            }
        };
        work.enter(next);
    }

    /// Returns whether the node calls a port.
    pub(crate) fn does_io(&self, node: ServicePassStatus) -> bool {
        match node {
            ServicePassStatus::WalletSnapshot
            | ServicePassStatus::BuildTxs
            | ServicePassStatus::SimulateTxs
            | ServicePassStatus::RepairPlanTx => true,
            ServicePassStatus::PlanTx => self.ports.planner.is_some(),
            ServicePassStatus::JudgeAgent => self.ports.judge.is_some(),
            ServicePassStatus::InputNormalize
            | ServicePassStatus::Precheck
            | ServicePassStatus::PolicyEval
            | ServicePassStatus::SecurityEval
            | ServicePassStatus::RepairRouter
            | ServicePassStatus::Clarify
            | ServicePassStatus::Finalize => false,
        }
    }

    /// The chain and the wallet of a run that passed PRECHECK. The chain may have left the configuration since.
    fn chain_and_wallet(&self, run: &AnyServiceRun) -> Result<(&Chain, String), PortError> {
        let record = run.record();
        let chain = record.chain_id().and_then(|id| self.config.chain(id));
        match (chain, record.wallet()) {
            (Some(chain), Some(wallet)) => Ok((chain, wallet.to_owned())),
            _ => {
                let reason = "the chain of the run is not configured".to_owned();
                Err(PortError::Refused { port: "configuration", reason })
            }
        }
    }
}

/// Ends the pass with a fatal error, and notes the error.
fn fatal(work: &mut Work, pass: impl Into<AnyServicePass>, error: impl std::fmt::Display) -> AnyServicePass {
    let pass = pass.into();
    let (step, error) = (pass.status(), error.to_string());
    work.ended(step, TimelineStatus::Failed, &error);
    work.artifacts.fatal_error = Some(FatalError { step, error: error.clone() });
    sure(pass.apply(Finish::fatal(error).into()))
}
