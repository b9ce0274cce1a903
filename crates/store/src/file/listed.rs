//! The part of a run's state that lists use.

use std::time::Duration;

use runstate::decision::Suspension;
use serde_json::Value;

use super::super::error::StoreError;
use super::super::query::{Approval, ApprovalFilter, RunInfo, Timer};
use super::super::time::Now;
use super::layout::Place;
use super::problem::damaged;
use super::state::{Hold, State};

/// The small part of a run's state that lists use.
#[derive(Debug)]
pub(super) struct Listed {
    /// The info without its lease and its retry delay.
    pub(super) info: RunInfo,
    hold: Hold,
    has_mail: bool,
    /// The waiting calls without a decision, by name.
    waits: Vec<Waiting>,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) call: String,
    id: String,
    tool: String,
    arguments: Value,
    pub(super) suspension: Suspension,
    lapses: Option<u64>,
}

impl Listed {
    /// Extracts the part of a state that lists use.
    ///
    /// # Errors
    /// If the arguments of a call are JSON that cannot be represented, such as a number that is too large.
    pub(super) fn of(state: &State, place: &Place) -> Result<Self, StoreError> {
        let waits = state.waiting_calls().map(|(call, waits)| {
            let arguments = runstate::json::from_str(waits.arguments.get()).map_err(|error| {
                damaged(&place.state(), format_args!("the arguments of the call {:?}: {error}", call.name))
            })?;
            Ok(Waiting {
                call: call.name.clone(),
                id: call.id.clone(),
                tool: call.tool.clone(),
                arguments,
                suspension: waits.suspension.clone(),
                lapses: waits.lapses_at_ms,
            })
        });
        let waits = waits.collect::<Result<_, StoreError>>()?;
        let (info, hold) = (state.info_at_rest(), state.hold());
        Ok(Listed { info, hold, has_mail: state.has_mail(), waits })
    }

    /// Has the run a holder, whose lease may have expired?
    pub(super) fn is_held(&self) -> bool {
        self.hold.has_holder()
    }

    pub(super) fn info_at(&self, now: Now) -> RunInfo {
        self.hold.at(now, self.info.clone())
    }

    pub(super) fn can_go_on(&self, now: Now) -> bool {
        self.info_at(now).can_go_on(self.has_mail)
    }

    /// Returns the waiting calls, each with its run.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&RunInfo, &Waiting)> {
        self.waits.iter().map(|waits| (&self.info, waits))
    }
}

impl Waiting {
    pub(super) fn is_meant(&self, about: &ApprovalFilter) -> bool {
        match about {
            ApprovalFilter::All | ApprovalFilter::Run(_) => true,
            ApprovalFilter::Call(name) => *name == self.call || *name == self.id,
            ApprovalFilter::Suspension(id) => *id == self.suspension.id,
        }
    }

    fn left(&self, now: Now) -> Option<Duration> {
        now.left_of(&self.suspension, self.lapses)
    }

    pub(super) fn approval(&self, run: &RunInfo, now: Now) -> Approval {
        let (run, call, tool) = (run.id.clone(), self.call.clone(), self.tool.clone());
        let asked = Approval::new(run, call, tool, self.arguments.clone(), self.suspension.clone());
        asked.leaving(self.left(now))
    }

    /// Returns the timer of an expired question, and the time of its expiry.
    pub(super) fn lapsed(&self, run: &RunInfo, now: Now) -> Option<(Option<u64>, Timer)> {
        self.left(now).filter(Duration::is_zero)?;
        let timer = Timer::new(run.id.clone(), self.call.clone(), self.suspension.id.clone());
        Some((self.suspension.expires_at_ms, timer))
    }
}
