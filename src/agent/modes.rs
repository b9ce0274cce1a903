//! How an agent works: in which order calls execute, when it waits, how often it is committed.

use serde::{Deserialize, Serialize};

/// How the calls of a round are executed (document 003).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionMode {
    /// One by one. The first that asks for a decision stops the round; the rest are executed once it was answered. Of several
    /// decisions that are there each waits for the replay of the one before.
    #[default]
    Sequential,
    /// All at once. Decisions wait for the gate behind the round, and are replayed one by one.
    Parallel,
    /// All at once; a decision on a call that waits is taken in at once, and its replay executes beside the others
    /// (document 003, "Concurrent Execution Model"). At a gate several replays execute at once.
    Concurrent,
}

/// When an activation waits for calls that are suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspensionPolicy {
    /// As long as any call waits (document 003).
    #[default]
    WaitForAll,
    /// When all calls of a round wait; if any has a result, the model goes on with that, and reads of the others that
    /// they wait (document 000). At the start of an activation, when a call asked anew; where one was cut off, also when the
    /// model has nothing to read that came in since its last answer.
    ContinueWhenAny,
}

/// What happens when an activation has ended because calls wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenSuspended {
    /// The loop returns. A later one goes on, in this process or another (document 000).
    #[default]
    Park,
    /// The loop waits for a decision, a cancellation or an expiry, and goes on with another activation
    /// (document 003, `wait_for_resume_or_cancel`). A loop that is told to [park](super::Io::parking), such as that of a worker of
    /// durable runs, parks all the same.
    WaitInPlace,
}

/// How often a run is made durable.
///
/// Each level commits before a tool executes that must not run twice, each decision before its replay, each question, and each end of
/// an activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// At each commit that a run owes. A crash loses the answer that the model is giving, and leaves calls in doubt that
    /// execute.
    #[default]
    Commit,
    /// Once a step, with the results of its calls. A crash loses the step: the model is asked again, is paid again and may answer
    /// otherwise, and tools that may repeat are executed again, perhaps with other arguments and under other idempotency keys. For runs whose
    /// tools may repeat without harm.
    Step,
}
