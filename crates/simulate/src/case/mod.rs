//! A case: all inputs of one run, as plain data. Playing it again gives an equal run.

mod generate;
mod patterns;
mod people;
mod scenario;
mod shrink;

use runstate::decision::ResumeMode;
use runstate_agent::stop::StopConditionSpec;
use runstate_agent::{Durability, ExecutionMode, SuspensionPolicy, WhenSuspended};
use serde::{Deserialize, Serialize};

pub use generate::{calm, generate, scripted};
pub use patterns::pattern_matches;
pub use scenario::{AsScenario, as_scenario};
pub use shrink::shrink;

/// A case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The seed.
    pub seed: u64,
    /// The execution mode of the calls of a round.
    pub mode: ExecutionMode,
    /// The suspension policy.
    pub policy: SuspensionPolicy,
    /// The behaviour once the run waits.
    pub when_suspended: WhenSuspended,
    /// The durability level.
    #[serde(default)]
    pub durability: Durability,
    /// Is it driven by `run_loop_stream`, not by `run_loop`?
    pub streamed: bool,
    /// Is there a committer?
    pub committer: bool,
    /// The durations of commits, in milliseconds, repeated cyclically.
    pub commit_ms: Vec<u64>,
    /// The answers of the model, by step; afterwards it ends without calls.
    pub answers: Vec<Answer>,
    /// The verdicts of plugins at the gates of calls.
    pub gates: Vec<Gate>,
    /// The actions of a plugin in other phases.
    pub acts: Vec<Act>,
    /// The stop conditions.
    pub stop: Vec<StopConditionSpec>,
    /// The decisions when a call asks.
    pub replies: Vec<OnAsk>,
    /// Is a call in doubt executed again? Otherwise it is given up.
    pub doubts_resume: bool,
    /// Decisions at a time, whether or not a call asks.
    pub timed: Vec<Timed>,
    /// The times of messages, for a run that waits then.
    pub messages: Vec<u64>,
    /// The time of the cancellation.
    pub cancel_ms: Option<u64>,
    /// External faults.
    pub troubles: Vec<Trouble>,
    /// The tools whose calls people must approve.
    #[serde(default)]
    pub approvals: Vec<Needs>,
    /// The decisions on each question of those tools, in order.
    #[serde(default)]
    pub approvers: Vec<Send>,
    /// Is there a redactor between the run and its receivers?
    #[serde(default)]
    pub veiled: bool,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The delay before its first piece, and between its pieces.
    pub delay_ms: u64,
    /// Tokens.
    pub tokens: u64,
    /// Its calls.
    pub calls: Vec<Call>,
    /// The fault that ends it early, if there is one.
    pub fault: Option<Fault>,
}

/// A fault of a model.
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
    /// Do its arguments violate the schema of the tool `strict`?
    pub unfit: bool,
    /// The outcomes of its executions, one after the other; the last one repeats.
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
    /// Does not exist.
    Missing,
}

impl ToolName {
    /// The tools of an agent.
    pub const THERE: [ToolName; 3] = [ToolName::Write, ToolName::Read, ToolName::Strict];

    /// The name that the model uses.
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
    /// The duration of the execution.
    pub delay_ms: u64,
    /// The number of progress messages.
    pub progress: u8,
    /// The written values.
    pub writes: Writes,
    /// The outcome.
    pub comes_to: ComesTo,
}

/// The values that an execution writes into the state of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Writes {
    /// Nothing.
    Nothing,
    /// A key of its call.
    Own,
    /// A key of the step, with a value that the other calls of the step write too.
    Step,
    /// The key of the step, with another value.
    Contradiction,
}

/// The outcome of an execution.
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

/// A question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The effect of a decision to resume.
    pub mode: ResumeMode,
    /// The time until it expires.
    pub lapses_ms: Option<u64>,
    /// Must the decision's result fit a schema?
    pub schema: bool,
    /// The id that its maker requests, which may be taken.
    pub id: Option<String>,
    /// Must its actor differ from the actors of the call's earlier decisions?
    #[serde(default)]
    pub distinct: bool,
}

/// The verdict of a plugin at the gate of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The first or the second plugin.
    pub plugin: u8,
    /// The step of the call.
    pub step: u32,
    /// Its place in the step.
    pub ordinal: u32,
    /// At the first gate of the call, or at the gate after its `life`th suspension.
    pub life: u32,
    /// The verdict.
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

/// The action of a plugin in another phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Act {
    /// The phase.
    pub phase: ActPhase,
    /// The step.
    pub step: u32,
    /// The action.
    pub does: Does,
}

/// A phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ActPhase {
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

/// An action of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Does {
    /// It fails.
    Fail,
    /// It panics.
    Panic,
    /// It ends the run.
    EndRun,
    /// It takes this time.
    Wait(u64),
    /// It offers the tool `read` alone, before an inference.
    OfferRead,
    /// It writes a key.
    Write,
}

/// The decisions when a call asks.
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
    /// The decisions, in order.
    pub sends: Vec<Send>,
}

/// A decision that is sent because a call asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Send {
    /// The delay after the previous one.
    pub after_ms: u64,
    /// The kind.
    pub kind: Kind,
    /// The number of the person; 0 is none. Default: a person for this question alone.
    #[serde(default)]
    pub actor: Option<u8>,
}

impl Send {
    /// That decision, of a person without other decisions.
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
    /// Resume, on this suspension.
    Resume,
    /// Resume, without a suspension.
    ResumeUnnamed,
    /// Cancel, on this suspension.
    Cancel,
    /// Cancel, without a suspension.
    CancelUnnamed,
    /// The id of the previous decision again.
    Again,
    /// The id of the previous decision, with the other action; the first one has an id of the previous question.
    Reused,
    /// None: its id is empty.
    Empty,
    /// The previous suspension.
    Stale,
    /// An unknown call.
    UnknownCall,
    /// Another run.
    OtherRun,
    /// Other arguments than the call's.
    OtherArguments,
    /// A result that violates the schema.
    Unfit,
}

/// A tool whose calls people must approve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// The tool.
    pub tool: ToolName,
    /// The number of people.
    pub people: u32,
    /// Only calls with an odd number, and calls without a number?
    pub odd: bool,
    /// By a plugin after the others; otherwise the tool itself requires it.
    pub by_plugin: bool,
}

/// A decision at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// The time.
    pub at_ms: u64,
    /// The call, as traces name it.
    pub call: String,
    /// To resume, or to cancel?
    pub resumes: bool,
    /// With the digest of other arguments?
    pub other_arguments: bool,
}

/// An external fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// The process dies at this commit, from 1, before it is durable.
    CrashBeforeCommit(u32),
    /// The process dies at this commit once it is durable, before the run receives the result.
    CrashAfterCommit(u32),
    /// The process dies at this time.
    CrashAt(u64),
    /// The loop is dropped at this time, and the run continues from memory.
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

    /// Is its loop dropped, with or without a crash?
    pub fn is_cut(&self) -> bool {
        self.troubles.iter().any(|trouble| !matches!(trouble, Trouble::CommitFails(_)))
    }
}
