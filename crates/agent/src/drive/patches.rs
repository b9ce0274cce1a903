//! Writes of calls, and the time of their application.

use super::super::event::EventKind;
use super::{Drive, Halt};

impl Drive<'_, '_> {
    /// Applies the writes of calls since the last commit.
    ///
    /// Returns whether the value of any key changed.
    pub(super) fn apply_patches(&mut self) -> Result<bool, Halt> {
        match self.state.apply_round() {
            Ok(changed) => {
                self.tell_changed(&changed);
                Ok(!changed.is_empty())
            }
            Err(conflict) => {
                let error = Halt::failed(&conflict);
                self.tell(|_| EventKind::StateConflict { conflict });
                Err(error)
            }
        }
    }

    /// Ends the round of writes. Writes in different rounds do not conflict.
    pub(super) fn forget_patches(&mut self) {
        self.state.end_round();
    }
}
