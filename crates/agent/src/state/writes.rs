//! Writes of plugins and calls to the state of a run and its thread.

use super::super::keys::{Changed, Conflict, KeyState, Patches, StateView};
use super::RunState;

impl RunState {
    pub(crate) fn view(&self) -> StateView {
        StateView::new(self.values.clone(), self.thread.values.clone())
    }

    /// The values that a call reads now: the committed values when the first call of its round executed.
    pub(crate) fn view_of_round(&mut self) -> StateView {
        let RunState { round, values, thread, .. } = self;
        round.view(|| StateView::new(values.clone(), thread.values.clone()))
    }

    /// Records the writes of an execution. The next commit applies them.
    pub(crate) fn written(&mut self, call: usize, patches: Patches) {
        let of = &self.calls[call];
        self.round.write(call, of.record().key().step, &of.name, patches);
    }

    /// Applies the round's writes since the last commit, unless two calls conflict.
    pub(crate) fn apply_round(&mut self) -> Result<Changed, Conflict> {
        if !self.round.waits() {
            return Ok(Changed::default());
        }
        let mut round = std::mem::take(&mut self.round);
        let changed = self.change(|keys| round.apply(keys));
        self.round = round;
        changed
    }

    /// Applies the writes of a plugin.
    pub(crate) fn apply(&mut self, name: &str, patches: &Patches) -> Result<Changed, Conflict> {
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

    /// Begins an activation for the round.
    pub(crate) fn take_up_round(&mut self) {
        self.round.take_up();
    }

    /// Ends the round. Later writes belong to the next round.
    pub(crate) fn end_round(&mut self) {
        self.round.end();
    }
}
