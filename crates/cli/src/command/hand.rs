//! The holder of a run.

use runstate_store::RunInfo;

use crate::store::{Opened, quoted};

/// Returns the name of the run's holder, while its lease is valid.
pub(super) fn holder(run: &RunInfo) -> Option<&str> {
    run.holder.as_ref().filter(|holder| !holder.left.is_zero()).map(|holder| holder.name.as_str())
}

/// Describes the ways to continue a run without a holder.
pub(super) fn by_whom(opened: &Opened, run: &str) -> String {
    let again = opened.again();
    format!("by a worker, or by: runstate resume {}{again}{}", quoted(run), again.note())
}
