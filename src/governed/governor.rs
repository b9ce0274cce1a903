//! The driver of governed runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
use crate::approval::ApprovalId;
use crate::clock::Clock;
use crate::files::Disk;
use crate::governed_run::{AnyGovernedRun, GovernedRun, HaltReason, Reviewers, RunId, RunRecord};
use crate::kernel::Observer;
use crate::snapshot::Keyring;

pub(super) type Result<T> = std::result::Result<T, GovernedError>;

/// Drives governed runs (document 001): plans, executes, asks, verifies, audits, with deadlines, and with files that
/// survive a crash.
///
/// A run belongs to the process that has its lock. Each method that changes a run takes it in hand, first brings its files in line and takes
/// it where its timeout leads if it has expired, and lets it go again; [`status`](Self::status) and [`waits`](Self::waits) only read; so several processes may drive, decide and sweep side by side.
/// File operations block the thread, as syncs do.
pub struct Governor {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) folders: Folders,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) parts: Parts,
    pub(super) rules: Rules,
    pub(super) reviewers: Reviewers,
    observers: Box<Observers>,
    pub(super) taking: Box<dyn Fn(&RunId) + Send + Sync>,
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

/// A run that has its id, its folder and its lock, and is not begun: a crash leaves a folder without a state, and no run. From
/// [`Governor::claim`].
///
/// ```no_run
/// # use runstate::governed::{Governor, GovernedError};
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

    /// Its folder, which is empty.
    pub fn folder(&self) -> PathBuf {
        self.governor.folders.run(&self.id)
    }

    /// Begins the run, in INIT, bound to that digest ([`Rules::bound_to`]).
    ///
    /// # Errors
    /// [`GovernedError::Io`].
    pub fn begin(self, bound_to: Option<String>) -> Result<RunId> {
        self.governor.begin_claimed(self.id, self.lock, bound_to).map(|(open, _)| open.id)
    }
}

/// A run in hand, in order and in time.
pub(super) struct InHand<'a> {
    pub(super) open: OpenRun<'a>,
    pub(super) run: Option<AnyGovernedRun>,
    pub(super) document: Document,
    /// The approval that it had waited for when it was found expired, and until when.
    pub(super) expired: Option<(ApprovalId, u64)>,
}

impl Governor {
    /// A driver with these parts.
    ///
    /// # Errors
    /// [`GovernedError::Reviewers`] when there is no auditor, one without a name, or two of one name;
    /// [`GovernedError::ToolTwice`].
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
        let setting_aside = Box::new(|_: &Path, _: &Path, _| {});
        let keys = None;
        Ok(Governor { disk, folders, clock, parts, rules, reviewers, observers, taking, setting_aside, keys })
    }

    /// Sets the observers of each transition of its runs and of their approvals, as it is taken: `observers` gives an
    /// observer for the machine of that run which traces call by that name, the run's id or the approval's. A
    /// [`Recorder`](crate::trace::Recorder) has them, so that a run is recorded while it is driven.
    ///
    /// The files are the authority: a transition is told before it is written, and one that could not be written is told again
    /// when it is taken again.
    ///
    /// ```no_run
    /// # use runstate::governed::{Governor, GovernedError};
    /// # async fn example(governor: Governor) -> Result<(), GovernedError> {
    /// use runstate::trace::{Recorder, Rulebook, Verdict, check};
    /// use runstate::{governed_run::AnyGovernedRun, kernel::Persist};
    ///
    /// let recorder = Recorder::new("hello");
    /// let observed = recorder.clone();
    /// let governor = governor.observed(move |_, instance| observed.observer(instance));
    /// let run = governor.start("HELLO").await?.run;
    ///
    /// let mut trace = recorder.take();
    /// let book = Rulebook::of([<AnyGovernedRun as Persist>::GRAPH]);
    /// assert_eq!(check(&trace, &book).verdict, Verdict::Conforms);
    /// assert_eq!(trace[0].instance, run.as_str());
    /// // A transition that was not taken is found out.
    /// trace.remove(2);
    /// assert_eq!(check(&trace, &book).verdict, Verdict::Violates);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn observed(self, observers: impl Fn(&RunId, &str) -> Observer + Send + Sync + 'static) -> Self {
        Governor { observers: Box::new(observers), ..self }
    }

    /// The same, for files that others can write: RUN_STATE.json with all that it holds (the history, the plan, reports,
    /// approvals) and the lines of the ledger carry tags under these keys, and neither is taken without.
    ///
    /// Each tag of a state is of the run's id and of the number of its transitions; each tag of a line is of the line before.
    ///
    /// # Limits
    /// - **An older version that is put back**, and lines that are cut off the end of the ledger. A ledger that lacks lines of a
    ///   run is completed when the run is resumed.
    /// - **Records of approvals** in `PENDING/`, `APPROVED/` and `REJECTED/` are copies for people. A decision is held against
    ///   RUN_STATE.json; a copy that differs is written anew.
    /// - **RUN_LOG.jsonl, FINAL_REPORT.md** and the folders that tools work in have no tag.
    /// - A ledger is under keys from its first line on. A new run is refused beside a ledger that ends under none of them: that is a
    ///   mistake in the configuration, and the ledger is moved aside first. For a run that there is such a ledger is set aside
    ///   ([`setting_aside`](Self::setting_aside)), and lines without a tag tell of nothing.
    ///
    /// ```no_run
    /// # use runstate::governed::{Folders, GovernedError, Governor};
    /// # async fn example(
    /// #     folders: Folders, governor: impl Fn(&Folders) -> Result<Governor, GovernedError>,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let keyed = governor(&folders)?.keyed(format!("k1 {}", "ab".repeat(32)).parse()?);
    /// let run = keyed.start("HELLO").await?.run;
    ///
    /// // A governor without the key is refused, and so is a state that was edited.
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

    /// The same, with `taking` called each time that a run which was begun before is in hand, before its files are brought in line
    /// and before its timeout has effects. No other process drives the run then: so this is the place to end the processes that a crashed driver
    /// of the run left running, as the process of a tool.
    ///
    /// ```no_run
    /// # use runstate::governed::Governor;
    /// # fn example(governor: Governor) {
    /// let governor = governor.taking(|run| println!("nothing of {run} is under way from here on"));
    /// # }
    /// ```
    #[must_use]
    pub fn taking(self, taking: impl Fn(&RunId) + Send + Sync + 'static) -> Self {
        Governor { taking: Box::new(taking), ..self }
    }

    /// The same, with `told` called with the path of each file or folder of its runs that is set aside, the path that it is kept under and
    /// the reason, whichever method came upon it.
    ///
    /// ```no_run
    /// # use runstate::governed::Governor;
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

    /// Makes a run of `project`, in INIT. Two of one second have different ids (B11).
    ///
    /// # Errors
    /// [`GovernedError::RunId`] when the project is no name for a run; [`GovernedError::Io`].
    pub fn create(&self, project: &str) -> Result<RunId> {
        self.begin(project).map(|(open, _)| open.id)
    }

    /// Takes an id for a run of `project` and makes its folder. The run begins with [`ClaimedRun::begin`]; what belongs into the folder
    /// before is written between the two.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn claim(&self, project: &str) -> Result<ClaimedRun<'_>> {
        let id = RunId::new(project, self.now())?;
        // The ids of its approvals are made from it, and are names of files.
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

    /// Makes a run and drives it until it is over or waits for a person.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`resume`](Self::resume).
    ///
    /// # Cancel safety
    /// Dropping it is like a crash: what was written is whole, and [`resume`](Self::resume) goes on.
    pub async fn start(&self, project: &str) -> Result<Progressed> {
        let (mut open, run) = self.begin(project)?;
        let (run, waits) = self.drive(&mut open, run).await?;
        Ok(Progressed { run: open.id, status: run.status(), waits, repairs: open.repairs })
    }

    /// Goes on with a run, whatever happened to it: one that waited and was answered, one that a crash left behind (B10).
    /// One that still waits, or is over, stays as it is.
    ///
    /// # Errors
    /// [`GovernedError::NoSuchRun`], [`GovernedError::Busy`]; [`GovernedError::Damaged`] when a file is not what it should
    /// be, and then nothing was written; [`GovernedError::Io`].
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
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

    /// Fails for a run that is bound to another plan.
    pub(super) fn bound(&self, open: &OpenRun<'_>) -> Result<()> {
        if self.is_bound(open) {
            return Ok(());
        }
        let (got, expected) = (self.rules.bound_to.clone(), open.notes.bound_to.clone());
        Err(GovernedError::OtherPlan { run: open.id.clone(), got, expected })
    }

    /// Takes a run in hand, brings its files in line, and takes it where its timeout leads if it has expired.
    pub(super) async fn take(&self, run: &RunId) -> Result<InHand<'_>> {
        self.take_and(run, false).await
    }

    /// The same; and says whether a ledger that is not known is left as it is.
    pub(super) async fn take_and(&self, run: &RunId, leaves_the_ledger: bool) -> Result<InHand<'_>> {
        let Found { mut open, run, document } = self.place().open(run, &self.reviewers, self.now())?;
        open.leaves_the_ledger = leaves_the_ledger;
        (self.taking)(&open.id);
        open.mend(&document)?;
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
