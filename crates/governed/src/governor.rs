//! The driver of governed runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runstate::approval::ApprovalId;
use runstate::governed_run::{AnyGovernedRun, GovernedRun, HaltReason, Reviewers, RunId, RunRecord};
use runstate::kernel::Observer;
use runstate::snapshot::Keyring;
use runstate_runtime::clock::Clock;
use runstate_runtime::files::Disk;

use super::aside::{AsideReason, SettingAside};
use super::chain::Chain;
use super::document::Document;
use super::drive::asked;
use super::error::GovernedError;
use super::folders::Folders;
use super::lock::Lock;
use super::open::{Found, Observers, OpenRun, Place};
use super::outcome::Progressed;
use super::parts::{GovernedTool, Parts};
use super::rules::Rules;

pub(super) type Result<T> = std::result::Result<T, GovernedError>;

/// Driver of governed runs. It plans, executes, asks for approvals, verifies and audits, with deadlines and with
/// files that survive a crash.
///
/// A run belongs to the process that holds its lock. Each method that changes a run takes the lock, repairs the run's
/// files, and performs the timeout transition if the run has expired. It releases the lock at the end.
/// [`status`](Self::status) and [`waits`](Self::waits) only read. So several processes may drive runs, decide on them
/// and expire them concurrently. File operations and syncs block the calling thread.
pub struct Governor {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) folders: Folders,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) parts: Parts,
    pub(super) rules: Rules,
    pub(super) reviewers: Reviewers,
    observers: Box<Observers>,
    pub(super) taking: Box<dyn Fn(&RunId) + Send + Sync>,
    pub(super) resting: Box<dyn Fn(&RunId) + Send + Sync>,
    setting_aside: Box<SettingAside>,
    keys: Option<Keyring>,
}

impl fmt::Debug for Governor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Governor")
            .field("folders", &self.folders)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

/// A run with an id, a folder and a lock that has not begun yet, from [`Governor::claim`]. A crash leaves a folder
/// without a state, and no run.
///
/// ```no_run
/// # use runstate_governed::{Governor, GovernedError};
/// # fn example(governor: &Governor) -> Result<(), Box<dyn std::error::Error>> {
/// let claimed = governor.claim("SITE")?;
/// std::fs::write(claimed.folder().join("plan.yaml"), "…")?;
/// let run = claimed.begin(Some("sha256:…".to_owned()))?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a run that is claimed is not begun"]
#[derive(Debug)]
pub struct ClaimedRun<'g> {
    governor: &'g Governor,
    id: RunId,
    lock: Lock,
}

impl ClaimedRun<'_> {
    /// The id of the run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// The folder of the run, which is empty.
    pub fn folder(&self) -> PathBuf {
        self.governor.folders.run(&self.id)
    }

    /// Begins the run in INIT, bound to that digest ([`Rules::bound_to`]).
    ///
    /// # Errors
    /// [`GovernedError::Io`].
    pub fn begin(self, bound_to: Option<String>) -> Result<RunId> {
        self.governor.begin_claimed(self.id, self.lock, bound_to).map(|(open, _)| open.id)
    }
}

/// A locked run with repaired files that has not expired.
pub(super) struct InHand<'a> {
    pub(super) open: OpenRun<'a>,
    pub(super) run: Option<AnyGovernedRun>,
    pub(super) document: Document,
    /// The approval that the run waited for when it expired, and its deadline.
    pub(super) expired: Option<(ApprovalId, u64)>,
}

impl Governor {
    /// Creates a driver with these parts.
    ///
    /// # Errors
    /// [`GovernedError::Reviewers`] without an auditor, for an auditor without a name, or for two auditors of one
    /// name; [`GovernedError::ToolTwice`].
    pub fn new(
        disk: Arc<dyn Disk>,
        folders: Folders,
        clock: Arc<dyn Clock>,
        parts: Parts,
        rules: Rules,
    ) -> Result<Self> {
        let reviewers = Reviewers::new(parts.auditors.iter().map(|auditor| auditor.name()))?;
        for (i, tool) in parts.tools.iter().enumerate() {
            if parts.tools[..i].iter().any(|other| other.name() == tool.name()) {
                return Err(GovernedError::ToolTwice { tool: tool.name().to_owned() });
            }
        }
        let observers = Box::new(|_: &RunId, _: &str| Observer::default());
        let taking = Box::new(|_: &RunId| {});
        let resting = Box::new(|_: &RunId| {});
        let setting_aside = Box::new(|_: &Path, _: &Path, _| {});
        let keys = None;
        Ok(Governor {
            disk,
            folders,
            clock,
            parts,
            rules,
            reviewers,
            observers,
            taking,
            resting,
            setting_aside,
            keys,
        })
    }

    /// Sets the observers of transitions of runs and of their approvals. `observers` returns an observer for a
    /// machine of a run. The machine's name in traces is the run's id or the approval's id. With the observers of a
    /// [`Recorder`](runstate::trace::Recorder), runs are recorded while they are driven. Default: none.
    ///
    /// The files are the authority. A transition is reported before it is written. If it cannot be written, it is
    /// reported again when it is repeated.
    ///
    /// ```no_run
    /// # use runstate_governed::{Governor, GovernedError};
    /// # async fn example(governor: Governor) -> Result<(), GovernedError> {
    /// use runstate::trace::{Recorder, Rulebook, Verdict, check};
    /// use runstate::{governed_run::AnyGovernedRun, kernel::Stateful};
    ///
    /// let recorder = Recorder::new("hello");
    /// let observed = recorder.clone();
    /// let governor = governor.observed(move |_, instance| observed.observer(instance));
    /// let run = governor.start("HELLO").await?.run;
    ///
    /// let mut trace = recorder.take();
    /// let book = Rulebook::of([<AnyGovernedRun as Stateful>::GRAPH]);
    /// assert_eq!(check(&trace, &book).verdict, Verdict::Conforms);
    /// assert_eq!(trace[0].instance, run.as_str());
    /// // A missing transition is detected.
    /// trace.remove(2);
    /// assert_eq!(check(&trace, &book).verdict, Verdict::Violates);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn observed(self, observers: impl Fn(&RunId, &str) -> Observer + Send + Sync + 'static) -> Self {
        Governor { observers: Box::new(observers), ..self }
    }

    /// Sets keys for files that others can write. RUN_STATE.json with its whole content (history, plan, reports,
    /// approvals) and the lines of the ledger then carry tags under these keys. A file without a valid tag is
    /// refused. Default: no keys.
    ///
    /// The tag of a state covers the run's id and the number of its transitions. The tag of a line covers the
    /// previous line.
    ///
    /// # Limits
    /// - **An older version that is restored**, and lines that are removed from the end of the ledger, are not
    ///   detected. A ledger that lacks lines of a run is completed when the run is resumed.
    /// - **Records of approvals** in `PENDING/`, `APPROVED/` and `REJECTED/` are copies for human readers. A decision
    ///   is checked against RUN_STATE.json; a copy that differs is written again.
    /// - **RUN_LOG.jsonl, FINAL_REPORT.md** and the working folders of tools have no tag.
    /// - A ledger is under keys from its first line on. A new run is refused if the ledger ends under none of the
    ///   keys: that is a configuration error, and the ledger must be moved first. For an existing run, such a ledger
    ///   is set aside ([`setting_aside`](Self::setting_aside)), and its lines without a tag are ignored.
    ///
    /// ```no_run
    /// # use runstate_governed::{Folders, GovernedError, Governor};
    /// # async fn example(
    /// #     folders: Folders, governor: impl Fn(&Folders) -> Result<Governor, GovernedError>,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let keyed = governor(&folders)?.keyed(format!("k1 {}", "ab".repeat(32)).parse()?);
    /// let run = keyed.start("HELLO").await?.run;
    ///
    /// // A governor without the key refuses the run, and the governor with the key refuses an edited state.
    /// let refused = governor(&folders)?.status(&run).unwrap_err().to_string();
    /// assert!(refused.contains("it is stored under the key \"k1\""), "{refused}");
    /// let path = folders.state(&run);
    /// let edited = std::fs::read_to_string(&path)?.replace("nothing was done", "all was done");
    /// std::fs::write(&path, edited)?;
    /// let refused = keyed.status(&run).unwrap_err().to_string();
    /// assert!(refused.contains("its tag does not fit"), "{refused}");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn keyed(self, keys: Keyring) -> Self {
        Governor { keys: Some(keys), ..self }
    }

    /// Sets a callback for each time that a previously begun run is locked. It runs before the files are repaired and
    /// before a timeout takes effect. No other process drives the run then. So the callback can end processes left by
    /// a crashed driver of the run, such as the process of a tool. Default: none.
    ///
    /// ```no_run
    /// # use runstate_governed::Governor;
    /// # fn example(governor: Governor) {
    /// let governor = governor.taking(|run| println!("nothing of {run} is under way from here on"));
    /// # }
    /// ```
    #[must_use]
    pub fn taking(self, taking: impl Fn(&RunId) + Send + Sync + 'static) -> Self {
        Governor { taking: Box::new(taking), ..self }
    }

    /// Sets a callback for each time that a drive of a run ends: the run waits for an approver, or is over, or an error
    /// stopped it. It runs before the lock of the run is released. So the callback can end processes that serve several
    /// tools of the drive. Default: none.
    ///
    /// ```no_run
    /// # use runstate_governed::Governor;
    /// # fn example(governor: Governor) {
    /// let governor = governor.resting(|run| println!("no tool of {run} is called from here on"));
    /// # }
    /// ```
    #[must_use]
    pub fn resting(self, resting: impl Fn(&RunId) + Send + Sync + 'static) -> Self {
        Governor { resting: Box::new(resting), ..self }
    }

    /// Sets a callback for each file or folder of a run that is set aside, whichever method sets it aside. `told`
    /// gets the path, the new path, and the reason. Default: none.
    ///
    /// ```no_run
    /// # use runstate_governed::Governor;
    /// # fn example(governor: Governor) {
    /// let governor = governor.setting_aside(|damaged, kept, why| {
    ///     eprintln!("{} {why}: it is kept as {}", damaged.display(), kept.display());
    /// });
    /// # }
    /// ```
    #[must_use]
    pub fn setting_aside(self, told: impl Fn(&Path, &Path, AsideReason) + Send + Sync + 'static) -> Self {
        Governor { setting_aside: Box::new(told), ..self }
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.now_ms()
    }

    pub(super) fn tool(&self, name: &str) -> Option<&dyn GovernedTool> {
        self.parts.tools.iter().find(|tool| tool.name() == name).map(AsRef::as_ref)
    }

    pub(super) fn place(&self) -> Place<'_> {
        Place {
            disk: self.disk.as_ref(),
            folders: &self.folders,
            chain: match &self.keys {
                Some(keys) => Chain::Keyed(keys),
                None if self.rules.chained => Chain::Digests,
                None => Chain::Loose,
            },
            observers: &*self.observers,
            setting_aside: &*self.setting_aside,
        }
    }

    /// Creates a run of `project` in INIT. Two runs created in one second have different ids.
    ///
    /// # Errors
    /// [`GovernedError::RunId`] when the project's name cannot be part of a run id; [`GovernedError::Io`].
    pub fn create(&self, project: &str) -> Result<RunId> {
        self.begin(project).map(|(open, _)| open.id)
    }

    /// Reserves an id for a run of `project`, and creates its folder. The run begins with [`ClaimedRun::begin`].
    /// Files that the run needs from its beginning are written in between.
    ///
    /// # Errors
    /// See [`create`](Self::create).
    pub fn claim(&self, project: &str) -> Result<ClaimedRun<'_>> {
        let id = RunId::new(project, self.now())?;
        // The ids of its approvals are derived from the run id, and are file names.
        if let Err(error) = format!("{id}-A999999").parse::<ApprovalId>() {
            return Err(GovernedError::Refused {
                approval: "A1".parse().unwrap_or_else(|_| unreachable!("it is one")),
                why: format!("the name of the project is too long: {error}"),
            });
        }
        let (id, lock) = self.place().claim(id)?;
        Ok(ClaimedRun { governor: self, id, lock })
    }

    fn begin(&self, project: &str) -> Result<(OpenRun<'_>, AnyGovernedRun)> {
        let ClaimedRun { id, lock, .. } = self.claim(project)?;
        self.begin_claimed(id, lock, self.rules.bound_to.clone())
    }

    fn begin_claimed(
        &self,
        id: RunId,
        lock: Lock,
        bound_to: Option<String>,
    ) -> Result<(OpenRun<'_>, AnyGovernedRun)> {
        let mut open = self.place().begin(id, lock);
        open.notes.bound_to = bound_to;
        let observer = open.observer(open.id.as_str());
        let record =
            RunRecord::new(open.id.clone(), self.now()).limited(self.rules.limits).observed(observer);
        let run = GovernedRun::new(record);
        open.moved(&run)?;
        Ok((open, run.into()))
    }

    /// Creates a run, and drives it until it is over or waits for an approver.
    ///
    /// # Errors
    /// See [`create`](Self::create) and [`resume`](Self::resume).
    ///
    /// # Cancel safety
    /// A dropped future is like a crash: everything written is complete, and [`resume`](Self::resume) continues the
    /// run.
    pub async fn start(&self, project: &str) -> Result<Progressed> {
        let (mut open, run) = self.begin(project)?;
        let (run, waits) = self.drive(&mut open, run).await?;
        Ok(Progressed { run: open.id, status: run.status(), waits, repairs: open.repairs })
    }

    /// Continues a run: after an answer, or after a crash. A run that still waits, or is over, does not change.
    ///
    /// After a crash, INIT, PLANNING, VERIFYING and AUDITING start again. In EXECUTING, an interrupted call of a
    /// read-only tool is repeated, and an interrupted call of any other tool halts the run. An interrupted rollback
    /// is repeated.
    ///
    /// # Errors
    /// [`GovernedError::NoSuchRun`], [`GovernedError::Busy`]; [`GovernedError::Damaged`] when a file is invalid, in
    /// which case nothing was written; [`GovernedError::Io`].
    ///
    /// # Cancel safety
    /// See [`start`](Self::start).
    pub async fn resume(&self, run: &RunId) -> Result<Progressed> {
        let InHand { mut open, run, document, .. } = self.take(run).await?;
        let Some(run) = run else {
            let status = document.current_state;
            return Ok(Progressed { run: open.id, status, waits: None, repairs: open.repairs });
        };
        if !run.status().is_terminal() {
            self.bound(&open)?;
        }
        let (run, waits) = self.drive(&mut open, run).await?;
        Ok(Progressed { run: open.id, status: run.status(), waits, repairs: open.repairs })
    }

    /// Checks whether the run is bound to the plan of this governor.
    pub(super) fn is_bound(&self, open: &OpenRun<'_>) -> bool {
        open.notes.bound_to == self.rules.bound_to
    }

    /// Fails if the run is bound to another plan.
    pub(super) fn bound(&self, open: &OpenRun<'_>) -> Result<()> {
        if self.is_bound(open) {
            return Ok(());
        }
        let (got, expected) = (self.rules.bound_to.clone(), open.notes.bound_to.clone());
        Err(GovernedError::OtherPlan { run: open.id.clone(), got, expected })
    }

    /// Locks a run, repairs its files, and performs the timeout transition if it has expired.
    pub(super) async fn take(&self, run: &RunId) -> Result<InHand<'_>> {
        self.take_and(run, Some(self.now()), false).await
    }

    /// Locks a run as [`take`](Self::take) does. Without `now`, times in the future are no fault. `leaves_the_ledger`
    /// skips a ledger that would have to be read from its beginning.
    pub(super) async fn take_and(
        &self,
        run: &RunId,
        now: Option<u64>,
        leaves_the_ledger: bool,
    ) -> Result<InHand<'_>> {
        let Found { mut open, run, document } = self.place().open(run, &self.reviewers, now)?;
        open.leaves_the_ledger = leaves_the_ledger;
        (self.taking)(&open.id);
        open.repair(&document)?;
        let Some(run) = run else {
            return Ok(InHand { open, run: None, document, expired: None });
        };
        let Some(past) = self.expired(&open, &run) else {
            return Ok(InHand { open, run: Some(run), document, expired: None });
        };
        let expired = asked(&run, &open.notes);
        let run = self.ended(&mut open, run, HaltReason::Timeout, past).await?;
        Ok(InHand { open, run: Some(run), document, expired })
    }
}
