//! Why there is no server.

use std::error::Error;
use std::fmt;
use std::io;

/// Why there is no server.
#[derive(Debug)]
#[non_exhaustive]
pub enum Absent {
    /// Its binaries are not installed.
    NotInstalled,
    /// A small disk was requested, and may not be mounted here.
    NoSmallDisk,
    /// It was started, and is not ready; with the end of its output.
    NotReady(String),
    /// The operating system returned an error.
    Io(io::Error),
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absent::NotInstalled => f.write_str(
                "PostgreSQL is not installed; install it with `sh crates/postgres/tests/server/install.sh`",
            ),
            Absent::NoSmallDisk => f.write_str(
                "a small disk can not be mounted here; run the tests as root, with unshare and mount allowed",
            ),
            Absent::NotReady(said) => write!(f, "the server does not start; it said\n{said}"),
            Absent::Io(error) => write!(f, "the server can not be started: {error}"),
        }
    }
}

impl Error for Absent {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Absent::Io(error) => Some(error),
            Absent::NotInstalled | Absent::NoSmallDisk | Absent::NotReady(_) => None,
        }
    }
}

impl From<io::Error> for Absent {
    fn from(error: io::Error) -> Self {
        Absent::Io(error)
    }
}
