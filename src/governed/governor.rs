//! The driver of governed runs.

use std::fmt;
use std::sync::Arc;

use super::document::Document;
use super::drive::{pending, question};
use super::error::GovernedError;
use super::folders::Folders;
use super::mend::Repairs;
use super::notes::{Purpose, Standing, short};
use super::open::{Found, OpenRun, Place};
use super::outcome::{Progressed, RunStatus, Swept, Waits};
use super::parts::{GovernedTool, Parts};
use super::rules::Rules;
use crate::approval::{self, Approval, ApprovalId, AwaitingHuman};
use crate::clock::Clock;
use crate::files::Disk;
use crate::governed_run::{
    AnswerError, AnyGovernedRun, AwaitingApproval, GovernedRun, GovernedRunStatus, Reviewers, RunId,
    RunRecord,
};

type Result<T> = std::result::Result<T, GovernedError>;

/// Drives governed runs (document 001): plans, executes, asks, verifies, audits, with deadlines, and with files that
/// survive a crash.
///
/// A run belongs to whoever has its lock. Each method takes the run in hand, first brings its files in line and takes it
/// where its timeout leads if it has expired, and lets it go again; so several processes may drive, decide and sweep side by side.
/// File operations block the thread, as syncs do.
pub struct Governor {
    disk: Arc<dyn Disk>,
    folders: Folders,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) parts: Parts,
    pub(super) rules: Rules,
    pub(super) reviewers: Reviewers,
}

impl fmt::Debug for Governor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Governor")
            .field("folders", &self.folders)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

/// A run in hand, in order and in time.
struct InHand<'a> {
    open: OpenRun<'a>,
    run: Option<AnyGovernedRun>,
    document: Document,
    repairs: Repairs,
    /// The approval that it had waited for when it was found expired, and until when.
    expired: Option<(ApprovalId, u64)>,
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
        Ok(Governor { disk, folders, clock, parts, rules, reviewers })
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.now_ms()
    }

    pub(super) fn tool(&self, name: &str) -> Option<&dyn GovernedTool> {
        self.parts.tools.iter().find(|tool| tool.name() == name).map(AsRef::as_ref)
    }

    fn place(&self) -> Place<'_> {
        Place { disk: self.disk.as_ref(), folders: &self.folders, chained: self.rules.chained }
    }

    /// Makes a run of `project`, in INIT. Two of one second have different ids (B11).
    ///
    /// # Errors
    /// [`GovernedError::RunId`] when the project is no name for a run; [`GovernedError::Io`].
    pub fn create(&self, project: &str) -> Result<RunId> {
        self.begin(project).map(|(open, _)| open.id)
    }

    fn begin(&self, project: &str) -> Result<(OpenRun<'_>, AnyGovernedRun)> {
        let now = self.now();
        let id = RunId::new(project, now)?;
        // The ids of its approvals are made from it, and are names of files.
        if let Err(error) = format!("{id}-A999999").parse::<ApprovalId>() {
            return Err(GovernedError::Refused {
                approval: "A1".parse().unwrap_or_else(|_| unreachable!("it is one")),
                why: format!("the name of the project is too long: {error}"),
            });
        }
        let mut open = self.place().begin(self.place().claim(id)?)?;
        let record = RunRecord::new(open.id.clone(), now).limited(self.rules.limits);
        let run = GovernedRun::new(record);
        open.moved(&run)?;
        Ok((open, run.into()))
    }

    /// Makes a run and drives it until it is over or waits for somebody.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`resume`](Self::resume).
    ///
    /// # Cancel safety
    /// Dropping it is like a crash: what was written is whole, and [`resume`](Self::resume) goes on.
    pub async fn start(&self, project: &str) -> Result<Progressed> {
        let (mut open, run) = self.begin(project)?;
        let (run, waits) = self.drive(&mut open, run).await?;
        Ok(Progressed { run: open.id, status: run.status(), waits, repairs: Repairs::default() })
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
        let InHand { mut open, run, document, repairs, .. } = self.take(run).await?;
        let Some(run) = run else {
            let status = document.current_state;
            return Ok(Progressed { run: open.id, status, waits: None, repairs });
        };
        let (run, waits) = self.drive(&mut open, run).await?;
        Ok(Progressed { run: open.id, status: run.status(), waits, repairs })
    }

    /// A person says yes. The run goes on executing when it is [resumed](Self::resume).
    ///
    /// # Errors
    /// [`GovernedError::Expired`] for a decision that came too late: the run is halted then. [`GovernedError::NotAsked`]
    /// when the run does not wait for this approval; [`GovernedError::Refused`] for a decision by nobody; else as
    /// [`resume`](Self::resume).
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn approve(&self, run: &RunId, approval: &ApprovalId, by: &str, why: &str) -> Result<()> {
        let (mut open, run, asked) = self.asked(run, approval).await?;
        let mut answer = approval::Approve::new(by, self.now());
        if !why.trim().is_empty() {
            answer = answer.because(short(why));
        }
        let purpose = purpose(&open);
        match run.approved_with(asked, &answer) {
            Ok((run, asked)) => {
                open.keep(&asked)?;
                open.notes.standing = Standing::Granted { approval: approval.clone(), purpose };
                open.moved(&run).map(drop)
            }
            Err(back) => Err(refused(approval, &back.error)),
        }
    }

    /// A person says no: what was done is rolled back, and the run is over (B5).
    ///
    /// # Errors
    /// As [`approve`](Self::approve).
    ///
    /// # Cancel safety
    /// As [`start`](Self::start); once the decision is written, resuming the run rolls it back.
    pub async fn reject(
        &self,
        run: &RunId,
        approval: &ApprovalId,
        by: &str,
        why: &str,
    ) -> Result<GovernedRunStatus> {
        let (mut open, run, _) = self.asked(run, approval).await?;
        if by.trim().is_empty() {
            let error = AnswerError::Approval(approval::ApprovalError::Nobody);
            return Err(refused(approval, &error));
        }
        let why = if why.trim().is_empty() { "rejected" } else { why };
        let at = self.now();
        let run = self.finish_rejection(&mut open, run, &short(why), by, at).await?;
        Ok(run.status())
    }

    /// A person passes the question on: the run is halted (B4).
    ///
    /// # Errors
    /// As [`approve`](Self::approve).
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn escalate(
        &self,
        run: &RunId,
        approval: &ApprovalId,
        by: &str,
        why: &str,
    ) -> Result<GovernedRunStatus> {
        let (mut open, run, asked) = self.asked(run, approval).await?;
        if by.trim().is_empty() {
            return Err(refused(approval, &AnswerError::Approval(approval::ApprovalError::Nobody)));
        }
        let why = format!("{by}: {}", if why.trim().is_empty() { "no reason was given" } else { why });
        match run.escalated_with(asked, &short(&why), self.now()) {
            Ok((run, asked)) => {
                open.keep(&asked)?;
                open.notes.standing = Standing::Idle;
                open.moved(&run)?;
                Ok(GovernedRunStatus::HaltedUnsafe)
            }
            Err(back) => Err(refused(approval, &back.error)),
        }
    }

    /// Where a run is. One that has expired goes where its timeout leads first, unless somebody has it in hand.
    ///
    /// # Errors
    /// As [`resume`](Self::resume), but not [`GovernedError::Busy`].
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn status(&self, run: &RunId) -> Result<RunStatus> {
        let seen = RunStatus::of(&self.place().read(run, self.now())?);
        if !seen.is_expired(self.now()) {
            return Ok(seen);
        }
        match self.take(run).await {
            Ok(_) => Ok(RunStatus::of(&self.place().read(run, self.now())?)),
            Err(GovernedError::Busy { .. }) => Ok(seen),
            Err(error) => Err(error),
        }
    }

    /// Takes every run that has expired where its timeout leads, and says what came of it; runs that somebody has in hand,
    /// that are over, or that have time left are not named.
    ///
    /// # Errors
    /// [`GovernedError::Io`] when the folder of runs cannot be read. What is wrong with a single run is in its place in the
    /// list.
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn sweep(&self) -> Result<Vec<Swept>> {
        let mut swept = Vec::new();
        for run in self.runs()? {
            let went = match self.place().read(&run, self.now()) {
                Ok(document) if RunStatus::of(&document).is_expired(self.now()) => {
                    match self.take(&run).await {
                        Ok(taken) => {
                            let status = taken.run.as_ref().map(AnyGovernedRun::status);
                            Ok(status.unwrap_or(taken.document.current_state))
                        }
                        Err(GovernedError::Busy { .. }) => continue,
                        Err(error) => Err(error),
                    }
                }
                // A folder that was claimed and never begun has no state.
                Ok(_) | Err(GovernedError::NoSuchRun { .. }) => continue,
                Err(error) => Err(error),
            };
            swept.push(Swept { run, went });
        }
        Ok(swept)
    }

    /// The runs that there are, by their folders, in order.
    ///
    /// # Errors
    /// [`GovernedError::Io`] when the folder of runs cannot be read.
    pub fn runs(&self) -> Result<Vec<RunId>> {
        let names = match self.disk.list(self.folders.runs()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            names => names.map_err(GovernedError::io(self.folders.runs()))?,
        };
        Ok(names.into_iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Takes a run in hand, brings its files in line, and takes it where its timeout leads if it has expired.
    async fn take(&self, run: &RunId) -> Result<InHand<'_>> {
        let Found { mut open, run, document } = self.place().open(run, &self.reviewers, self.now())?;
        let repairs = open.mend(&document)?;
        let Some(run) = run else {
            return Ok(InHand { open, run: None, document, repairs, expired: None });
        };
        let Some(past) = self.expired(&open, &run) else {
            return Ok(InHand { open, run: Some(run), document, repairs, expired: None });
        };
        let expired = match &run {
            AnyGovernedRun::AwaitingApproval(run) => Some((run.state().approval().clone(), run.answer_by())),
            _ => None,
        };
        let run = self.expire(&mut open, run, past).await?;
        Ok(InHand { open, run: Some(run), document, repairs, expired })
    }

    /// A run that waits for this approval.
    async fn asked(
        &self,
        run: &RunId,
        approval: &ApprovalId,
    ) -> Result<(OpenRun<'_>, GovernedRun<AwaitingApproval>, Approval<AwaitingHuman>)> {
        let InHand { open, run, document, expired, .. } = self.take(run).await?;
        if let Some((id, deadline)) = expired
            && id == *approval
        {
            return Err(GovernedError::Expired { approval: id, deadline, at: self.now() });
        }
        let state = run.as_ref().map_or(document.current_state, AnyGovernedRun::status);
        let being_rejected = matches!(open.notes.standing, Standing::RollingBack { .. });
        match run {
            Some(AnyGovernedRun::AwaitingApproval(run))
                if run.state().approval() == approval && !being_rejected =>
            {
                if let Some(asked) = question(&open, &run) {
                    return Ok((open, run, asked));
                }
            }
            _ => {}
        }
        let status = open.notes.approval(approval).map(|approval| approval.status());
        Err(GovernedError::NotAsked { run: open.id, approval: approval.clone(), status, state })
    }

    /// What a run waits for, if it waits for an approval.
    ///
    /// # Errors
    /// As [`status`](Self::status), and [`GovernedError::Busy`].
    ///
    /// # Cancel safety
    /// As [`start`](Self::start).
    pub async fn waits(&self, run: &RunId) -> Result<Option<Waits>> {
        let InHand { open, run, .. } = self.take(run).await?;
        Ok(match &run {
            Some(AnyGovernedRun::AwaitingApproval(run)) => Some(Waits::Approval(pending(&open, run))),
            _ => None,
        })
    }
}

fn purpose(open: &OpenRun<'_>) -> Purpose {
    match open.notes.standing {
        Standing::Asked { purpose, .. } => purpose,
        _ => Purpose::Begin,
    }
}

fn refused(approval: &ApprovalId, error: &AnswerError) -> GovernedError {
    use crate::approval::ApprovalError;
    use crate::governed_run::GovernedRunError;
    match error {
        AnswerError::Refused(GovernedRunError::Expired { deadline, at, .. })
        | AnswerError::Approval(ApprovalError::Expired { deadline, at }) => {
            GovernedError::Expired { approval: approval.clone(), deadline: *deadline, at: *at }
        }
        error => GovernedError::Refused { approval: approval.clone(), why: error.to_string() },
    }
}
