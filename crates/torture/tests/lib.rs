//! Processes that are killed and stopped while they drive runs.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write;

use runstate_torture::server::Server;

mod kills;
mod paused;

/// A server of the test's own; none where PostgreSQL is not installed, which is a failure where it is required.
fn server() -> Option<Server> {
    let server = Server::start().unwrap();
    if server.is_none() {
        let why = "PostgreSQL is not installed; install it with `sh crates/postgres/tests/server/install.sh`";
        assert_ne!(std::env::var("RUNSTATE_REQUIRE_POSTGRES").as_deref(), Ok("1"), "{why}");
        #[expect(clippy::explicit_write, reason = "past the harness, which would keep it to itself")]
        writeln!(std::io::stderr(), "SKIPPED: {why}").unwrap();
    }
    server
}
