//! A wish to cancel that was noted is heeded, by whoever drives the run.

use std::collections::HashSet;

use super::Violation;
use super::book::Book;
use super::run::Seen;

/// Commits that a driver may make before it hears of a wish.
const UNHEARD: usize = 20;

pub(super) fn judge(seen: &Seen, book: &Book<'_>, wrong: &mut Vec<Violation>) {
    let Some(behind) = book.unheeded(&seen.id).filter(|_| !seen.ended_as("cancelled")) else { return };
    // One who had the run in hand may come to its end before; who takes it in hand later reads the wish before all else.
    let leases: HashSet<u64> = behind.iter().map(|made| made.fence).collect();
    if leases.len() > 1 || behind.len() > UNHEARD {
        let what = format!(
            "it was to be cancelled; {} commits under {} leases came behind that, and it ended as {:?}",
            behind.len(),
            leases.len(),
            seen.loaded.info.reason
        );
        wrong.push(Violation::new("cancel", &*seen.id, what));
    }
}
