//! What a test does where there is no server.

use std::io::Write;

use crate::{Absent, Server, Setup};

/// A server for a test. Where PostgreSQL is not installed, or not all of what is asked for can be had, it says so past the
/// harness, and the test is skipped.
///
/// # Panics
/// When PostgreSQL is not installed and `RUNSTATE_REQUIRE_POSTGRES` is 1, when a small disk cannot be mounted and
/// `RUNSTATE_REQUIRE_MOUNTS` is 1, and when an installed server does not start.
pub fn for_tests(setup: Setup) -> Option<Server> {
    match Server::start(setup) {
        Ok(server) => Some(server),
        Err(absent @ (Absent::NotInstalled | Absent::NoSmallDisk)) => {
            let required = match absent {
                Absent::NoSmallDisk => "RUNSTATE_REQUIRE_MOUNTS",
                _ => "RUNSTATE_REQUIRE_POSTGRES",
            };
            assert!(std::env::var(required).as_deref() != Ok("1"), "{required} is set, and {absent}");
            // Not by eprintln, which the harness would keep to itself. Where nobody hears it, nothing can be said.
            drop(writeln!(std::io::stderr(), "SKIPPED: {absent}"));
            None
        }
        Err(absent) => panic!("{absent}"),
    }
}
