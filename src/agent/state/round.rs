//! What the calls of a round wrote, and what they read, until the round is over.

use std::sync::Arc;

use super::super::keys::{Changed, Conflict, KeyState, Patches, StateView};

/// What the calls of the current round wrote, and what they read. It is the run's and not the loop's: a call that has its result
/// keeps what it wrote, though its loop is dropped before the commit that holds both.
///
/// Nothing of it is stored by itself. Each commit applies what is not applied yet, so what is stored of a result and what is stored
/// of its writes are from one commit.
#[derive(Debug, Default)]
pub(in crate::agent) struct Round {
    /// In the order of their calls; of one call in the order of its executions.
    written: Vec<Written>,
    /// What was committed when the first of them executed.
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
    /// The next commit applies it.
    Waiting,
    /// It is in the state.
    Applied,
    /// It contradicts another, which ends the run. A loop that is dropped before that end finds it again.
    Refused,
}

impl Round {
    /// What calls of the round read.
    pub(super) fn view(&mut self, now: impl FnOnce() -> StateView) -> StateView {
        self.view.get_or_insert_with(now).clone()
    }

    /// Takes in what an execution of a call wrote.
    pub(super) fn write(&mut self, call: usize, step: u32, name: &Arc<str>, patches: Patches) {
        if patches.is_empty() {
            return;
        }
        let at = self.written.partition_point(|earlier| earlier.call <= call);
        let name = Arc::clone(name);
        self.written.insert(at, Written { call, step, name, patches, stands: Stands::Waiting });
    }

    /// Is there anything to apply?
    pub(super) fn waits(&self) -> bool {
        self.written.iter().any(|written| written.stands == Stands::Waiting)
    }

    /// Applies what waits, all of it or nothing: nothing when two calls of one answer contradict each other. Those of different
    /// answers do not, wherever they execute; of them the later answer's counts.
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

    /// An activation begins. One that goes on with an interrupted round goes on with what its calls wrote.
    pub(super) fn take_up(&mut self) {
        for written in self.written.iter_mut().filter(|written| written.stands == Stands::Refused) {
            written.stands = Stands::Waiting;
        }
    }

    /// The round is over. What was not applied is not part of it.
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
