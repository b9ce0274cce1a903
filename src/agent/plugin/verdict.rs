//! What becomes of a call at its gate.

use serde_json::Value;

use crate::decision::Suspension;

/// What becomes of a call at its gate. Of several plugins' verdicts the strongest counts: block the run, block the call,
/// suspend, set the result, allow; of two that are as strong, the one of the plugin that comes first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Its tool executes.
    Allow,
    /// It has this result; its tool is not executed.
    SetResult(Value),
    /// It waits for a decision. An empty id is filled in.
    Suspend(Suspension),
    /// It fails with this error, and the loop goes on.
    Block(String),
    /// It fails with this error, no other call begins to execute, also none that was decided, and the run ends as `Blocked`.
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

    /// The stronger of an earlier plugin's verdict and a later one's.
    ///
    /// ```
    /// use runstate::agent::Verdict;
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
