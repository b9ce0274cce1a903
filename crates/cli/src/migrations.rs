//! Migrations of runs that older versions of this program have parked.
//!
//! A change of a lifecycle's graph needs `Migration::only_grew` here if it only adds, else a new version and a step, from the
//! fingerprint that is in the stores of users. Without a step such runs are refused, and `tests/formats.rs` fails. It prints the line of
//! a graph that only grew, and RUNSTATE_ACCEPT=1 writes it. So far there is one version.

use runstate::snapshot::Migration;

/// Migrations of runs.
pub(crate) const OF_RUNS: &[Migration] = &[];

/// Migrations of calls.
pub(crate) const OF_CALLS: &[Migration] = &[];
