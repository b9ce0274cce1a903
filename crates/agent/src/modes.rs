//! Modes of an agent: the order of executions, the waiting policy, the durability.

use serde::{Deserialize, Serialize};

/// The execution of the calls of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionMode {
    /// Calls execute one by one. A call that asks for a decision stops the round; the other calls execute after the
    /// decision. If several decisions have arrived, each waits for the replay of the previous one.
    #[default]
    Sequential,
    /// Calls execute concurrently. Decisions wait for the gate after the round, and are replayed one by one.
    Parallel,
    /// Calls execute concurrently. A decision on a waiting call is processed immediately, and its replay runs beside
    /// the other executions. At a gate, several replays run concurrently.
    Concurrent,
}

/// The condition for an activation to wait for suspended calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspensionPolicy {
    /// The activation waits while any call is suspended.
    #[default]
    WaitForAll,
    /// The activation waits if all calls of a round wait. If any call has a result, the model continues with it, and
    /// reads that the other calls wait. At its start, an activation waits if a call asked a new question. An
    /// activation after an interrupted one also waits if the model has no unread results.
    ContinueWhenAny,
}

/// The behaviour of a loop after an activation that ended because calls wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenSuspended {
    /// The loop returns. A later loop continues the run, in this process or another.
    #[default]
    Park,
    /// The loop waits for a decision, a cancellation or an expiry, and continues with another activation. A loop with
    /// [`RunHandles::parking`](super::RunHandles::parking) parks anyway; the loops of workers of durable runs do.
    WaitInPlace,
}

/// The commits that make a run durable.
///
/// Every level commits before the execution of a tool that must not run twice, each decision before its replay, each
/// question, and the end of each activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Every commit of the run. A crash loses the unfinished answer of the model, and leaves executing calls in
    /// doubt.
    #[default]
    Commit,
    /// One commit per step, with the results of its calls. A crash loses the step. The model is asked again, which
    /// costs tokens again and may give another answer. Repeatable tools execute again, perhaps with other arguments
    /// and other idempotency keys. This level is for runs whose tools can be repeated without harm.
    Step,
}
