//! The driver of runs.

mod approvals;
mod parts;
