//! The lifecycle of a governed run: planned, approved where it is risky, verified, audited.
//!
//! | state | meaning | accepted events |
//! |---|---|---|
//! | [`Init`] | the run exists | [`Plan`], [`Halt`] by timeout |
//! | [`Planning`] | tools are chosen | [`Execute`], [`Halt`] |
//! | [`Executing`] | the tools run one after the other | [`AwaitApproval`], [`Verify`], [`Halt`], [`RollBack`] |
//! | [`AwaitingApproval`] | a person must decide | [`Approve`], [`RollBack`], [`Halt`] |
//! | [`Verifying`] | the results are checked | [`Audit`], [`RollBack`] |
//! | [`Auditing`] | the reviewers audit the run | [`Complete`], [`RollBack`] |
//! | [`Completed`], [`RolledBack`], [`HaltedUnsafe`] | the run is over | |
//!
//! All times are in milliseconds since the Unix epoch. They are arguments: this module reads no clock.
//!
//! ```
//! use runstate::governed_run::*;
//!
//! let t = 1_769_860_800_000; // 31 January 2026, 12:00:00 UTC
//! let run = GovernedRun::new(RunRecord::new(RunId::new("PROJECT", t)?, t));
//! let run = run.plan(Plan::new(t + 1_000)).unwrap();
//! let mut run = run.execute(Execute::new(["inspect", "report"], t + 5_000)).unwrap();
//! run.start_tool(t + 5_000)?;
//! run.complete_tool(t + 6_000)?;
//!
//! // One tool remains: the run refuses verification and comes back.
//! let refused = run.verify(Verify::new(t + 6_000)).unwrap_err();
//! assert_eq!(refused.error.to_string(), "cannot verify while tools remain: report; complete them first");
//! let mut run = refused.machine;
//! run.start_tool(t + 7_000)?;
//! run.complete_tool(t + 8_000)?;
//!
//! let run = run.verify(Verify::new(t + 9_000)).unwrap();
//! let run = run.audit(Audit::new(Reviewers::new(["security"])?, t + 10_000)).unwrap();
//! let pass = run.pass(vec![Verdict::new("security", Opinion::Pass, "nothing risky")])?;
//! let run = run.complete(Complete::new(pass, t + 11_000)).unwrap();
//! assert_eq!(run.state().tools_completed(), ["inspect", "report"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod audit;
mod error;
mod events;
mod moves;
mod outcome;
mod plan_answer;
mod progress;
mod record;
mod run_id;
mod states;
mod timeout;

use crate::approval::ApprovalId;
use crate::lifecycle;
use crate::snapshot::{RestoreError, Stored, rehydrate};

pub use answer::{AnswerError, Asks, RejectedRun, Unanswered};
pub use audit::{AuditNotPassed, AuditPass, Objection, Opinion, Reviewers, ReviewersError, Verdict};
pub use error::{GovernedRunError, ToolsRemain};
pub use events::{Approve, Audit, AwaitApproval, Complete, Execute, Halt, Plan, RollBack, Verify};
pub use outcome::{HaltReason, RollBackCause, Rollback};
pub use progress::{MOST_TRIES, Progress};
pub use record::{RunRecord, Visit};
pub use run_id::{RunId, RunIdError};
pub use states::{Auditing, AwaitingApproval, Completed, Executing, HaltedUnsafe};
pub use states::{Init, Planning, RolledBack, Verifying};
pub use timeout::{TimeLimit, TimeLimitError, TimeLimits, Timed};

lifecycle! {
    /// A governed run: planned, approved where it is risky, verified and audited.
    pub mod governed_run: GovernedRun(RunRecord), AnyGovernedRun;
    version 1;
    diagram "../../../docs/lifecycles/governed-run.md";

    status GovernedRunStatus {
        /// The run exists; planning has not begun.
        Init { .. } = "INIT",
        /// The project is inspected and tools are chosen.
        Planning { .. } = "PLANNING",
        /// The tools of the plan run one after the other.
        Executing { .. } = "EXECUTING",
        /// A person must decide before the run continues.
        AwaitingApproval { .. } = "AWAITING_APPROVAL",
        /// All tools are completed; the results are checked.
        Verifying { .. } = "VERIFYING",
        /// The results hold; the reviewers audit the run.
        Auditing { .. } = "AUDITING",
        /// All reviewers passed the run.
        Completed { .. } = "COMPLETE",
        /// The changes of the run were reverted.
        RolledBack { .. } = "ROLLED_BACK",
        /// The run was stopped for safety.
        HaltedUnsafe { .. } = "HALTED_UNSAFE",
    }
    event GovernedRunEvent {
        /// Planning begins.
        Plan { .. },
        /// The plan is approved.
        Execute { .. },
        /// A high-risk action needs a person's decision.
        AwaitApproval { .. },
        /// The approval is granted.
        Approve { .. },
        /// All tools are completed.
        Verify { .. },
        /// The results hold.
        Audit { .. },
        /// The audit passed.
        Complete { .. },
        /// The changes were reverted.
        RollBack { .. },
        /// The run is stopped for safety.
        Halt { .. },
    }

    [*]              --> Init;
    Init             --> Planning         : plan(Plan)                    else GovernedRunError;
    Init             --> HaltedUnsafe     : halt(Halt)                    else GovernedRunError;
    Planning         --> Executing        : execute(Execute)              else GovernedRunError;
    Planning         --> HaltedUnsafe     : halt(Halt)                    else GovernedRunError;
    Executing        --> AwaitingApproval : await_approval(AwaitApproval) else GovernedRunError;
    Executing        --> Verifying        : verify(Verify)                else GovernedRunError;
    Executing        --> HaltedUnsafe     : halt(Halt)                    else GovernedRunError;
    Executing        --> RolledBack       : roll_back(RollBack)           else GovernedRunError;
    AwaitingApproval --> Executing        : approve(Approve)              else GovernedRunError;
    AwaitingApproval --> RolledBack       : roll_back(RollBack)           else GovernedRunError;
    AwaitingApproval --> HaltedUnsafe     : halt(Halt)                    else GovernedRunError;
    Verifying        --> Auditing         : audit(Audit)                  else GovernedRunError;
    Verifying        --> RolledBack       : roll_back(RollBack);
    Auditing         --> Completed        : complete(Complete)            else GovernedRunError;
    Auditing         --> RolledBack       : roll_back(RollBack);
    Completed        --> [*];
    RolledBack       --> [*];
    HaltedUnsafe     --> [*];
}

impl GovernedRun<Executing> {
    /// Begins the next tool of the plan: the first remaining tool. This is not a transition.
    ///
    /// # Errors
    /// [`GovernedRunError::ToolUnderWay`], [`GovernedRunError::NoToolRemains`], and [`GovernedRunError::Expired`]
    /// when EXECUTING had expired at `at`: no tool begins after the deadline. The run is unchanged.
    pub fn start_tool(&mut self, at: u64) -> Result<(), GovernedRunError> {
        self.not_expired(at)?;
        self.state_mut().progress.start()?;
        self.record_mut().touch(at);
        Ok(())
    }

    /// Begins the tool in progress again, after a failure, and returns the number of the try. This is not a
    /// transition.
    ///
    /// # Errors
    /// [`GovernedRunError::NoToolUnderWay`], [`GovernedRunError::TriesSpent`] after [`MOST_TRIES`], and
    /// [`GovernedRunError::Expired`] as for [`start_tool`](Self::start_tool). The run is unchanged.
    pub fn retry_tool(&mut self, at: u64) -> Result<u32, GovernedRunError> {
        self.not_expired(at)?;
        let tries = self.state_mut().progress.retry()?;
        self.record_mut().touch(at);
        Ok(tries)
    }

    /// Records that the tool in progress is completed. This is not a transition.
    ///
    /// The run accepts this after the deadline too: the effects of the tool exist at any time.
    ///
    /// # Errors
    /// [`GovernedRunError::NoToolUnderWay`]. The run is unchanged.
    pub fn complete_tool(&mut self, at: u64) -> Result<(), GovernedRunError> {
        self.state_mut().progress.complete()?;
        self.record_mut().touch(at);
        Ok(())
    }

    fn not_expired(&self, at: u64) -> Result<(), GovernedRunError> {
        match self.deadline() {
            Some(deadline) if at >= deadline => {
                Err(GovernedRunError::Expired { state: GovernedRunStatus::Executing, deadline, at })
            }
            _ => Ok(()),
        }
    }
}

impl GovernedRun<Auditing> {
    /// Makes the proof that all reviewers of this run passed it.
    ///
    /// # Errors
    /// [`AuditNotPassed`] with all objections; see [`AuditPass::new`].
    pub fn pass(&self, verdicts: Vec<Verdict>) -> Result<AuditPass, AuditNotPassed> {
        AuditPass::new(self.state().reviewers(), verdicts)
    }
}

impl AnyGovernedRun {
    /// Reads a run from the parts of RUN_STATE.json: its state, its record, and the data of the state.
    ///
    /// The file has no checksum, because its format has none and other tools write it. Therefore its bytes are
    /// trusted input. The reader checks it like a snapshot: the history is a path through the graph to this state,
    /// without a gap in time, no field is unknown, and the run would write the same parts again.
    ///
    /// ```
    /// use runstate::governed_run::{AnyGovernedRun, GovernedRunStatus};
    /// use serde_json::json;
    ///
    /// let record = json!({
    ///     "run_id": "RUN-PROJECT-20260131-120000", "created_at": 0, "updated_at": 0,
    ///     "state_history": [], "approvals_granted": [],
    /// });
    /// let run = AnyGovernedRun::from_run_state(GovernedRunStatus::Init, record.clone(), json!({"entered_at": 0}))?;
    /// assert_eq!(run.status(), GovernedRunStatus::Init);
    ///
    /// let lacks_a_plan = AnyGovernedRun::from_run_state(GovernedRunStatus::Executing, record, json!({"entered_at": 0}));
    /// assert!(lacks_a_plan.is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RestoreError::Shape`], which names the part.
    pub fn from_run_state(
        status: GovernedRunStatus,
        record: serde_json::Value,
        state: serde_json::Value,
    ) -> Result<Self, RestoreError> {
        use crate::kernel::Stateful;
        let entered_at = state["entered_at"].as_u64();
        let (version, fingerprint) = (Self::GRAPH.version, Self::GRAPH.fingerprint().to_string());
        let stored = Stored { version, fingerprint, status: status.name().to_owned(), record, state };
        let run: Self = rehydrate(stored)?;
        let since = run.record().history().last().map_or(run.record().created_at(), |last| last.exited_at);
        if entered_at == Some(since) {
            return Ok(run);
        }
        let message = format!("entered_at is {entered_at:?}, and the history ends at {since}");
        Err(RestoreError::Shape { status: status.name(), part: crate::snapshot::Part::State, message })
    }
}
