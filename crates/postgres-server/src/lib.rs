//! A private PostgreSQL server for a test, from the installed binaries: in a temporary folder, on loopback, not as root. It
//! ends with the process that started it.
//!
//! A keeper, a shell script that reads from this process, makes the cluster, and starts and stops the server by its process
//! id. It ends the server at the end of its input, also if this process is killed.
//!
//! ```
//! use runstate_postgres_server::{Absent, Server, Setup};
//!
//! match Server::start(Setup::new()) {
//!     Ok(server) => assert!(server.url("postgres").starts_with("postgres://postgres@127.0.0.1:")),
//!     Err(absent @ Absent::NotInstalled) => {
//!         assert!(absent.to_string().contains("sh crates/postgres/tests/server/install.sh"));
//!     }
//!     Err(other) => panic!("{other}"),
//! }
//! ```

mod absent;
mod binaries;
mod server;
mod setup;
mod tests_own;
mod user;

pub use absent::Absent;
pub use server::Server;
pub use setup::Setup;
pub use tests_own::for_tests;
