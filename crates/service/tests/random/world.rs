//! What the ports reply in a run. A reply depends on the attempt alone, so that a node that a crash repeats gets it again.

use std::sync::Arc;

use async_trait::async_trait;
use proptest::prelude::*;
use proptest::sample::select;
use runstate_service::sim::SimChain;
use runstate_service::{
    Candidate, Chain, CompileInput, Compiler, Config, Judge, JudgeInput, Planner, PlannerInput, PortError,
    Ports, Simulator, TxRequest, TxResult, Wallet, WalletSnapshot,
};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    Send,
    NoRecipient,
    Nothing,
    Invalid,
    TooMany,
    Unreachable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Simulated {
    Succeeds,
    Reverts,
    Unreachable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    /// NEEDS_REWORK with issues.
    Rework,
    /// NEEDS_REWORK without an issue.
    ReworkOfNothing,
    Block,
    Unreachable,
}

#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) has_wallet: bool,
    pub(super) wallet_reached: bool,
    /// By attempt.
    pub(super) plans: [Plan; 2],
    pub(super) compiler_reached: bool,
    pub(super) simulated: Simulated,
    pub(super) is_allowed: bool,
    /// By attempt.
    pub(super) verdicts: [Verdict; 2],
}

pub(super) fn worlds() -> impl Strategy<Value = World> {
    let plan = || {
        let rare = select(&[Plan::Nothing, Plan::Invalid, Plan::TooMany, Plan::Unreachable]);
        prop_oneof![6 => Just(Plan::Send), 2 => Just(Plan::NoRecipient), 1 => rare]
    };
    let simulated = prop_oneof![
        8 => Just(Simulated::Succeeds),
        1 => Just(Simulated::Reverts),
        1 => Just(Simulated::Unreachable),
    ];
    let verdict = || {
        prop_oneof![
            4 => Just(Verdict::Pass),
            4 => Just(Verdict::Rework),
            1 => select(&[Verdict::ReworkOfNothing, Verdict::Block, Verdict::Unreachable]),
        ]
    };
    let mostly = || prop::bool::weighted(0.9);
    (mostly(), mostly(), [plan(), plan()], mostly(), simulated, mostly(), [verdict(), verdict()]).prop_map(
        |(has_wallet, wallet_reached, plans, compiler_reached, simulated, is_allowed, verdicts)| World {
            has_wallet,
            wallet_reached,
            plans,
            compiler_reached,
            simulated,
            is_allowed,
            verdicts,
        },
    )
}

impl World {
    pub(super) fn with_repair() -> Self {
        World {
            has_wallet: true,
            wallet_reached: true,
            plans: [Plan::Send; 2],
            compiler_reached: true,
            simulated: Simulated::Succeeds,
            is_allowed: true,
            verdicts: [Verdict::Rework, Verdict::Pass],
        }
    }

    /// Whether the run asks for that slot at the place where it stands.
    pub(super) fn wants(&self, slot: &str) -> bool {
        let asked = super::judge::expected(self, false);
        let missing = asked.final_status == runstate::service_run::FinalStatus::NeedsInput;
        missing && (slot == "wallet_address") != self.has_wallet
    }

    pub(super) fn config(&self, chain: &SimChain) -> Config {
        let mut config = chain.config();
        if !self.is_allowed {
            config.policy.targets.clear();
        }
        config
    }

    pub(super) fn ports(&self, chain: &SimChain) -> Ports {
        let port = Arc::new(Port { world: self.clone(), chain: chain.clone() });
        Ports {
            wallet: Arc::<Port>::clone(&port),
            planner: Some(Arc::<Port>::clone(&port)),
            compiler: Arc::<Port>::clone(&port),
            decoder: Some(Arc::new(chain.clone())),
            simulator: Arc::<Port>::clone(&port),
            judge: Some(port),
            receipts: Arc::new(chain.clone()),
        }
    }
}

struct Port {
    world: World,
    chain: SimChain,
}

fn unreachable<T>() -> Result<T, PortError> {
    Err(PortError::Unreachable { port: "the port", reason: "no route".into() })
}

#[async_trait]
impl Wallet for Port {
    async fn snapshot(&self, chain: &Chain, wallet: &str) -> Result<WalletSnapshot, PortError> {
        match self.world.wallet_reached {
            true => self.chain.snapshot(chain, wallet).await,
            false => unreachable(),
        }
    }
}

#[async_trait]
impl Planner for Port {
    async fn plan(&self, input: &PlannerInput) -> Result<Value, PortError> {
        let send = json!({ "kind": "send", "amount": "5", "asset": "USDC", "recipient": "0xbeef" });
        let of = |actions: Value| json!({ "summary": "send it", "actions": actions });
        Ok(match self.world.plans[usize::from(input.repair.is_some())] {
            Plan::Send => of(json!([send])),
            Plan::NoRecipient => of(json!([{ "kind": "send", "amount": "5", "asset": "USDC" }])),
            Plan::Nothing => of(json!([])),
            Plan::Invalid => json!("I would send it"),
            Plan::TooMany => of(json!([send, send, send, send])),
            Plan::Unreachable => return unreachable(),
        })
    }
}

#[async_trait]
impl Compiler for Port {
    async fn compile(&self, input: &CompileInput<'_>) -> Result<Vec<Candidate>, PortError> {
        match self.world.compiler_reached {
            true => self.chain.compile(input).await,
            false => unreachable(),
        }
    }
}

#[async_trait]
impl Simulator for Port {
    async fn simulate(&self, chain: &Chain, txs: &[TxRequest]) -> Result<Vec<TxResult>, PortError> {
        match self.world.simulated {
            Simulated::Succeeds => self.chain.simulate(chain, txs).await,
            Simulated::Reverts => Ok(txs.iter().map(|_| TxResult::reverted("paused")).collect()),
            Simulated::Unreachable => unreachable(),
        }
    }
}

#[async_trait]
impl Judge for Port {
    async fn judge(&self, input: &JudgeInput<'_>) -> Result<Value, PortError> {
        Ok(match self.world.verdicts[usize::from(input.attempt > 1)] {
            Verdict::Pass => json!({ "verdict": "PASS" }),
            Verdict::Rework => json!({ "verdict": "NEEDS_REWORK", "issues": ["send less"] }),
            Verdict::ReworkOfNothing => json!({ "verdict": "NEEDS_REWORK" }),
            Verdict::Block => json!({ "verdict": "BLOCK", "summary": "a scam" }),
            Verdict::Unreachable => return unreachable(),
        })
    }
}
