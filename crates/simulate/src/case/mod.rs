//! A case: everything that happens to one run, as plain data. Played again it gives the same run.

mod generate;
mod patterns;
mod people;
mod scenario;
mod shrink;

use runstate::agent::stop::StopConditionSpec;
use runstate::agent::{Durability, ExecutionMode, SuspensionPolicy, WhenSuspended};
use runstate::decision::ResumeMode;
use serde::{Deserialize, Serialize};

pub use generate::{calm, generate, scripted};
pub use patterns::pattern_matches;
pub use scenario::{AsScenario, as_scenario};
pub use shrink::shrink;

/// A case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// What it was made from.
    pub seed: u64,
    /// How the calls of a round execute.
    pub mode: ExecutionMode,
    /// When the run waits.
    pub policy: SuspensionPolicy,
    /// What it does then.
    pub when_suspended: WhenSuspended,
    /// How often it is committed.
    #[serde(default)]
    pub durability: Durability,
    /// Driven by `run_loop_stream`; else by `run_loop`.
    pub streamed: bool,
    /// Is there a committer?
    pub committer: bool,
    /// How long each commit takes, in milliseconds; over and over.
    pub commit_ms: Vec<u64>,
    /// What the model answers in each step; behind them it says that it is done.
    pub answers: Vec<Answer>,
    /// What plugins say at the gates of calls.
    pub gates: Vec<Gate>,
    /// What a plugin does in other phases.
    pub acts: Vec<Act>,
    /// The stop conditions.
    pub stop: Vec<StopConditionSpec>,
    /// What is decided when a call asks.
    pub replies: Vec<OnAsk>,
    /// Is a call in doubt executed again? Else it is given up.
    pub doubts_resume: bool,
    /// Decisions that come at a time, whether or not a call asks.
    pub timed: Vec<Timed>,
    /// When the user writes, if the run waits then.
    pub messages: Vec<u64>,
    /// When the run is cancelled.
    pub cancel_ms: Option<u64>,
    /// What goes wrong outside.
    pub troubles: Vec<Trouble>,
    /// The tools whose calls people must approve.
    #[serde(default)]
    pub approvals: Vec<Needs>,
    /// What is decided on each question of those, in order.
    #[serde(default)]
    pub approvers: Vec<Send>,
    /// Is there a redactor between the run and those who listen?
    #[serde(default)]
    pub veiled: bool,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// How long before its first word, and between its pieces.
    pub delay_ms: u64,
    /// Tokens.
    pub tokens: u64,
    /// Its calls.
    pub calls: Vec<Call>,
    /// How it breaks off, if it does.
    pub fault: Option<Fault>,
}

/// How a model breaks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// It gives an error.
    Error,
    /// Its stream ends without a finish.
    Unfinished,
    /// It panics.
    Panic,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The id that the model gives it.
    pub id: String,
    /// The tool.
    pub tool: ToolName,
    /// Are its arguments no JSON?
    pub garbled: bool,
    /// Do its arguments lack what the schema of the tool `strict` wants?
    pub unfit: bool,
    /// What its executions come to, one after the other; the last one again and again.
    pub executions: Vec<Execution>,
}

/// The tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolName {
    /// Must not run twice.
    Write,
    /// May run twice.
    Read,
    /// Must not run twice, and has a schema.
    Strict,
    /// Is not there.
    Missing,
}

impl ToolName {
    /// Those that an agent has.
    pub const THERE: [ToolName; 3] = [ToolName::Write, ToolName::Read, ToolName::Strict];

    /// As the model calls it.
    pub fn name(self) -> &'static str {
        match self {
            ToolName::Write => "write",
            ToolName::Read => "read",
            ToolName::Strict => "strict",
            ToolName::Missing => "missing",
        }
    }

    /// May it run twice?
    pub fn is_repeatable(self) -> bool {
        self == ToolName::Read
    }
}

/// An execution of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// How long it takes.
    pub delay_ms: u64,
    /// How often it tells how far it is.
    pub progress: u8,
    /// What it writes.
    pub writes: Writes,
    /// What comes of it.
    pub comes_to: ComesTo,
}

/// What an execution writes into the state of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Writes {
    /// Nothing.
    Nothing,
    /// A key of its call.
    Own,
    /// A key of the step, which the other calls of the step write too, to the same value.
    Step,
    /// The same key, to a value of its own.
    Contradiction,
}

/// What comes of an execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ComesTo {
    /// An output.
    Success,
    /// An output with a warning.
    Warning,
    /// An error.
    Error,
    /// A panic.
    Panic,
    /// It asks for a decision.
    Pending(Ask),
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// What a decision to resume does.
    pub mode: ResumeMode,
    /// After how long it lapses.
    pub lapses_ms: Option<u64>,
    /// Must the decision's result fit a schema?
    pub schema: bool,
    /// The id that its maker wants for it, which may have been given before.
    pub id: Option<String>,
    /// Must its actor be another than those of the call's earlier decisions?
    #[serde(default)]
    pub distinct: bool,
}

/// What a plugin says at the gate of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The first or the second plugin.
    pub plugin: u8,
    /// The step of the call.
    pub step: u32,
    /// Its place in the step.
    pub ordinal: u32,
    /// At its first gate, or at that behind its `life`th suspension.
    pub life: u32,
    /// What it says.
    pub says: Says,
}

/// A verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Says {
    /// The result is set.
    SetResult,
    /// It asks.
    Suspend(Ask),
    /// The call is blocked.
    Block,
    /// The run is blocked.
    BlockRun,
}

/// What a plugin does in another phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Act {
    /// The phase.
    pub phase: Place,
    /// The step.
    pub step: u32,
    /// What.
    pub does: Does,
}

/// A phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Place {
    /// The beginning of an activation; the step is the one before it.
    RunStart,
    /// Its beginning.
    StepStart,
    /// Before the inference.
    BeforeInference,
    /// After it.
    AfterInference,
    /// After a call.
    AfterToolExecute,
    /// Its end.
    StepEnd,
}

/// What a plugin does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Does {
    /// It fails.
    Fail,
    /// It panics.
    Panic,
    /// It ends the run.
    EndRun,
    /// It takes this long.
    Wait(u64),
    /// It offers the tool `read` alone, before an inference.
    OfferRead,
    /// It writes a key.
    Write,
}

/// What is decided when a call asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnAsk {
    /// The step of the call.
    pub step: u32,
    /// Its place in the step.
    pub ordinal: u32,
    /// Its `life`th suspension, from 1.
    pub life: u32,
    /// In one batch?
    pub batch: bool,
    /// What is sent, in order.
    pub sends: Vec<Send>,
}

/// A decision that is sent because a call asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Send {
    /// How long after the one before it.
    pub after_ms: u64,
    /// Which.
    pub kind: Kind,
    /// The person of that number, 0 being none; one for this question alone, where it is not said.
    #[serde(default)]
    pub actor: Option<u8>,
}

impl Send {
    /// That decision, of a person who decides nothing else.
    pub fn new(after_ms: u64, kind: Kind) -> Self {
        Send { after_ms, kind, actor: None }
    }

    /// The actor of the decision, on that question.
    pub fn actor(&self, suspension: &str) -> Option<String> {
        match self.actor {
            None => Some(suspension.to_owned()),
            Some(0) => None,
            Some(person) => Some(format!("p{person}")),
        }
    }
}

/// A kind of decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Go on, on this suspension.
    Resume,
    /// Go on, on whichever it is.
    ResumeUnnamed,
    /// Give up.
    Cancel,
    /// Give up, on whichever it is.
    CancelUnnamed,
    /// The id of the one before it again.
    Again,
    /// The id of the one before it, with the other action; the first one has the id of one on the question before this one.
    Reused,
    /// None: its id is empty.
    Empty,
    /// The suspension before this one.
    Stale,
    /// A call that there is not.
    UnknownCall,
    /// Another run.
    OtherRun,
    /// Other arguments than the call's.
    OtherArguments,
    /// A result that does not fit.
    Unfit,
}

/// A tool whose calls people must approve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// The tool.
    pub tool: ToolName,
    /// How many people.
    pub people: u32,
    /// Only calls whose number is odd, and those without one?
    pub odd: bool,
    /// By a plugin behind the others; else the tool itself says so.
    pub by_plugin: bool,
}

/// A decision at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// When.
    pub at_ms: u64,
    /// The call, as traces name it.
    pub call: String,
    /// To resume, or to cancel?
    pub resumes: bool,
    /// With the digest of other arguments?
    pub other_arguments: bool,
}

/// What goes wrong outside of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// The process dies at this commit, from 1, before it is durable.
    CrashBeforeCommit(u32),
    /// The process dies at this commit when it is durable, before the run knows.
    CrashAfterCommit(u32),
    /// The process dies at this time.
    CrashAt(u64),
    /// The loop is dropped at this time, and the run goes on from what is in memory.
    DropAt(u64),
    /// This commit fails.
    CommitFails(u32),
}

impl Case {
    /// The call at a place.
    pub fn call(&self, step: u32, ordinal: u32) -> Option<&Call> {
        self.answers.get(step.checked_sub(1)? as usize)?.calls.get(ordinal as usize)
    }

    /// Does the process die in it?
    pub fn crashes(&self) -> bool {
        self.troubles.iter().any(|trouble| !matches!(trouble, Trouble::DropAt(_) | Trouble::CommitFails(_)))
    }

    /// Is its loop dropped, by a crash or without?
    pub fn is_cut(&self) -> bool {
        self.troubles.iter().any(|trouble| !matches!(trouble, Trouble::CommitFails(_)))
    }
}
