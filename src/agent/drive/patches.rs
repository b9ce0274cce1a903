//! What calls write, and when it counts (document 000, "commit").

use super::super::event::EventKind;
use super::{Drive, Halt};

impl Drive<'_, '_> {
    /// Applies what calls wrote since the last commit.
    ///
    /// Says whether a key has another value now.
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

    /// What the calls of another round write is another matter.
    pub(super) fn forget_patches(&mut self) {
        self.state.end_round();
    }
}
