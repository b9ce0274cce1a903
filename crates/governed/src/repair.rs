//! Recovery after a crash: the files of a run are repaired according to RUN_STATE.json.

use std::borrow::Borrow;
use std::io;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use runstate::approval::{ApprovalId, ApprovalStatus};
use runstate::governed_run::GovernedRunStatus;
use runstate::snapshot::Snapshot;

use super::aside::{self, Aside, AsideReason};
use super::document::{Document, MOST_BYTES};
use super::error::GovernedError;
use super::governor::Result;
use super::lines::{Transition, transitions};
use super::logs::{self, Mended};
use super::notes::{APPROVED, Notes, PENDING, REJECTED, folder_of, restored};
use super::open::{OpenRun, Place};
use super::report;

/// The repairs of a run's files; empty if the files were consistent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repairs {
    /// Number of approval records that were written again, moved or removed.
    pub approvals: usize,
    /// Number of lines missing in RUN_LOG.jsonl.
    pub log_lines: usize,
    /// Number of lines missing in RUN_LEDGER.jsonl.
    pub ledger_lines: usize,
    /// Bytes of incomplete lines that were removed from these two files.
    pub cut_bytes: u64,
    /// Whether FINAL_REPORT.md was missing.
    pub report: bool,
    /// The new paths of files that were set aside. A RUN_LOG.jsonl or RUN_LEDGER.jsonl is set aside if it could not
    /// be continued; its lines count as missing. A RUN_REPORTS.jsonl is set aside if it is not the file that the run
    /// wrote; its reports are lost.
    pub set_aside: Vec<PathBuf>,
}

impl Repairs {
    /// Returns whether no repairs were needed.
    pub fn is_empty(&self) -> bool {
        *self == Repairs::default()
    }
}

/// Adds the repairs of a later time.
impl AddAssign for Repairs {
    fn add_assign(&mut self, later: Repairs) {
        let Repairs { approvals, log_lines, ledger_lines, cut_bytes, report, set_aside } = later;
        self.approvals += approvals;
        self.log_lines += log_lines;
        self.ledger_lines += ledger_lines;
        self.cut_bytes += cut_bytes;
        self.report |= report;
        self.set_aside.extend(set_aside);
    }
}

impl OpenRun<'_> {
    /// Repairs the files according to the state. The operation is idempotent.
    pub(super) fn repair(&mut self, document: &Document) -> Result<()> {
        let Place { disk, folders, .. } = self.place;
        let all = transitions(document);
        let log = folders.log(&self.id);
        self.place.make()?;
        self.repairs.approvals = self.mend_approvals(document)?;
        if self.are_lost {
            let reports = folders.reports(&self.id);
            match aside::keep(disk, &reports) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                kept => {
                    let kept = kept.map_err(GovernedError::io(&reports))?;
                    self.kept(&reports, Some((kept, AsideReason::OtherReports)));
                }
            }
        }
        let Mended { appended, cut, set_aside } =
            logs::mend_log(disk, &log, &self.id, &all).map_err(GovernedError::io(&log))?;
        (self.repairs.log_lines, self.repairs.cut_bytes) = (appended, cut);
        self.kept(&log, set_aside);
        self.repairs.ledger_lines = self.ledger(&all, false)?;
        self.repairs.report = self.report(document)?;
        Ok(())
    }

    /// Appends the missing lines to the ledger. Returns their number.
    pub(super) fn ledger(&mut self, all: &[Transition], new: bool) -> Result<usize> {
        let path = self.place.folders.ledger();
        let is_over = all.last().is_some_and(|last| last.to.is_terminal());
        if self.leaves_the_ledger && !is_over {
            let is_known = logs::is_known(self.place, self.notes.ledger.as_ref());
            if !is_known.map_err(GovernedError::io(&path))? {
                return Ok(0);
            }
        }
        let mended = logs::ledger(self.place, &self.id, all, new, &mut self.notes.ledger);
        let Mended { appended, cut, set_aside } = mended.map_err(GovernedError::io(&path))?;
        self.repairs.cut_bytes += cut;
        self.kept(&path, set_aside);
        Ok(appended)
    }

    /// Reports a file that was set aside.
    pub(super) fn kept(&mut self, path: &Path, set_aside: Option<Aside>) {
        if let Some((to, why)) = set_aside {
            (self.place.setting_aside)(path, &to, why);
            self.repairs.set_aside.push(to);
        }
    }

    /// Writes FINAL_REPORT.md if the run is over and has none.
    pub(super) fn report<N: Borrow<Notes>>(&self, document: &Document<GovernedRunStatus, N>) -> Result<bool> {
        let Place { disk, folders, .. } = self.place;
        let path = folders.report(&self.id);
        if !document.current_state.is_terminal()
            || disk.open(&path, runstate_runtime::files::Open::Read).is_ok()
        {
            return Ok(false);
        }
        let text = report::text(document);
        self.put(&path, text.as_bytes())?;
        Ok(true)
    }

    /// Ensures that each approval has exactly one record, in the folder for its status. A question that was never
    /// asked has no record.
    fn mend_approvals(&mut self, document: &Document) -> Result<usize> {
        let mut mended = 0;
        for id in &document.approvals_pending {
            // Another program's file does not contain the approval itself. With a key, there is no such file.
            if self.notes.approval(id).is_none()
                && let Some(adopted) = self.adopted(id)?
            {
                self.notes.keep(adopted);
            }
        }
        for snapshot in self.notes.approvals.clone() {
            let Some(approval) = restored(&snapshot) else {
                return Err(self.inconsistent("an approval that was read cannot be read".to_owned()));
            };
            let (id, right) = (approval.record().id(), folder_of(approval.status()));
            let text = super::notes::record_text(&snapshot);
            if self.record(right, id)?.as_deref() != Some(text.as_bytes()) {
                self.write_record(&snapshot, None)?;
                mended += 1;
            }
            for wrong in [PENDING, APPROVED, REJECTED].into_iter().filter(|folder| *folder != right) {
                mended += usize::from(self.remove_record(wrong, id)?);
            }
        }
        Ok(mended + self.remove_orphans()?)
    }

    /// The record of a pending approval, if it belongs to this run.
    fn adopted(&self, id: &ApprovalId) -> Result<Option<Snapshot>> {
        let Some(bytes) = self.record(PENDING, id)? else { return Ok(None) };
        let snapshot = Snapshot::from_json(&bytes).ok();
        Ok(snapshot.filter(|snapshot| {
            restored(snapshot).is_some_and(|approval| {
                approval.status() == ApprovalStatus::AwaitingHuman
                    && approval.record().run_id() == &self.id
                    && approval.record().id() == id
            })
        }))
    }

    fn record(&self, folder: &str, id: &ApprovalId) -> Result<Option<Vec<u8>>> {
        let path = self.place.folders.record(folder, id);
        match self.place.disk.read(&path, MOST_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => match error.kind() {
                // A record that is too large, or not a file, is written again like any other wrong record.
                io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge | io::ErrorKind::IsADirectory => {
                    Ok(None)
                }
                _ => Err(GovernedError::Io { path, error }),
            },
        }
    }

    pub(super) fn remove_record(&self, folder: &str, id: &ApprovalId) -> Result<bool> {
        let path = self.place.folders.record(folder, id);
        match self.place.disk.remove(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                self.place.make()?;
                Ok(false)
            }
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                aside::keep(self.place.disk, &path).map_err(GovernedError::io(&path))?;
                Ok(true)
            }
            removed => {
                let folder = self.place.folders.records(folder);
                removed
                    .and_then(|()| self.place.disk.sync_folder(&folder))
                    .map_err(GovernedError::io(&path))?;
                Ok(true)
            }
        }
    }

    /// Removes records that were written just before a crash, so that the run does not wait for them.
    fn remove_orphans(&self) -> Result<usize> {
        let folder = self.place.folders.records(PENDING);
        let names = self.place.disk.list(&folder).map_err(GovernedError::io(&folder))?;
        let prefix = format!("{}-A", self.id);
        let mut removed = 0;
        for name in names {
            let number = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(".json"));
            let is_ours = number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()));
            let Some(Ok(id)) = is_ours.then(|| name.trim_end_matches(".json").parse()) else { continue };
            if self.notes.approval(&id).is_none() {
                removed += usize::from(self.remove_record(PENDING, &id)?);
            }
        }
        Ok(removed)
    }
}
