//! Why there is no server.

use std::io;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Absent {
    /// Its binaries are not installed.
    #[error("PostgreSQL is not installed; install it with `sh crates/postgres/tests/server/install.sh`")]
    NotInstalled,
    /// A small disk was requested, and may not be mounted here.
    #[error("a small disk can not be mounted here; run the tests as root, with unshare and mount allowed")]
    NoSmallDisk,
    /// It was started, and is not ready; with the end of its output.
    #[error("the server does not start; it said\n{0}")]
    NotReady(String),
    /// The operating system returned an error.
    #[error("the server can not be started: {0}")]
    Io(#[from] io::Error),
}
