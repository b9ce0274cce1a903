//! The store, held against its contract.
#![allow(clippy::unwrap_used, reason = "tests")]

mod child;
mod conformance;
mod drive;
mod failures;
mod files;
mod news;
mod odd;
mod processes;
mod readme;
mod runs;
mod syncs;
mod tape;

/// A test that cannot be made here says so, and fails where none may be left out.
#[track_caller]
fn skipped(why: &str) {
    assert!(std::env::var_os("RUNSTATE_NO_SKIP").is_none(), "{why}");
    eprintln!("skipped: {why}");
}
