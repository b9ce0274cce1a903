//! What is asked of a store beside single runs.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::NewRun;
use super::error::StoreError;
use super::keyed::key_of;
use crate::decision::Suspension;
use crate::run::RunStatus;

/// Which runs are listed: the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunQuery {
    /// Those in this status; none for all.
    pub status: Option<RunStatus>,
    /// Those that changed last before this time; none for all.
    pub changed_before_ms: Option<u64>,
    /// Those behind this one: creation and id of the last run of the page before.
    pub after: Option<(u64, String)>,
    /// At most so many.
    pub limit: usize,
}

impl RunQuery {
    /// The first page of all runs.
    pub fn all(limit: usize) -> Self {
        RunQuery { status: None, changed_before_ms: None, after: None, limit }
    }

    /// The first page of the runs in this status.
    pub fn status(status: RunStatus, limit: usize) -> Self {
        RunQuery { status: Some(status), ..RunQuery::all(limit) }
    }

    /// The page behind one that ends with this run.
    #[must_use]
    pub fn after(mut self, last: &RunInfo) -> Self {
        self.after = Some((last.created_at_ms, last.id.clone()));
        self
    }
}

/// The claims of a run that may be lost in a row before workers set it aside.
pub const SET_ASIDE_AFTER: u32 = 2;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// Its id.
    pub id: String,
    /// A few words.
    pub title: String,
    /// Its status; `Running` also before it was begun.
    pub status: RunStatus,
    /// Why its last activation ended, as text; none before one has.
    pub reason: Option<String>,
    /// Commits made: 0 before it was begun.
    pub version: u64,
    /// Steps taken.
    pub steps: u32,
    /// Calls that wait.
    pub waiting: u32,
    /// Who has it in hand, be the time over or not.
    pub holder: Option<Holder>,
    /// It is not claimed for so long from now on, but by name; none once that is over.
    pub not_before: Option<Duration>,
    /// Why it did not go on when it last was claimed.
    pub problem: Option<String>,
    /// Somebody wants it cancelled, and says why.
    pub cancel: Option<String>,
    /// Claims in a row that ended with neither a step nor a release: their processes ended, or lost the store, with the run in hand.
    pub lost: u32,
    /// When it was created.
    pub created_at_ms: u64,
    /// When it was created or last committed.
    pub changed_at_ms: u64,
}

impl RunInfo {
    /// A run that was just created.
    ///
    /// ```
    /// use runstate::store::{NewRun, RunInfo};
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

    /// A run of that id, created at that time, for a store that fills in the rest from what it has.
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

    /// Is it set aside: by [`Release::set_aside`](super::Release::set_aside), or by workers with the default of
    /// [`Worker::set_aside_after`](super::Worker::set_aside_after)?
    pub fn is_set_aside(&self) -> bool {
        let is_kept = self.problem.is_some() && self.not_before == Some(Duration::MAX);
        (is_kept || self.lost >= SET_ASIDE_AFTER) && self.status != RunStatus::Done
    }

    /// May it be claimed without its name? `has_mail` says whether a decision is there that was not taken.
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

/// A run of a store, or what is left of one, that cannot be read.
///
/// ```
/// use runstate::store::{CorruptEntry, StoreError};
///
/// let damage = CorruptEntry::new("runs/r1/state.json: EOF at line 3", "restore it from a backup");
/// assert_eq!(damage.to_string(), "runs/r1/state.json: EOF at line 3; restore it from a backup");
/// assert_eq!(StoreError::from(damage.clone()).to_string(), damage.to_string());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct CorruptEntry {
    /// What is wrong, and where.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl CorruptEntry {
    /// As a store gives it.
    pub fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        CorruptEntry { what: what.into(), help: help.into() }
    }
}

impl fmt::Display for CorruptEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.help)
    }
}

impl From<CorruptEntry> for StoreError {
    fn from(CorruptEntry { what, help }: CorruptEntry) -> Self {
        StoreError::Unusable { what, help }
    }
}

/// Who has a run in hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The name that was given with the claim.
    pub name: String,
    /// How long still, unless the lease is renewed; zero once the lease is over.
    pub left: Duration,
    /// The fence of its lease. A process that knows that the holder is gone ends the lease by it: it
    /// [renews](super::RunQueue::renew) it for no time.
    pub fence: u64,
}

/// Which calls that wait are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalQuery {
    /// Which.
    pub about: ApprovalFilter,
    /// Those behind this one: run and call of the last of the page before.
    pub after: Option<(String, String)>,
    /// At most so many.
    pub limit: usize,
}

/// Which calls that wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalFilter {
    /// All of them.
    All,
    /// Those of this run.
    Run(String),
    /// Those of this name in traces, or of this id that the model gave, in any run.
    Call(String),
    /// The one on this suspension, in any run.
    Suspension(String),
}

impl ApprovalQuery {
    /// The first page of these.
    pub fn new(about: ApprovalFilter, limit: usize) -> Self {
        ApprovalQuery { about, after: None, limit }
    }

    /// The page behind one that ends with this.
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
    /// Its run.
    pub run: String,
    /// Its name in traces.
    pub call: String,
    /// The tool it names.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// The digest of the question: an approval is for that one.
    pub digest: String,
    /// What it waits for.
    pub suspension: Suspension,
    /// How long a decision is in time, by the store's clock: zero once it is too late; none where it is always in time.
    pub left: Option<Duration>,
}

impl Approval {
    /// As a store gives it. Without a [time that is left](Self::leaving) a decision is always in time.
    pub fn new(run: String, call: String, tool: String, arguments: Value, suspension: Suspension) -> Self {
        let digest = suspension.digest(&run, &call, &tool, &arguments);
        Approval { run, call, tool, arguments, digest, suspension, left: None }
    }

    /// The same, with the time for which a decision is in time.
    #[must_use]
    pub fn leaving(mut self, left: Option<Duration>) -> Self {
        self.left = left;
        self
    }

    /// Is it too late to decide?
    pub fn is_lapsed(&self) -> bool {
        self.left.is_some_and(|left| left.is_zero())
    }

    /// The name of the key that the arguments seem to be stored under. A load of the run tells whether they are: a model may choose
    /// arguments of that form.
    pub fn key(&self) -> Option<&str> {
        key_of(&self.arguments)
    }
}

/// A suspension that has lapsed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timer {
    /// The run.
    pub run: String,
    /// The call that waits, as it is named in traces.
    pub call: String,
    /// The suspension.
    pub suspension: String,
}

impl Timer {
    /// As a store gives it.
    pub fn new(run: String, call: String, suspension: String) -> Self {
        Timer { run, call, suspension }
    }

    /// That of a call that waits.
    pub fn of(approval: &Approval) -> Self {
        let Approval { run, call, suspension, .. } = approval;
        Timer::new(run.clone(), call.clone(), suspension.id.clone())
    }
}
