//! The file `state.json`: the small data that each commit replaces, and the valid lengths of the logs.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use runstate::decision::Decision;
use runstate::run::RunStatus;
use runstate_runtime::clock::Clock;
use runstate_runtime::files::{Disk, Open, write_atomic_unsynced};
use serde::{Deserialize, Serialize};

use super::super::error::StoreError;
use super::super::lease::{Claim, Lease, Release, lost_claims};
use super::super::query::{Holder, RunInfo};
use super::super::thread::{ThreadPlace, UserMessage};
use super::super::time::{Now, left};
use super::super::{NewRun, PendingSignals};
use super::layout::{FORMAT, MOST_READ, Place};
use super::log::Log;
use super::problem::{damaged, failed, fits, too_large, unsynced};
use super::rows::{CallLine, Raw};
use super::runs::LOGS;

/// The state of a run: the small data that each commit replaces.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    format: u32,
    pub(super) id: String,
    title: String,
    pub(super) status: RunStatus,
    pub(super) reason: Option<String>,
    pub(super) version: u64,
    pub(super) steps: u32,
    pub(super) waiting: u32,
    created_at_ms: u64,
    pub(super) changed_at_ms: u64,
    /// The fencing token of the newest lease.
    pub(super) fence: u64,
    /// The fencing token under which the last commit was made.
    pub(super) committed_under: u64,
    holder: Option<HolderEntry>,
    pub(super) not_before_ms: Option<u64>,
    /// The boot in which the clock of this state began. The expiry of the lease, `not_before_ms` and the expiries of
    /// questions are measured by it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    boot: String,
    pub(super) problem: Option<String>,
    pub(super) cancel: Option<String>,
    /// Consecutive claims that ended with neither a step nor a release.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) lost: u32,
    /// The steps of the run at its last claim.
    #[serde(default, skip_serializing_if = "is_zero")]
    claimed_steps: u32,
    /// Decisions that were accepted and not taken, in the order of their arrival.
    pub(super) posted: Vec<Decision>,
    /// A message that was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<UserMessage>,
    /// The ids of the messages that closed questions of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) heard: Vec<String>,
    /// The id of the message with which the run begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) begins_with: Option<String>,
    /// The next run of the thread. Its creation had begun when this was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    /// The position of the run on a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) thread: Option<ThreadPlace>,
    /// Calls that are not settled.
    pub(super) open_calls: BTreeMap<String, CallLine>,
    pub(super) run_values: BTreeMap<String, Raw>,
    pub(super) thread_values: BTreeMap<String, Raw>,
    pub(super) core: Option<Raw>,
    pub(super) run: Option<Raw>,
    /// The number of the last trace event.
    pub(super) traced: u64,
    pub(super) logs: Logs,
}

/// The valid content of each log.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Logs {
    pub(super) messages: Log,
    pub(super) calls: Log,
    pub(super) decisions: Log,
    pub(super) trace: Log,
    #[serde(default, skip_serializing_if = "Log::is_unused")]
    pub(super) events: Log,
}

impl Logs {
    /// Returns each log with its name.
    pub(super) fn all(&mut self) -> [(&'static str, &mut Log); LOGS.len()] {
        let Logs { messages, calls, decisions, trace, events } = self;
        let [a, b, c, d, e] = LOGS;
        [(a, messages), (b, calls), (c, decisions), (d, trace), (e, events)]
    }

    /// Returns the number of bytes in the state that are not in a log.
    pub(super) fn fresh(&self) -> u64 {
        let Logs { messages, calls, decisions, trace, events } = self;
        [messages, calls, decisions, trace, events].into_iter().map(Log::fresh).sum()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HolderEntry {
    name: String,
    until_ms: u64,
}

/// The format of a file, with all other fields ignored.
#[derive(Deserialize)]
struct Formatted {
    format: u32,
}

impl State {
    /// Creates the state of a new run.
    pub(super) fn created(new: &NewRun, clock: &dyn Clock) -> Self {
        State {
            format: FORMAT,
            id: new.id.clone(),
            title: new.title.clone(),
            status: RunStatus::Running,
            reason: None,
            version: 0,
            steps: 0,
            waiting: 0,
            created_at_ms: new.at_ms,
            changed_at_ms: new.at_ms,
            fence: 0,
            committed_under: 0,
            holder: None,
            not_before_ms: new.not_before.map(|time| Now::of(clock).after(time)),
            boot: clock.boot().to_owned(),
            problem: None,
            cancel: None,
            lost: 0,
            claimed_steps: 0,
            posted: Vec::new(),
            message: None,
            heard: Vec::new(),
            next: None,
            begins_with: new.begins_with.clone(),
            thread: new.thread.clone(),
            open_calls: BTreeMap::new(),
            run_values: BTreeMap::new(),
            thread_values: BTreeMap::new(),
            core: None,
            run: None,
            traced: 0,
            logs: Logs::default(),
        }
    }

    /// Reads the state in that place and converts it to that boot. None if the place has no run.
    pub(super) fn read(disk: &dyn Disk, place: &Place, boot: &str) -> Result<Option<State>, StoreError> {
        State::json(disk, place)?.map(|json| State::of(&json, place, boot)).transpose()
    }

    /// Reads the bytes of the state in that place.
    pub(super) fn json(disk: &dyn Disk, place: &Place) -> Result<Option<Vec<u8>>, StoreError> {
        let path = place.state();
        match disk.read(&path, MOST_READ) {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(too_large(&path, error)),
            read => if_there(&path, |_| read),
        }
    }

    /// Returns whether that place has a state, with any content.
    pub(super) fn is_there(disk: &dyn Disk, place: &Place) -> Result<bool, StoreError> {
        Ok(if_there(&place.state(), |path| disk.open(path, Open::Read))?.is_some())
    }

    /// Parses the state of that place and converts it to that boot.
    pub(super) fn of(json: &[u8], place: &Place, boot: &str) -> Result<State, StoreError> {
        let path = place.state();
        let read: Result<State, _> = runstate::json::from_slice(json);
        // Another version may have other fields, so the format is checked first.
        let format = match &read {
            Ok(state) => state.format,
            Err(_) => {
                let said: Result<Formatted, _> = runstate::json::from_slice(json);
                said.map_err(|error| damaged(&path, error))?.format
            }
        };
        if format != FORMAT {
            let path = path.display();
            let what = format!("{path}: it has format {format}, and this program knows format {FORMAT}");
            return Err(StoreError::unusable(what, "use the version of the program that wrote it"));
        }
        let read = read.map_err(|error| match error.to_string() {
            what if what.starts_with("unknown field") => StoreError::unusable(
                format_args!("{}: {what}", path.display()),
                "nothing was changed: use the version of the program that wrote it, or a later one",
            ),
            _ => damaged(&path, error),
        });
        read.map(|state| state.entering(boot))
    }

    /// Converts the state to that boot. A lease of another boot is over, since no process survives, and so is a
    /// finite retry delay. Questions then expire at their stored dates.
    fn entering(mut self, boot: &str) -> State {
        if self.boot != boot {
            boot.clone_into(&mut self.boot);
            if let Some(holder) = &mut self.holder {
                holder.until_ms = 0;
            }
            self.not_before_ms = self.not_before_ms.filter(|at| left(0, *at) == Duration::MAX);
            let waits = self.open_calls.values_mut().filter_map(|call| call.waits.as_mut());
            waits.for_each(|waits| waits.lapses_at_ms = None);
        }
        self
    }

    /// Writes the state durably. If the final sync fails, the new state may already be visible. A state of more than
    /// `most` bytes is refused.
    pub(super) fn write(&self, disk: &dyn Disk, place: &Place, most: u64) -> Result<(), StoreError> {
        let path = place.state();
        let mut json = serde_json::to_vec_pretty(self).map_err(StoreError::failed)?;
        json.push(b'\n');
        fits(&path, json.len() as u64, most)?;
        write_atomic_unsynced(disk, &path, &json).map_err(failed(&path))?;
        disk.sync_folder(&place.folder).map_err(unsynced(&place.folder))
    }

    /// Checks that the state belongs to that run and was not copied from another one.
    pub(super) fn is_of(&self, run: &str, path: &Path) -> Result<(), StoreError> {
        if self.id == run {
            return Ok(());
        }
        Err(damaged(path, format_args!("it is that of the run {:?}, in the folder of {run:?}", self.id)))
    }

    /// Returns the entry of the run in lists, without its lease and its retry delay.
    pub(super) fn info_at_rest(&self) -> RunInfo {
        let mut info = RunInfo::new(&*self.id, &*self.title, self.created_at_ms);
        (info.status, info.version) = (self.status, self.version);
        (info.steps, info.waiting) = (self.steps, self.waiting);
        info.reason.clone_from(&self.reason);
        info.problem.clone_from(&self.problem);
        info.cancel.clone_from(&self.cancel);
        info.lost = self.lost;
        info.changed_at_ms = self.changed_at_ms;
        info
    }

    pub(super) fn pending_signals(&self) -> PendingSignals {
        PendingSignals::new(self.posted.clone(), self.cancel.clone()).with_message(self.message.clone())
    }

    /// Returns the lease and the retry delay.
    pub(super) fn hold(&self) -> Hold {
        Hold { holder: self.holder.clone(), fence: self.fence, not_before: self.not_before_ms }
    }

    pub(super) fn info(&self, now: Now) -> RunInfo {
        self.hold().at(now, self.info_at_rest())
    }

    pub(super) fn is_held(&self, now: Now) -> Result<(), StoreError> {
        match self.info(now).holder {
            Some(Holder { name: holder, left, .. }) if !left.is_zero() => {
                Err(StoreError::Held { run: self.id.clone(), holder, left })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_fenced(&self, lease: &Lease) -> Result<(), StoreError> {
        if lease.fence == self.fence {
            return Ok(());
        }
        let (run, fence) = (lease.run.clone(), lease.fence);
        Err(StoreError::Fenced { run, fence, current: self.fence })
    }

    /// Returns whether a decision or a message is pending.
    pub(super) fn has_mail(&self) -> bool {
        self.message.is_some() || !self.posted.is_empty()
    }

    pub(super) fn can_go_on(&self, now: Now) -> bool {
        self.info(now).can_go_on(self.has_mail())
    }

    pub(super) fn lease(&mut self, claim: &Claim, now: Now) -> Lease {
        if self.holder.is_some() {
            self.end_claim(false);
        }
        self.claimed_steps = self.steps;
        self.fence = self.fence.saturating_add(1);
        self.holder = Some(HolderEntry { name: claim.holder.clone(), until_ms: now.after(claim.term) });
        Lease::new(self.id.clone(), self.fence).of_lost(self.lost)
    }

    pub(super) fn renew(&mut self, term: Duration, now: Now) {
        if let Some(holder) = &mut self.holder {
            holder.until_ms = now.after(term);
        }
    }

    pub(super) fn give_back(&mut self, release: Release, now: Now) {
        self.holder = None;
        self.end_claim(true);
        if release.resets_lost_claims {
            self.lost = 0;
        }
        self.not_before_ms = release.not_before.map(|time| now.after(time));
        self.problem = release.problem;
    }

    /// Counts the end of a claim.
    fn end_claim(&mut self, is_given_back: bool) {
        self.lost = lost_claims(self.lost, is_given_back, self.steps > self.claimed_steps.max(1));
    }

    /// Returns the waiting calls without a decision.
    pub(super) fn waiting_calls(&self) -> impl Iterator<Item = (&CallLine, &super::rows::WaitsEntry)> {
        let calls = self.open_calls.values().filter(|_| self.message.is_none());
        let waits = calls.filter_map(|call| Some((call, call.waits.as_ref()?)));
        waits.filter(|(_, waits)| !waits.decided)
    }

    /// Notes that a decision on that suspension was accepted.
    pub(super) fn note_decided(&mut self, suspension: &str) {
        for call in self.open_calls.values_mut() {
            if let Some(waits) = call.waits.as_mut().filter(|waits| waits.suspension.id == suspension) {
                waits.decided = true;
            }
        }
    }
}

/// The lease of a run and the end of its retry delay.
#[derive(Debug)]
pub(super) struct Hold {
    holder: Option<HolderEntry>,
    fence: u64,
    not_before: Option<u64>,
}

impl Hold {
    pub(super) fn has_holder(&self) -> bool {
        self.holder.is_some()
    }

    pub(super) fn at(&self, now: Now, mut info: RunInfo) -> RunInfo {
        let holder = self.holder.as_ref();
        info.holder = holder.map(|held| Holder {
            name: held.name.clone(),
            left: now.left(held.until_ms),
            fence: self.fence,
        });
        info.not_before = self.not_before.map(|at| now.left(at)).filter(|left| !left.is_zero());
        info
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Returns the result for a file, or none if the file does not exist.
fn if_there<T>(path: &Path, look: impl FnOnce(&Path) -> io::Result<T>) -> Result<Option<T>, StoreError> {
    match look(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(failed(path)(error)),
    }
}
