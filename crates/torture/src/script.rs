//! The script of a run, from a seed, for its model and its tools.

use fastrand::Rng;
use runstate_agent::{Durability, ExecutionMode};
use serde::{Deserialize, Serialize};

/// The script of a run, step by step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The execution mode of the calls of a step.
    pub mode: ExecutionMode,
    /// The commits of the run.
    #[serde(default)]
    pub durability: Durability,
    /// One answer of the model each.
    pub steps: Vec<Step>,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The delay of the model.
    pub think_ms: u64,
    /// Its calls.
    pub calls: Vec<Call>,
}

/// A call that the model asks for; these are its arguments too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The id that the model gives it. Now and then two calls of a run share one.
    pub id: String,
    /// The tool.
    pub tool: ToolName,
    /// The duration of the tool.
    pub ms: u64,
    /// The tool fails.
    pub fails: bool,
    /// The part that asks a person, if any does.
    pub asks: Asks,
    /// The time until the question expires; `None` for no expiry.
    pub stands_ms: Option<u64>,
}

/// The tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolName {
    /// It must not run twice.
    Once,
    /// It may.
    Again,
}

impl ToolName {
    /// The name that the model uses.
    pub fn name(self) -> &'static str {
        match self {
            ToolName::Once => "once",
            ToolName::Again => "again",
        }
    }
}

/// The part that asks a person about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// No part.
    Nobody,
    /// The gate, before the tool executes.
    Gate,
    /// The gate, of one person and then of another, before the tool executes.
    TwoPeople,
    /// The gate, for the result itself: the tool never executes.
    GateForResult,
    /// The tool, instead of acting.
    Tool,
}

impl Script {
    /// A random script.
    pub fn draw(rng: &mut Rng) -> Script {
        let modes = [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent];
        // A generator of its own: the other draws of a seed stay as they are.
        let durability = match Rng::with_seed(rng.get_seed()).u8(..3) {
            0 => Durability::Step,
            _ => Durability::Commit,
        };
        let steps = rng.usize(1..=4);
        let mode = modes[rng.usize(..modes.len())];
        Script { mode, durability, steps: (1..=steps).map(|at| step(at, rng)).collect() }
    }
}

fn step(at: usize, rng: &mut Rng) -> Step {
    let calls = (0..rng.usize(1..=3)).map(|ordinal| call(at, ordinal, rng)).collect();
    Step { think_ms: rng.u64(0..15), calls }
}

fn call(step: usize, ordinal: usize, rng: &mut Rng) -> Call {
    let asks = match rng.u8(..20) {
        0..11 => Asks::Nobody,
        11..14 => Asks::Gate,
        14 => Asks::TwoPeople,
        15 => Asks::GateForResult,
        _ => Asks::Tool,
    };
    // A model may use an id again, but not within one answer.
    let id = if ordinal == 0 && rng.u8(..4) == 0 { "same".to_owned() } else { format!("s{step}c{ordinal}") };
    Call {
        id,
        tool: if rng.bool() { ToolName::Once } else { ToolName::Again },
        ms: if rng.u8(..8) == 0 { rng.u64(50..200) } else { rng.u64(0..30) },
        fails: rng.u8(..8) == 0,
        asks,
        stands_ms: (rng.u8(..4) == 0).then(|| rng.u64(20..1_500)),
    }
}
