//! Reads, each within one transaction.

pub(crate) mod approvals;
pub(crate) mod lists;
pub(crate) mod load;
pub(crate) mod runs;
pub(crate) mod threads;
