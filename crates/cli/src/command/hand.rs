//! The holder of a run.

use runstate_store::RunInfo;

use crate::spec::Spec;
use crate::store::{Opened, beside, quoted};

/// Returns the name of the run's holder, while its lease is valid.
pub(super) fn holder(run: &RunInfo) -> Option<&str> {
    run.holder.as_ref().filter(|holder| !holder.left.is_zero()).map(|holder| holder.name.as_str())
}

/// Describes the ways to continue a run without a holder.
pub(super) fn by_whom(opened: &Opened, run: &str) -> String {
    let (again, shown) = (opened.again(), quoted(run));
    let note = again.note();
    let parts = beside(opened.handle(), opened.store.parts(run));
    let is_of_agent = parts.is_ok_and(|parts| matches!(Spec::read(&parts.spec, run), Ok(Spec::Agent { .. })));
    if is_of_agent {
        return format!(
            "by: runstate worker --agents DIR{again}{note}, or runstate chat FILE --thread {shown}{again}{note}"
        );
    }
    format!("by a worker, or by: runstate resume {shown}{again}{note}")
}
