//! What is asked of all runs: each list reads the state of each.

use super::super::error::StoreError;
use super::super::query::{About, Approval, ApprovalQuery, RunInfo, RunQuery, Timer};
use super::Inner;
use super::problem::{damaged, failed};
use super::state::State;

impl Inner {
    /// The states of all runs. Each is whole; a run that is removed meanwhile may be among them or not.
    pub(super) fn states(&self) -> Result<Vec<State>, StoreError> {
        let runs = self.layout.runs();
        let names = self.disk.list(&runs).map_err(failed(&runs))?;
        let states = names.iter().map(|name| {
            let place = self.layout.folder(name);
            let state = State::read(&*self.disk, &place)?;
            match state {
                Some(state) if self.layout.run(&state.id).folder != place.folder => {
                    let what =
                        format!("it is that of the run {:?}, in another folder than its own", state.id);
                    Err(damaged(&place.state(), what))
                }
                state => Ok(state),
            }
        });
        states.filter_map(Result::transpose).collect()
    }

    pub(super) fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let place = |info: &RunInfo| (info.created_at_ms, info.id.clone());
        let states = self.states()?;
        let mut found: Vec<RunInfo> = states
            .iter()
            .map(State::info)
            .filter(|info| query.status.is_none_or(|status| status == info.status))
            .filter(|info| query.changed_before_ms.is_none_or(|at| info.changed_at_ms < at))
            .filter(|info| query.behind.as_ref().is_none_or(|behind| place(info) < *behind))
            .collect();
        found.sort_by_key(|info| std::cmp::Reverse(place(info)));
        found.truncate(query.limit);
        Ok(found)
    }

    pub(super) fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let states = match &query.about {
            About::Run(run) => self.state(run)?.into_iter().collect(),
            _ => self.states()?,
        };
        let mut found = Vec::new();
        for state in &states {
            for (call, waits) in state.waiting_calls() {
                let is_meant = match &query.about {
                    About::All | About::Run(_) => true,
                    About::Call(name) => *name == call.name || *name == call.id,
                    About::Suspension(id) => *id == waits.suspension.id,
                };
                let place = (&state.id, &call.name);
                if is_meant && query.behind.as_ref().is_none_or(|(run, call)| place > (run, call)) {
                    found.push((place, call, waits));
                }
            }
        }
        found.sort_by_key(|(place, ..)| *place);
        found.truncate(query.limit);
        let approval = |((run, name), call, waits): (_, &super::rows::CallLine, &super::rows::WaitsEntry)| {
            let arguments = serde_json::from_str(waits.arguments.get()).map_err(StoreError::failed)?;
            let (run, name): (&String, &String) = (run, name);
            let suspension = waits.suspension.clone();
            Ok(Approval::new(run.clone(), name.clone(), call.tool.clone(), arguments, suspension))
        };
        found.into_iter().map(approval).collect()
    }

    pub(super) fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<Timer>, StoreError> {
        let mut due = Vec::new();
        for state in self.states()? {
            for (call, waits) in state.waiting_calls() {
                if let Some(at_ms) = waits.suspension.expires_at_ms.filter(|at| *at <= now_ms) {
                    let suspension = waits.suspension.id.clone();
                    due.push(Timer::new(state.id.clone(), call.name.clone(), suspension, at_ms));
                }
            }
        }
        due.sort_by(|a, b| (a.at_ms, &a.run, &a.call).cmp(&(b.at_ms, &b.run, &b.call)));
        due.truncate(limit);
        Ok(due)
    }
}
