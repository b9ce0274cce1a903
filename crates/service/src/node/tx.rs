//! BUILD_TXS and SIMULATE_TXS.

use std::collections::BTreeSet;

use runstate::service_pass::{
    AnyServicePass, Build, BuildTxs, ServicePass, ServicePassStatus, Simulate, SimulateTxs,
};

use super::{Graph, fatal};
use crate::artifact::{
    Candidate, Simulation, SimulationMode, SimulationStatus, TxCall, TxKind, TxRequest, TxResult, Units,
    WalletSnapshot,
};
use crate::limit::within;
use crate::port::{CompileInput, PortError};
use crate::rows::TimelineStatus;
use crate::work::Work;

impl Graph {
    pub(super) async fn build(&self, work: &mut Work, pass: ServicePass<BuildTxs>) -> AnyServicePass {
        let mut candidates = match self.compile(work).await {
            Ok(candidates) => candidates,
            Err(error) => return fatal(work, pass, error),
        };
        // An allowance must be there before the exchange that uses it. The sort keeps the order otherwise. A second
        // allowance of a token for a contract replaces the first one, so its place is behind the use of that.
        if each_allowance_is_alone(&candidates) {
            candidates.sort_by_key(|candidate| candidate.tx.kind != TxKind::Approve);
        }
        let requests: Vec<TxRequest> = candidates.iter().map(|candidate| candidate.tx.clone()).collect();
        work.ended(
            ServicePassStatus::BuildTxs,
            TimelineStatus::Ok,
            &format!("{} transactions", requests.len()),
        );
        if let Some(plan) = &mut work.artifacts.tx_plan {
            plan.candidates = candidates;
        }
        work.artifacts.tx_requests = Some(requests);
        pass.build(Build).into()
    }

    async fn compile(&self, work: &Work) -> Result<Vec<Candidate>, PortError> {
        let (chain, wallet) = self.chain_and_wallet(&work.run)?;
        let nothing = WalletSnapshot::default();
        let input = CompileInput {
            chain,
            wallet: &wallet,
            actions: work.artifacts.tx_plan.as_ref().map_or(&[], |plan| &plan.actions),
            snapshot: work.artifacts.wallet_snapshot.as_ref().unwrap_or(&nothing),
            slippage_bps: self.config.slippage_bps,
        };
        within("the compiler", self.config.port_limit, self.ports.compiler.compile(&input)).await
    }

    pub(super) async fn simulate(&self, work: &mut Work, pass: ServicePass<SimulateTxs>) -> AnyServicePass {
        let requests = work.artifacts.tx_requests.as_deref().unwrap_or_default();
        let simulated = match self.chain_and_wallet(&work.run) {
            Ok((chain, _)) => {
                let call = self.ports.simulator.simulate(chain, requests);
                within("the simulator", self.config.port_limit, call).await
            }
            Err(error) => Err(error),
        };
        let results = match simulated {
            Ok(results) => results,
            Err(error) => return fatal(work, pass, error),
        };
        let candidates = work.artifacts.tx_plan.as_ref().map_or(&[][..], |plan| &plan.candidates);
        let nothing = WalletSnapshot::default();
        let snapshot = work.artifacts.wallet_snapshot.as_ref().unwrap_or(&nothing);
        let simulation = summarize(requests, results, assumed(candidates, snapshot));
        let ok = simulation.status == SimulationStatus::Ok;
        let is_assumed = simulation.results.iter().any(|result| result.assumed);
        let status = match (ok, simulation.assumed_allowances.is_empty() && !is_assumed) {
            (true, true) => TimelineStatus::Ok,
            (true, false) => TimelineStatus::Warn,
            (false, _) => TimelineStatus::Blocked,
        };
        work.ended(ServicePassStatus::SimulateTxs, status, &simulation.summary);
        work.artifacts.simulation = Some(simulation);
        pass.simulate(Simulate::new(ok)).into()
    }
}

fn summarize(requests: &[TxRequest], results: Vec<TxResult>, assumed_allowances: Vec<usize>) -> Simulation {
    let mode = if requests.len() > 1 { SimulationMode::Sequential } else { SimulationMode::Single };
    let reverted = results.iter().position(|result| !result.ok);
    let (status, summary) = match reverted {
        Some(place) => {
            let reason = results[place].error.as_deref().unwrap_or("without a reason");
            (SimulationStatus::Failed, format!("transaction {} reverts: {reason}", place + 1))
        }
        None if results.len() != requests.len() => {
            let (got, expected) = (results.len(), requests.len());
            (SimulationStatus::Failed, format!("{got} results for {expected} transactions"))
        }
        None => {
            let assumed = results.iter().filter(|result| result.assumed).count();
            let said = format!("{} transactions succeed", results.len());
            let said = if assumed == 0 { said } else { format!("{said}, {assumed} of them by assumption") };
            (SimulationStatus::Ok, said)
        }
    };
    Simulation { status, mode, results, assumed_allowances, summary }
}

/// Returns whether no two allowances are of one token for one contract.
fn each_allowance_is_alone(candidates: &[Candidate]) -> bool {
    let mut seen = BTreeSet::new();
    candidates.iter().all(|candidate| match &candidate.call {
        TxCall::Approve { token, spender, .. } => {
            seen.insert((token.to_ascii_lowercase(), spender.to_ascii_lowercase()))
        }
        _ => true,
    })
}

/// The positions of exchanges that use an allowance which the wallet does not have and an earlier transaction grants.
fn assumed(candidates: &[Candidate], snapshot: &WalletSnapshot) -> Vec<usize> {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let mut places = Vec::new();
    for (place, candidate) in candidates.iter().enumerate() {
        let TxCall::Swap { router, token_in, amount_in, .. } = &candidate.call else { continue };
        let given = snapshot
            .allowances
            .iter()
            .filter(|allowance| same(&allowance.token, token_in) && same(&allowance.spender, router));
        let given = given.map(|allowance| allowance.amount).max().unwrap_or(Units(0));
        let granted = candidates[..place].iter().any(|earlier| match &earlier.call {
            TxCall::Approve { token, spender, amount, .. } => {
                same(token, token_in) && same(spender, router) && amount >= amount_in
            }
            _ => false,
        });
        if given < *amount_in && granted {
            places.push(place);
        }
    }
    places
}
