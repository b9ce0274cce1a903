//! What lists need to know of a run.

use super::super::error::StoreError;
use super::super::query::{About, Approval, RunInfo, Timer};
use super::rows::Raw;
use super::state::State;
use crate::decision::Suspension;

/// What lists need to know of a run: a small part of its state.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) info: RunInfo,
    has_mail: bool,
    /// The calls that wait and that nobody decided, by name.
    waits: Vec<Waiting>,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) call: String,
    id: String,
    tool: String,
    arguments: Raw,
    pub(super) suspension: Suspension,
}

impl Listed {
    pub(super) fn of(state: &State) -> Self {
        let waits = state.waiting_calls().map(|(call, waits)| Waiting {
            call: call.name.clone(),
            id: call.id.clone(),
            tool: call.tool.clone(),
            arguments: waits.arguments.clone(),
            suspension: waits.suspension.clone(),
        });
        Listed { info: state.info(), has_mail: state.has_mail(), waits: waits.collect() }
    }

    pub(super) fn can_go_on(&self, now_ms: u64) -> bool {
        self.info.can_go_on(self.has_mail, now_ms)
    }

    /// The calls that wait, each with the run.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&RunInfo, &Waiting)> {
        self.waits.iter().map(|waits| (&self.info, waits))
    }
}

impl Waiting {
    pub(super) fn is_meant(&self, about: &About) -> bool {
        match about {
            About::All | About::Run(_) => true,
            About::Call(name) => *name == self.call || *name == self.id,
            About::Suspension(id) => *id == self.suspension.id,
        }
    }

    pub(super) fn approval(&self, run: &RunInfo) -> Result<Approval, StoreError> {
        let arguments = crate::json::from_str(self.arguments.get()).map_err(StoreError::failed)?;
        let (run, call, tool) = (run.id.clone(), self.call.clone(), self.tool.clone());
        Ok(Approval::new(run, call, tool, arguments, self.suspension.clone()))
    }

    /// Its timer, if that is over.
    pub(super) fn lapsed(&self, run: &RunInfo, now_ms: u64) -> Option<Timer> {
        let at_ms = self.suspension.expires_at_ms.filter(|at| *at <= now_ms)?;
        Some(Timer::new(run.id.clone(), self.call.clone(), self.suspension.id.clone(), at_ms))
    }
}
