//! Servers of tests, and tests without a server.

use std::io::Write;

use crate::{Absent, Server, Setup};

/// A server for a test. If PostgreSQL is not installed, or a requested part is unavailable, a message past the test harness
/// says so, and the test is skipped.
///
/// # Panics
/// If PostgreSQL is not installed and `RUNSTATE_REQUIRE_POSTGRES` is 1, if a small disk cannot be mounted and
/// `RUNSTATE_REQUIRE_MOUNTS` is 1, and if an installed server does not start.
pub fn for_tests(setup: Setup) -> Option<Server> {
    match Server::start(setup) {
        Ok(server) => Some(server),
        Err(absent @ (Absent::NotInstalled | Absent::NoSmallDisk)) => {
            let required = match absent {
                Absent::NoSmallDisk => "RUNSTATE_REQUIRE_MOUNTS",
                _ => "RUNSTATE_REQUIRE_POSTGRES",
            };
            assert!(std::env::var(required).as_deref() != Ok("1"), "{required} is set, and {absent}");
            // Not by eprintln, which the harness captures. A closed standard error is ignored.
            drop(writeln!(std::io::stderr(), "SKIPPED: {absent}"));
            None
        }
        Err(absent) => panic!("{absent}"),
    }
}
