//! Connections with the settings that make a commit durable.

use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, TimeoutType,
};
use futures_util::future::try_join_all;
use runstate_store::StoreError;
use tokio::time::error::Elapsed;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, IsolationLevel, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{is_read_only, is_serialization, of_client, of_pool, unusable_server};
use crate::options::PostgresOptions;
use crate::time::Ticking;

/// The connections of a store.
#[derive(Clone)]
pub(crate) struct Connections {
    pool: Pool,
    patience: Duration,
    clock: Ticking,
}

/// One statement that applies all settings and returns the setup of the server. `remote_apply` waits for more than
/// `on`.
const SESSION: &str = "SELECT
    set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('default_transaction_deferrable', 'off', false),
    current_setting('fsync'), current_setting('server_encoding')";

impl Connections {
    pub(crate) fn new(options: &PostgresOptions, tls: &MakeRustlsConnect) -> Result<Self, StoreError> {
        let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(options.config.clone(), tls.clone(), config);
        let session = Hook::async_fn(|client, _| {
            Box::pin(async move {
                let row = client.query_one(SESSION, &[]).await.map_err(HookError::Backend)?;
                let (fsync, encoding): (String, String) = (row.get(3), row.get(4));
                if fsync != "on" {
                    return Err(unusable_server(
                        &format!("the server has fsync = {fsync}, so a commit is lost with its power"),
                        "set fsync = on in its configuration",
                    ));
                }
                if encoding != "UTF8" {
                    return Err(unusable_server(
                        &format!(
                            "the database has the encoding {encoding}, which has no place for most characters"
                        ),
                        "create one with ENCODING 'UTF8'",
                    ));
                }
                Ok(())
            })
        });
        let pool = Pool::builder(manager).max_size(options.connections).post_create(session).build();
        let (pool, clock) = (pool.map_err(StoreError::failed)?, options.clock.clone());
        Ok(Connections { pool, patience: options.patience, clock })
    }

    /// Returns the rows of one statement, which is a transaction of its own. The statement is repeated if another
    /// transaction caused its abort.
    ///
    /// # Cancel safety
    /// If the future is dropped, the statement happens completely or not at all.
    pub(crate) async fn rows(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let sql = &*self.clock.told(sql);
        let mut held = None;
        let mut is_spent = false;
        let work = async {
            let client = held.insert(self.pool.get().await.map_err(of_pool)?);
            let mut attempt = 0;
            loop {
                match Self::once(client, sql, params).await {
                    Err(error) if is_serialization(&error) && attempt < ATTEMPTS => {
                        attempt += 1;
                        tokio::time::sleep(Duration::from_millis(1 << attempt)).await;
                    }
                    Err(error) => {
                        is_spent = is_read_only(&error);
                        return Err(of_client(error));
                    }
                    rows => return rows.map_err(of_client),
                }
            }
        };
        let done = tokio::time::timeout(self.patience, work).await;
        if is_spent {
            throw_away(held.take());
        }
        self.outcome(done, held)
    }

    async fn once(client: &Object, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        let statement = client.prepare_cached(sql).await?;
        client.query(&statement, params).await
    }

    /// Returns the rows of several reading statements, all from one point in time. They share the parameters.
    ///
    /// # Cancel safety
    /// The function changes nothing.
    pub(crate) async fn moment(
        &self,
        statements: &[String],
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let statements: Vec<_> = statements.iter().map(|sql| (&**sql, params)).collect();
        self.moment_of(&statements).await
    }

    /// Returns the rows of several reading statements with their parameters, all from one point in time.
    ///
    /// # Cancel safety
    /// The function changes nothing.
    pub(crate) async fn moment_of(
        &self,
        statements: &[(&str, &[&(dyn ToSql + Sync)])],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let mut held = None;
        let work = async {
            let client = held.insert(self.pool.get().await.map_err(of_pool)?);
            let moment = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
            let moment = moment.read_only(true).start().await.map_err(of_client)?;
            // The statements are sent without waiting for each other.
            let rows = statements.iter().map(async |(sql, params)| {
                let statement = moment.prepare_cached(&self.clock.told(sql)).await?;
                moment.query(&statement, params).await
            });
            let rows = try_join_all(rows).await.map_err(of_client)?;
            moment.commit().await.map_err(of_client)?;
            Ok(rows)
        };
        let done = tokio::time::timeout(self.patience, work).await;
        self.outcome(done, held)
    }

    /// Converts a timeout into an error. The late connection is discarded, since its state is unknown.
    fn outcome<T>(
        &self,
        done: Result<Result<T, StoreError>, Elapsed>,
        held: Option<Object>,
    ) -> Result<T, StoreError> {
        done.unwrap_or_else(|_| {
            throw_away(held);
            Err(StoreError::unavailable(format!("the server did not answer within {:?}", self.patience)))
        })
    }

    /// Returns a connection for several statements.
    pub(crate) async fn one(&self) -> Result<Object, StoreError> {
        tokio::time::timeout(self.patience, self.pool.get())
            .await
            .unwrap_or(Err(PoolError::Timeout(TimeoutType::Wait)))
            .map_err(of_pool)
    }

    pub(crate) fn close(&self) {
        self.pool.close();
    }
}

/// Discards a connection. The pool opens another one in its place.
fn throw_away(held: Option<Object>) {
    drop(held.map(Object::take));
}

/// The number of retries before an operation fails, about half a second later.
const ATTEMPTS: u32 = 8;
