//! Who goes on with a run.

use runstate::store::RunInfo;

use crate::store::{Opened, quoted};

/// Who has a run in hand now: one whose lease is over has it no more.
pub(super) fn holder(run: &RunInfo) -> Option<&str> {
    run.holder.as_ref().filter(|holder| !holder.left.is_zero()).map(|holder| holder.name.as_str())
}

/// By whom one goes on that nobody has in hand.
pub(super) fn by_whom(opened: &Opened, run: &str) -> String {
    let again = opened.again();
    format!("by a worker, or by: runstate resume {}{again}{}", quoted(run), again.note())
}
