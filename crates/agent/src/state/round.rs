//! Reads and writes of the calls of a round.

use std::sync::Arc;

use super::super::keys::{Changed, Conflict, KeyState, Patches, StateView};

/// The reads and writes of the calls in the current round. They belong to the run, not to the loop: if the loop is
/// dropped before the commit, a call with a result keeps its writes.
///
/// They are not stored by themselves. Each commit applies the writes that are not applied yet. So the stored result
/// of a call and its stored writes come from one commit.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// The writes, in the order of their calls. The writes of one call are in the order of its executions.
    written: Vec<Written>,
    /// The committed values when the first call of the round executed.
    view: Option<StateView>,
}

#[derive(Debug)]
struct Written {
    call: usize,
    step: u32,
    name: Arc<str>,
    patches: Patches,
    stands: Stands,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// The next commit applies the writes.
    Waiting,
    /// The writes are part of the state.
    Applied,
    /// The writes conflict with others, which ends the run. If the loop is dropped before that end, the next
    /// activation finds them again.
    Refused,
}

impl Round {
    /// The values that the calls of the round read.
    pub(super) fn view(&mut self, now: impl FnOnce() -> StateView) -> StateView {
        self.view.get_or_insert_with(now).clone()
    }

    /// Records the writes of an execution.
    pub(super) fn write(&mut self, call: usize, step: u32, name: &Arc<str>, patches: Patches) {
        if patches.is_empty() {
            return;
        }
        let at = self.written.partition_point(|earlier| earlier.call <= call);
        let name = Arc::clone(name);
        self.written.insert(at, Written { call, step, name, patches, stands: Stands::Waiting });
    }

    /// Returns whether any writes are not applied yet.
    pub(super) fn waits(&self) -> bool {
        self.written.iter().any(|written| written.stands == Stands::Waiting)
    }

    /// Applies all pending writes, or none if two calls of one answer conflict. Calls of different answers do not
    /// conflict: the writes of the later answer count.
    pub(super) fn apply(&mut self, keys: &mut KeyState) -> Result<Changed, Conflict> {
        let mut changed = Changed::default();
        let agreed =
            self.of_answers().try_for_each(|answer| KeyState::agree(answer.iter().map(Written::patches)));
        let stands = if agreed.is_ok() { Stands::Applied } else { Stands::Refused };
        if agreed.is_ok() {
            for answer in self.of_answers() {
                let waiting = answer.iter().filter(|written| written.stands == Stands::Waiting);
                keys.write(waiting.map(Written::patches), &mut changed)?;
            }
        }
        for written in self.written.iter_mut().filter(|written| written.stands == Stands::Waiting) {
            written.stands = stands;
        }
        agreed.map(|()| changed)
    }

    fn of_answers(&self) -> impl Iterator<Item = &[Written]> {
        self.written.chunk_by(|one, next| one.step == next.step)
    }

    /// Begins an activation. If it continues an interrupted round, the writes of that round are pending again.
    pub(super) fn take_up(&mut self) {
        for written in self.written.iter_mut().filter(|written| written.stands == Stands::Refused) {
            written.stands = Stands::Waiting;
        }
    }

    /// Ends the round. Pending writes belong to the next round.
    pub(super) fn end(&mut self) {
        self.written.retain(|written| written.stands == Stands::Waiting);
        self.view = None;
    }
}

impl Written {
    fn patches(&self) -> (&str, &Patches) {
        (&self.name, &self.patches)
    }
}
