//! The store, held against its contract.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write;

mod boots;
mod changes;
mod child;
mod conformance;
mod drive;
mod example;
mod failures;
mod files;
mod news;
mod odd;
mod processes;
mod readme;
mod runs;
#[cfg(feature = "service")]
mod services;
mod syncs;
mod upgrades;

/// A test that cannot be made here says so, and fails where that variable is set.
#[track_caller]
fn skipped(required: &str, why: &str) {
    assert!(std::env::var_os(required).is_none(), "{required} is set, and {why}");
    // Not by eprintln, which the harness would keep to itself. Where nobody hears it, nothing can be said.
    drop(writeln!(std::io::stderr(), "SKIPPED: {why}"));
}
