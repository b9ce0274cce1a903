//! The world of a service run: the replies of its ports. The intent of the run is its world, as JSON.

use fastrand::Rng;
use runstate_service::sim::SimChain;
use serde::{Deserialize, Serialize};

/// The replies of the ports of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// The amount of the first transfer, in millionths of a token.
    pub amount: u32,
    /// The plan, by attempt.
    pub plans: [Plan; 2],
    /// The number of transfers of a plan with a recipient.
    pub transfers: u32,
    /// The reply of compiler and simulator.
    pub outside: Outside,
    /// The reply of the judge, by attempt.
    pub verdicts: [Verdict; 2],
    /// The wallet has less than it claims: the chain reverts the transfers.
    pub is_poor: bool,
    /// The delay of planner and judge, in milliseconds.
    pub think_ms: u64,
}

/// A plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// Transfers.
    Send,
    /// A transfer without a recipient.
    NoRecipient,
    /// No action.
    Nothing,
    /// No plan.
    Invalid,
    /// The planner cannot be reached.
    Unreachable,
}

/// The reply of compiler and simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// The transactions succeed.
    Succeeds,
    /// The simulated transactions revert.
    Reverts,
    /// The compiler cannot be reached.
    NoCompiler,
    /// The simulator cannot be reached.
    NoSimulator,
}

/// The reply of the judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No objection.
    Pass,
    /// Another plan, with an issue.
    Rework,
    /// No plan of this kind.
    Block,
    /// The judge cannot be reached.
    Unreachable,
}

/// The address of a wallet that cannot be read.
pub(super) const UNREAD: &str = "0xdead";

impl World {
    /// A random world.
    pub fn draw(rng: &mut Rng) -> World {
        let plan = |rng: &mut Rng| match rng.u8(..20) {
            0..14 => Plan::Send,
            14..17 => Plan::NoRecipient,
            17 => Plan::Nothing,
            18 => Plan::Invalid,
            _ => Plan::Unreachable,
        };
        let verdict = |rng: &mut Rng| match rng.u8(..20) {
            0..12 => Verdict::Pass,
            12..18 => Verdict::Rework,
            18 => Verdict::Block,
            _ => Verdict::Unreachable,
        };
        World {
            amount: rng.u32(1..10_000),
            plans: [plan(rng), plan(rng)],
            transfers: rng.u32(1..=2),
            outside: match rng.u8(..20) {
                0 => Outside::Reverts,
                1 => Outside::NoCompiler,
                2 => Outside::NoSimulator,
                _ => Outside::Succeeds,
            },
            verdicts: [verdict(rng), verdict(rng)],
            is_poor: rng.u8(..6) == 0,
            think_ms: if rng.u8(..8) == 0 { rng.u64(50..200) } else { rng.u64(..20) },
        }
    }

    /// A random world whose plans have transfers.
    pub fn draw_with_transfers(rng: &mut Rng) -> World {
        World { plans: [Plan::Send; 2], ..World::draw(rng) }
    }

    /// A random wallet: none, one that cannot be read, or that of the chain.
    pub fn draw_wallet(rng: &mut Rng) -> Option<String> {
        match rng.u8(..10) {
            0 | 1 => None,
            2 => Some(UNREAD.to_owned()),
            _ => Some(SimChain::WALLET.to_owned()),
        }
    }

    /// The recipient of the transfers, by which compiler and simulator know their reply.
    pub fn recipient(&self) -> &'static str {
        match self.outside {
            Outside::Succeeds => "0xbeef",
            Outside::Reverts => "0xbad",
            Outside::NoCompiler => "0xc0de",
            Outside::NoSimulator => "0xdead",
        }
    }

    /// The decimal amount of a transfer.
    pub fn amount(&self, transfer: u32) -> String {
        let tokens = if self.is_poor { 5_000 } else { 0 };
        format!("{tokens}.{:06}", self.amount + transfer)
    }
}
