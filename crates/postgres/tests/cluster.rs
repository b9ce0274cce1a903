//! The server that most tests share, and a place in it for each.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use runstate_postgres::{PostgresOptions, PostgresStore};
use runstate_postgres_server::{Server, Setup, for_tests};
use runstate_runtime::clock::SetClock;
use tokio_postgres::{Client, NoTls};

/// The server that most tests share, each in a schema of its own. None where it is not installed.
pub fn shared() -> Option<&'static Server> {
    static SHARED: OnceLock<Option<Server>> = OnceLock::new();
    SHARED.get_or_init(|| for_tests(Setup::new())).as_ref()
}

/// A server of one test, with these settings.
pub fn own(settings: &[&str]) -> Option<Server> {
    for_tests(settings.iter().fold(Setup::new(), |setup, setting| setup.setting(*setting)))
}

/// What comes in the end, on however slow a machine. A test that waits in vain says so.
///
/// # Panics
/// When it does not come within two minutes.
pub async fn soon<T>(comes: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), comes).await.expect("it does not come")
}

/// A schema that no other test has.
#[derive(Debug, Clone)]
pub struct Place {
    pub url: String,
    pub schema: String,
    pub clock: SetClock,
}

impl Place {
    /// A place of its own in the server.
    pub fn on(server: &Server) -> Place {
        static PLACES: AtomicUsize = AtomicUsize::new(1);
        let schema = format!("place {}", PLACES.fetch_add(1, Ordering::Relaxed));
        Place { url: server.url("postgres"), schema, clock: SetClock::default() }
    }

    pub fn options(&self) -> PostgresOptions {
        PostgresOptions::new(&self.url).unwrap().schema(&self.schema).unwrap()
    }

    /// A store with connections of its own, as another process has it.
    pub async fn store(&self) -> PostgresStore {
        PostgresStore::connect(self.options()).await.unwrap()
    }

    /// A connection past all stores.
    pub async fn client(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}
