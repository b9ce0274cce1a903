//! The PostgreSQL server of these tests: a database for each.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use runstate_postgres_server::{Server, Setup, for_tests};
use tokio_postgres::NoTls;

/// Whoever is not the server's own user has to know a password.
const RULES: &str = "\
local all postgres trust
host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
";

/// The server that the tests share.
#[derive(Debug)]
pub(crate) struct Shared(Server);

/// None where PostgreSQL is not installed, which was said then.
pub(crate) fn shared() -> Option<&'static Shared> {
    static SHARED: OnceLock<Option<Shared>> = OnceLock::new();
    let setup = || Setup::new().setting("hba_file=pg_hba.conf").file("pg_hba.conf", RULES);
    SHARED.get_or_init(|| for_tests(setup()).map(Shared)).as_ref()
}

impl Shared {
    /// The URL of a database that no other test has.
    pub(crate) fn database(&self) -> String {
        static DATABASES: AtomicUsize = AtomicUsize::new(1);
        let name = format!("runs_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        self.make(&format!("CREATE DATABASE {name}"));
        self.0.url(&name)
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port()
    }

    /// Has the server do that.
    pub(crate) fn make(&self, sql: &str) {
        self.make_in(&self.0.url("postgres"), sql);
    }

    /// The same, in one of its databases.
    #[tokio::main(flavor = "current_thread")]
    pub(crate) async fn make_in(&self, url: &str, sql: &str) {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
    }
}
