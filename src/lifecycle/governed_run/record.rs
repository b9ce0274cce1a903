//! The record of a governed run.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::super::record::of_its_own;
use super::{AnyGovernedRun, ApprovalId, GovernedRunStatus, RunId, TimeLimits};
use crate::kernel::{Graph, Observer, ReadRecord, Record, Rehydration, Status};

/// The record of a governed run: the data that all its states share, with the fields of RUN_STATE.json.
///
/// The time of entry into the current state is in the state and not here, so that it exists only once.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct RunRecord {
    run_id: RunId,
    created_at: u64,
    updated_at: u64,
    state_history: Vec<Visit>,
    approvals_granted: Vec<ApprovalId>,
    #[serde(skip_serializing_if = "TimeLimits::are_documented")]
    limits: TimeLimits,
    #[serde(skip)]
    observer: Observer,
}

/// A state that a run has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Visit {
    /// The state.
    pub state: GovernedRunStatus,
    /// The time of entry, in milliseconds since the Unix epoch.
    pub entered_at: u64,
    /// The time of exit, in milliseconds since the Unix epoch.
    pub exited_at: u64,
}

impl RunRecord {
    /// Makes the record of a run that enters INIT at `created_at` (milliseconds since the Unix epoch).
    pub fn new(run_id: RunId, created_at: u64) -> Self {
        RunRecord {
            run_id,
            created_at,
            updated_at: created_at,
            state_history: Vec::new(),
            approvals_granted: Vec::new(),
            limits: TimeLimits::default(),
            observer: Observer::default(),
        }
    }

    /// Sets the observer of all transitions. Default: none.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Sets the time limits. Default: [`TimeLimits::default`].
    pub fn limited(mut self, limits: TimeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The time limits of the states.
    pub fn limits(&self) -> &TimeLimits {
        &self.limits
    }

    /// The run's id, which names its project.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// The time of creation, in milliseconds since the Unix epoch.
    pub fn created_at(&self) -> u64 {
        self.created_at
    }

    /// The time of the last transition or progress of a tool, in milliseconds since the Unix epoch.
    pub fn updated_at(&self) -> u64 {
        self.updated_at
    }

    /// The states before the current one, oldest first.
    pub fn history(&self) -> &[Visit] {
        &self.state_history
    }

    /// The state before the current one; none in INIT.
    pub fn previous_state(&self) -> Option<GovernedRunStatus> {
        self.state_history.last().map(|visit| visit.state)
    }

    /// The granted approvals, oldest first.
    pub fn approvals_granted(&self) -> &[ApprovalId] {
        &self.approvals_granted
    }

    /// Records the exit from `state` and returns the time of entry into the next state. After a clock moved
    /// backwards, a state still does not end before its beginning.
    pub(super) fn leave(&mut self, state: GovernedRunStatus, entered_at: u64, at: u64) -> u64 {
        let exited_at = at.max(entered_at);
        self.state_history.push(Visit { state, entered_at, exited_at });
        self.touch(exited_at);
        exited_at
    }

    pub(super) fn touch(&mut self, at: u64) {
        self.updated_at = self.updated_at.max(at);
    }

    pub(super) fn grant(&mut self, approval: ApprovalId) {
        self.approvals_granted.push(approval);
    }
}

impl Record for RunRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }

    /// A new run has no history.
    fn created(&mut self, _: &'static Graph) {
        self.updated_at = self.created_at;
        self.state_history.clear();
        self.approvals_granted.clear();
    }

    /// The last state of the history must have a transition to the current state.
    fn check_stored(&self, status: &'static str) -> Result<(), String> {
        let Some(last) = self.state_history.last() else {
            let is_first = status == GovernedRunStatus::Init.name();
            return if is_first {
                Ok(())
            } else {
                Err(format!("no history leads to {status}: a run begins in INIT"))
            };
        };
        let graph = GovernedRunStatus::graph();
        if graph.edges.iter().any(|edge| edge.from == last.state.name() && edge.to == status) {
            return Ok(());
        }
        Err(format!("there is no way to {status} from {}, the last state of the history", last.state))
    }
}

impl ReadRecord for RunRecord {
    fn read_record<'de, D: Deserializer<'de>>(
        permit: Rehydration<Self>,
        deserializer: D,
    ) -> Result<Self, D::Error> {
        of_its_own::<AnyGovernedRun, Self, D::Error>(&permit)?;
        Stored::deserialize(deserializer)?.checked().map_err(D::Error::custom)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    run_id: RunId,
    created_at: u64,
    updated_at: u64,
    state_history: Vec<Visit>,
    approvals_granted: Vec<ApprovalId>,
    #[serde(default)]
    limits: TimeLimits,
}

impl Stored {
    /// Returns the record if its history is a path through the graph without a gap in time.
    fn checked(self) -> Result<RunRecord, String> {
        let stored = self;
        let graph = GovernedRunStatus::graph();
        let mut left: Option<&Visit> = None;
        for (i, visit) in stored.state_history.iter().enumerate() {
            let wrong = |why: String| format!("state_history, entry {} ({}): {why}", i + 1, visit.state);
            let (came_in, began) = match left {
                Some(before) => (
                    graph.edges.iter().any(|e| e.from == before.state.name() && e.to == visit.state.name()),
                    before.exited_at,
                ),
                None => (visit.state == GovernedRunStatus::Init, stored.created_at),
            };
            if !came_in {
                return Err(wrong(match left {
                    Some(before) => format!("there is no way to it from {}", before.state),
                    None => "a run begins in INIT".to_owned(),
                }));
            }
            if visit.entered_at != began {
                return Err(wrong(format!("entered at {}, expected {began}", visit.entered_at)));
            }
            if visit.exited_at < visit.entered_at {
                return Err(wrong(format!("left at {}, entered at {}", visit.exited_at, visit.entered_at)));
            }
            left = Some(visit);
        }
        let last = left.map_or(stored.created_at, |visit| visit.exited_at);
        if stored.updated_at < last {
            return Err(format!("updated_at is {}, the last change was at {last}", stored.updated_at));
        }
        let Stored { run_id, created_at, updated_at, state_history, approvals_granted, limits } = stored;
        Ok(RunRecord {
            run_id,
            created_at,
            updated_at,
            state_history,
            approvals_granted,
            limits,
            observer: Observer::default(),
        })
    }
}
