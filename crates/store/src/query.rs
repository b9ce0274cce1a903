//! Queries and their results.

use std::fmt;
use std::time::Duration;

use runstate::decision::Suspension;
use runstate::run::RunStatus;
use serde_json::Value;

use super::NewRun;
use super::error::StoreError;
use super::keyed::key_of;

/// A query of runs. The result has the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunQuery {
    /// The status of the runs; none for all.
    pub status: Option<RunStatus>,
    /// Only runs whose last change was before this time; none for all.
    pub changed_before_ms: Option<u64>,
    /// Only runs with a [holder](RunInfo::holder), whose lease may have expired.
    pub held: bool,
    /// The position after which the page begins: creation time and id of the last run of the previous page.
    pub after: Option<(u64, String)>,
    /// The limit of the page.
    pub limit: usize,
}

impl RunQuery {
    /// Creates the query of the first page of all runs.
    pub fn all(limit: usize) -> Self {
        RunQuery { status: None, changed_before_ms: None, held: false, after: None, limit }
    }

    /// Creates the query of the first page of the runs in a status.
    pub fn status(status: RunStatus, limit: usize) -> Self {
        RunQuery { status: Some(status), ..RunQuery::all(limit) }
    }

    /// Sets the last run of the previous page.
    #[must_use]
    pub fn after(mut self, last: &RunInfo) -> Self {
        self.after = Some((last.created_at_ms, last.id.clone()));
        self
    }
}

/// The number of consecutive lost claims after which workers set a run aside.
pub const SET_ASIDE_AFTER: u32 = 2;

/// The entry of a run in lists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// The id of the run.
    pub id: String,
    /// A short title.
    pub title: String,
    /// The status. `Running` also before the run has begun.
    pub status: RunStatus,
    /// The reason for the end or the wait, as text; none while the run is running.
    pub reason: Option<String>,
    /// The number of commits: 0 before the run has begun.
    pub version: u64,
    /// The number of steps.
    pub steps: u32,
    /// The number of waiting calls.
    pub waiting: u32,
    /// The holder of the last lease, valid or expired; none if the run was given back.
    pub holder: Option<Holder>,
    /// The remaining time for which the run can be claimed only by name; none once it is over.
    pub not_before: Option<Duration>,
    /// The reason for which the run did not continue after its last claim.
    pub problem: Option<String>,
    /// The reason of a requested cancellation.
    pub cancel: Option<String>,
    /// Lost claims: the number of consecutive claims that ended with neither a step nor a release, because the
    /// process ended, or lost its connection to the store.
    pub lost: u32,
    /// The time of creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// The time of creation or of the last commit, in milliseconds since the Unix epoch.
    pub changed_at_ms: u64,
}

impl RunInfo {
    /// Creates the entry of a new run.
    ///
    /// ```
    /// use runstate_store::{NewRun, RunInfo};
    ///
    /// let new = NewRun::new("r1", serde_json::Value::Null, 5).titled("tidy up");
    /// let info = RunInfo::created(&new);
    /// assert_eq!((&*info.title, info.created_at_ms, info.not_before), ("tidy up", 5, None));
    /// ```
    pub fn created(run: &NewRun) -> Self {
        let mut info = RunInfo::new(&*run.id, &*run.title, run.at_ms);
        info.not_before = run.not_before;
        info
    }

    /// Creates an entry from id, title and creation time, for a store that sets the other fields.
    pub fn new(id: impl Into<String>, title: impl Into<String>, at_ms: u64) -> Self {
        RunInfo {
            id: id.into(),
            title: title.into(),
            status: RunStatus::Running,
            reason: None,
            version: 0,
            steps: 0,
            waiting: 0,
            holder: None,
            not_before: None,
            problem: None,
            cancel: None,
            lost: 0,
            created_at_ms: at_ms,
            changed_at_ms: at_ms,
        }
    }

    /// Returns whether the run is set aside: by [`Release::set_aside`](super::Release::set_aside), or by workers with
    /// the default of [`Worker::set_aside_after`](super::Worker::set_aside_after).
    pub fn is_set_aside(&self) -> bool {
        let is_kept = self.problem.is_some() && self.not_before == Some(Duration::MAX);
        (is_kept || self.lost >= SET_ASIDE_AFTER) && self.status != RunStatus::Done
    }

    /// Returns whether the run may be claimed without its name. `has_mail` is true if a decision or a message is
    /// pending. A requested cancellation makes a waiting run claimable too.
    pub(super) fn can_go_on(&self, has_mail: bool) -> bool {
        self.holder.as_ref().is_none_or(|holder| holder.left.is_zero())
            && self.not_before.is_none()
            && match self.status {
                RunStatus::Running => true,
                RunStatus::Waiting => has_mail || self.cancel.is_some(),
                RunStatus::Done => false,
            }
    }
}

/// A corrupt run of a store, or its remains.
///
/// ```
/// use runstate_store::{CorruptEntry, StoreError};
///
/// let damage = CorruptEntry::new("runs/r1/state.json: EOF at line 3", "restore it from a backup");
/// assert_eq!(damage.to_string(), "runs/r1/state.json: EOF at line 3; restore it from a backup");
/// assert_eq!(StoreError::from(damage.clone()).to_string(), damage.to_string());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct CorruptEntry {
    /// The problem and its place.
    pub what: String,
    /// The remedy.
    pub help: String,
    /// The run, for a row of a database. The problem of such a row has no path. Default: none.
    pub run: Option<String>,
}

impl CorruptEntry {
    /// Creates an entry, for stores.
    pub fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        CorruptEntry { what: what.into(), help: help.into(), run: None }
    }

    /// Sets the run of a row.
    #[must_use]
    pub fn of_run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }
}

impl fmt::Display for CorruptEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.help)
    }
}

impl From<CorruptEntry> for StoreError {
    fn from(CorruptEntry { what, help, .. }: CorruptEntry) -> Self {
        StoreError::Unusable { what, help }
    }
}

/// The holder of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The name from the claim.
    pub name: String,
    /// The time until the lease expires without a renewal; zero once it has expired.
    pub left: Duration,
    /// The fencing token of the lease. A process that knows that the holder is gone ends the lease with it: it
    /// [renews](super::RunQueue::renew) the lease with a term of zero.
    pub fence: u64,
}

/// A query of waiting calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalQuery {
    /// The filter.
    pub about: ApprovalFilter,
    /// The position after which the page begins: run and call of the last entry of the previous page.
    pub after: Option<(String, String)>,
    /// The limit of the page.
    pub limit: usize,
}

/// A filter of waiting calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalFilter {
    /// All calls.
    All,
    /// The calls of this run.
    Run(String),
    /// The calls with this name in traces, or with this id from the model, in any run.
    Call(String),
    /// The call on this suspension, in any run.
    Suspension(String),
}

impl ApprovalQuery {
    /// Creates the query of the first page.
    pub fn new(about: ApprovalFilter, limit: usize) -> Self {
        ApprovalQuery { about, after: None, limit }
    }

    /// Sets the last entry of the previous page.
    #[must_use]
    pub fn after(mut self, last: &Approval) -> Self {
        self.after = Some((last.run.clone(), last.call.clone()));
        self
    }
}

/// A call that waits for a decision.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Approval {
    /// The run of the call.
    pub run: String,
    /// The name of the call in traces.
    pub call: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// The digest of the question. A decision about the call refers to this question.
    pub digest: String,
    /// The suspension.
    pub suspension: Suspension,
    /// The time that is left for a decision, by the store's clock: zero once the question has expired; none without
    /// an expiry.
    pub left: Option<Duration>,
}

impl Approval {
    /// Creates an approval, for stores. It does not expire unless [`leaving`](Self::leaving) sets a time.
    pub fn new(run: String, call: String, tool: String, arguments: Value, suspension: Suspension) -> Self {
        let digest = suspension.digest(&run, &call, &tool, &arguments);
        Approval { run, call, tool, arguments, digest, suspension, left: None }
    }

    /// Sets the time that is left for a decision.
    #[must_use]
    pub fn leaving(mut self, left: Option<Duration>) -> Self {
        self.left = left;
        self
    }

    /// Returns whether the question has expired.
    pub fn is_expired(&self) -> bool {
        self.left.is_some_and(|left| left.is_zero())
    }

    /// Returns the name of the key under which the arguments appear to be stored. Only a load of the run proves it: a
    /// model may choose arguments of that form.
    pub fn key(&self) -> Option<&str> {
        key_of(&self.arguments)
    }
}

/// An expired suspension.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timer {
    /// The run.
    pub run: String,
    /// The name of the waiting call in traces.
    pub call: String,
    /// The suspension.
    pub suspension: String,
}

impl Timer {
    /// Creates a timer, for stores.
    pub fn new(run: String, call: String, suspension: String) -> Self {
        Timer { run, call, suspension }
    }

    /// Creates the timer of a waiting call.
    pub fn of(approval: &Approval) -> Self {
        let Approval { run, call, suspension, .. } = approval;
        Timer::new(run.clone(), call.clone(), suspension.id.clone())
    }
}
