//! The ports of service runs: each replies as the world of the run says.

use std::sync::Arc;
use std::time::Duration;

use runstate_agent::async_trait;
use runstate_service::sim::SimChain;
use runstate_service::{
    Action, Candidate, Chain, CompileInput, Compiler, Config, DecodedCall, Decoder, Judge, JudgeInput,
    Planner, PlannerInput, PortError, Ports, Simulator, TxRequest, TxResult, Units, Wallet, WalletSnapshot,
};
use serde_json::{Value, json};

use super::world::{Plan, UNREAD, Verdict, World};

/// The configuration: the requester of a run may not approve it.
pub(super) fn config(chain: &SimChain) -> Config {
    Config { distinct_actors: true, ..chain.config() }
}

/// The ports on a chain.
pub(super) fn ports(chain: &SimChain) -> Ports {
    let port = Arc::new(Port(chain.clone()));
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

struct Port(SimChain);

fn unreachable<T>(port: &'static str) -> Result<T, PortError> {
    Err(PortError::Unreachable { port, reason: "no route".into() })
}

async fn world(intent: &str) -> Result<World, PortError> {
    let world: World = serde_json::from_str(intent)
        .map_err(|error| PortError::Refused { port: "the world", reason: error.to_string() })?;
    tokio::time::sleep(Duration::from_millis(world.think_ms)).await;
    Ok(world)
}

#[async_trait]
impl Wallet for Port {
    async fn snapshot(&self, chain: &Chain, wallet: &str) -> Result<WalletSnapshot, PortError> {
        if wallet == UNREAD {
            return unreachable("the wallet");
        }
        let mut snapshot = self.0.snapshot(chain, wallet).await?;
        // More than the chain has: then a simulated transfer succeeds, and the mined one reverts.
        for token in snapshot.tokens.values_mut() {
            token.balance = Units(1_000_000_000_000);
        }
        Ok(snapshot)
    }
}

#[async_trait]
impl Planner for Port {
    async fn plan(&self, input: &PlannerInput) -> Result<Value, PortError> {
        let world = world(&input.intent).await?;
        let of = |actions: Vec<Value>| json!({ "summary": "transfers", "actions": actions });
        let send = |transfer| {
            let (amount, recipient) = (world.amount(transfer), world.recipient());
            json!({ "kind": "send", "amount": amount, "asset": "USDC", "recipient": recipient })
        };
        Ok(match world.plans[usize::from(input.repair.is_some())] {
            Plan::Send => of((0..world.transfers).map(send).collect()),
            Plan::NoRecipient => {
                of(vec![json!({ "kind": "send", "amount": world.amount(0), "asset": "USDC" })])
            }
            Plan::Nothing => of(Vec::new()),
            Plan::Invalid => json!("transfers"),
            Plan::Unreachable => return unreachable("the planner"),
        })
    }
}

#[async_trait]
impl Compiler for Port {
    async fn compile(&self, input: &CompileInput<'_>) -> Result<Vec<Candidate>, PortError> {
        let is_reached = input.actions.iter().all(|action| match action {
            Action::Send { recipient, .. } => recipient.as_deref() != Some("0xc0de"),
            Action::Swap { .. } => true,
        });
        if is_reached { self.0.compile(input).await } else { unreachable("the compiler") }
    }
}

#[async_trait]
impl Simulator for Port {
    async fn simulate(&self, _: &Chain, txs: &[TxRequest]) -> Result<Vec<TxResult>, PortError> {
        let simulated = |tx| match self.0.decode(tx) {
            Some(DecodedCall::Transfer { recipient, .. }) if recipient == "0xbad" => {
                Ok(TxResult::reverted("paused"))
            }
            Some(DecodedCall::Transfer { recipient, .. }) if recipient == "0xdead" => {
                unreachable("the simulator")
            }
            _ => Ok(TxResult::ok()),
        };
        txs.iter().map(simulated).collect()
    }
}

#[async_trait]
impl Judge for Port {
    async fn judge(&self, input: &JudgeInput<'_>) -> Result<Value, PortError> {
        let world = world(input.intent).await?;
        Ok(match world.verdicts[usize::from(input.attempt > 1)] {
            Verdict::Pass => json!({ "verdict": "PASS" }),
            Verdict::Rework => json!({ "verdict": "NEEDS_REWORK", "issues": ["send less"] }),
            Verdict::Block => json!({ "verdict": "BLOCK", "summary": "a scam" }),
            Verdict::Unreachable => return unreachable("the judge"),
        })
    }
}

/// The markers of the ports are those of the worlds.
#[cfg(test)]
mod tests {
    use super::super::world::Outside;
    use super::*;

    #[test]
    fn recipients_are_the_markers_of_the_ports() {
        let mut world = World::draw(&mut fastrand::Rng::with_seed(1));
        for (outside, recipient) in
            [(Outside::NoCompiler, "0xc0de"), (Outside::NoSimulator, "0xdead"), (Outside::Reverts, "0xbad")]
        {
            world.outside = outside;
            assert_eq!(world.recipient(), recipient);
        }
    }
}
