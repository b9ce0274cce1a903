//! The verdict on a call at its gate.

use runstate::decision::Suspension;
use serde_json::Value;

/// The verdict of a plugin on a call at its gate. The strongest verdict of all plugins counts. From the strongest to
/// the weakest: block the run, block the call, suspend, set the result, allow. Of equal verdicts, the one of the
/// earlier plugin counts.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The tool executes.
    Allow,
    /// The call gets this result, and its tool does not execute.
    SetResult(Value),
    /// The call waits for a decision. An empty suspension id is filled in.
    Suspend(Suspension),
    /// The call fails with this error, and the loop continues.
    Block(String),
    /// The call fails with this error, and the run ends as `Blocked`. No other call begins to execute, not even a
    /// decided one.
    BlockRun(String),
}

impl Verdict {
    fn rank(&self) -> u8 {
        match self {
            Verdict::Allow => 0,
            Verdict::SetResult(_) => 1,
            Verdict::Suspend(_) => 2,
            Verdict::Block(_) => 3,
            Verdict::BlockRun(_) => 4,
        }
    }

    /// Returns the stronger of two verdicts. `self` is the verdict of the earlier plugin.
    ///
    /// ```
    /// use runstate_agent::Verdict;
    ///
    /// let first = Verdict::Block("no".into());
    /// assert_eq!(first.clone().and(Verdict::Allow), first);
    /// assert_eq!(first.clone().and(Verdict::Block("never".into())), first);
    /// assert_eq!(Verdict::Allow.and(first.clone()), first);
    /// ```
    #[must_use]
    pub fn and(self, later: Verdict) -> Verdict {
        if later.rank() > self.rank() { later } else { self }
    }
}
