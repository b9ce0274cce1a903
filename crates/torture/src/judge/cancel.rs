//! The driver of a run honours an acknowledged cancellation.

use std::collections::HashSet;

use super::Violation;
use super::book::LedgerIndex;
use super::run::Seen;

/// The number of commits before a driver notices a cancellation.
const UNHEARD: usize = 20;

pub(super) fn judge(seen: &Seen, book: &LedgerIndex<'_>, wrong: &mut Vec<Violation>) {
    let Some(behind) = book.unheeded(&seen.id).filter(|_| !seen.ended_as("cancelled")) else { return };
    // The current holder of the run may finish first; a later holder reads the cancellation before it drives.
    let leases: HashSet<u64> = behind.iter().map(|made| made.fence).collect();
    if leases.len() > 1 || behind.len() > UNHEARD {
        let what = format!(
            "it was to be cancelled; {} commits under {} leases followed, and it ended as {:?}",
            behind.len(),
            leases.len(),
            seen.loaded.info.reason
        );
        wrong.push(Violation::new("cancel", &*seen.id, what));
    }
}
