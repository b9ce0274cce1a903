//! What plugins and calls write into the state of a run and its thread.

use super::super::keys::{Changed, Conflict, KeyState, Patches, StateView};
use super::RunState;

impl RunState {
    pub(in crate::agent) fn view(&self) -> StateView {
        StateView::new(self.values.clone(), self.thread.values.clone())
    }

    /// What a call reads that executes now: what was committed when the first of its round did.
    pub(in crate::agent) fn view_of_round(&mut self) -> StateView {
        let RunState { round, values, thread, .. } = self;
        round.view(|| StateView::new(values.clone(), thread.values.clone()))
    }

    /// Takes in what an execution of a call wrote: the next commit applies it.
    pub(in crate::agent) fn written(&mut self, call: usize, patches: Patches) {
        let of = &self.calls[call];
        self.round.write(call, of.record().key().step, &of.name, patches);
    }

    /// Applies what the calls of the round wrote since the last commit, unless two of them contradict each other.
    pub(in crate::agent) fn apply_round(&mut self) -> Result<Changed, Conflict> {
        if !self.round.waits() {
            return Ok(Changed::default());
        }
        let mut round = std::mem::take(&mut self.round);
        let changed = self.change(|keys| round.apply(keys));
        self.round = round;
        changed
    }

    /// Applies what a plugin wrote.
    pub(in crate::agent) fn apply(&mut self, name: &str, patches: &Patches) -> Result<Changed, Conflict> {
        self.change(|keys| {
            let mut changed = Changed::default();
            keys.write([(name, patches)].into_iter(), &mut changed).map(|()| changed)
        })
    }

    fn change(
        &mut self,
        change: impl FnOnce(&mut KeyState) -> Result<Changed, Conflict>,
    ) -> Result<Changed, Conflict> {
        let mut keys = KeyState {
            run: std::mem::take(&mut self.values),
            thread: std::mem::take(&mut self.thread.values),
        };
        let changed = change(&mut keys);
        KeyState { run: self.values, thread: self.thread.values } = keys;
        let changed = changed?;
        self.changed_values.extend(&changed);
        Ok(changed)
    }

    /// An activation begins.
    pub(in crate::agent) fn take_up_round(&mut self) {
        self.round.take_up();
    }

    /// What calls write from now on is that of another round.
    pub(in crate::agent) fn end_round(&mut self) {
        self.round.end();
    }
}
