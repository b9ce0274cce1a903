//! The store, held against its contract.
#![allow(clippy::unwrap_used, reason = "tests")]

mod child;
mod drive;
mod failures;
mod files;
mod news;
mod odd;
mod processes;
mod runs;
mod syncs;
mod tape;
