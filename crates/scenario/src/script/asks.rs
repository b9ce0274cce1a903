//! The record of questions, call by call.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runstate::decision::Suspension;
use runstate_agent::RunState;

/// The question of a call in doubt: a scenario does not script whether it may execute again.
pub(crate) use runstate::decision::IN_DOUBT;

/// The record of questions, call by call, kept outside of the run: a question that a crash undid was never asked. Clones
/// share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asks(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// Are questions not reported here? Then the number of a tool's questions is unknown.
    is_blind: bool,
    asked: HashMap<String, Vec<Asked>>,
    /// Calls of tools that have just asked, before the report.
    asking: BTreeSet<String>,
}

#[derive(Debug)]
struct Asked {
    by: By,
    id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Gate,
    Tool,
    Doubt,
    /// By a process that was not observed.
    Unseen,
}

impl Asks {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record for a driver that reports no questions.
    pub(crate) fn blind() -> Self {
        Asks(Arc::new(Mutex::new(Inner { is_blind: true, ..Inner::default() })))
    }

    /// A process begins with that state: a question outside of it was never asked.
    pub(crate) fn begin(&self, state: &RunState) {
        let mut inner = self.lock();
        inner.asking.clear();
        let counts: HashMap<&str, usize> =
            state.calls().map(|(name, call)| (name, call.record().suspensions() as usize)).collect();
        // A question after the last commit is gone, even if it was the only one of the call.
        inner.asked.retain(|call, asked| {
            asked.truncate(counts.get(call.as_str()).copied().unwrap_or_default());
            !asked.is_empty()
        });
        for (call, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            let unseen = || Asked { by: By::Unseen, id: String::new() };
            inner.asked.entry(call.to_owned()).or_default().resize_with(count, unseen);
        }
    }

    /// The tool of a call asks.
    pub(crate) fn tool_asks(&self, call: &str) {
        self.lock().asking.insert(call.to_owned());
    }

    /// A call was reported as waiting.
    pub(crate) fn told(&self, call: &str, suspension: &Suspension) {
        let mut inner = self.lock();
        let by_tool = inner.asking.remove(call);
        let by = match suspension.action.as_str() {
            IN_DOUBT => By::Doubt,
            _ if by_tool => By::Tool,
            _ => By::Gate,
        };
        let id = suspension.id.clone();
        inner.asked.entry(call.to_owned()).or_default().push(Asked { by, id });
    }

    /// The number of questions of the gate and the tool of a call.
    pub(crate) fn of(&self, call: &str) -> u32 {
        let count =
            self.lock().asked.get(call).map_or(0, |all| all.iter().filter(|it| it.by != By::Doubt).count());
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The number of questions of its tool; `None` if unknown.
    pub(crate) fn of_tool(&self, call: &str) -> Option<usize> {
        let inner = self.lock();
        let all = inner.asked.get(call).map(Vec::as_slice).unwrap_or_default();
        let is_known = !inner.is_blind && all.iter().all(|it| it.by != By::Unseen);
        is_known.then(|| all.iter().filter(|it| it.by == By::Tool).count())
    }

    /// The suspension of a call before that one.
    pub(crate) fn before(&self, call: &str, id: &str) -> Option<String> {
        let inner = self.lock();
        let all = inner.asked.get(call)?;
        let at = all.iter().rposition(|it| it.id == id)?;
        Some(all.get(at.checked_sub(1)?)?.id.clone())
    }
}
