//! What a run does: a script, drawn from a seed, that a model and tools follow.

use fastrand::Rng;
use runstate::agent::ExecutionMode;
use serde::{Deserialize, Serialize};

/// What a run does, step by step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// How the calls of a step are executed.
    pub mode: ExecutionMode,
    /// One answer of the model each.
    pub steps: Vec<Step>,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How long the model takes.
    pub think_ms: u64,
    /// What it asks for.
    pub calls: Vec<Call>,
}

/// A call that the model asks for; these are its arguments too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The id that the model gives it. Now and then two calls of a run have the same.
    pub id: String,
    /// The tool.
    pub tool: ToolName,
    /// How long the tool takes.
    pub ms: u64,
    /// The tool fails.
    pub fails: bool,
    /// Who asks a person, if anybody does.
    pub asks: Asks,
    /// How long the question stands; none for ever.
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
    /// As the model says it.
    pub fn name(self) -> &'static str {
        match self {
            ToolName::Once => "once",
            ToolName::Again => "again",
        }
    }
}

/// Who asks a person about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// Nobody.
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
    /// Draws one.
    pub fn draw(rng: &mut Rng) -> Script {
        let modes = [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent];
        let steps = rng.usize(1..=4);
        Script { mode: modes[rng.usize(..modes.len())], steps: (1..=steps).map(|at| step(at, rng)).collect() }
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
