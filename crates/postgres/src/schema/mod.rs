//! The tables: made and brought up to date under a lock, so that any number of processes may start at once.

use std::time::Duration;

use deadpool_postgres::{Object, Transaction};
use runstate::store::StoreError;
use sha2::{Digest, Sha256};
use tokio_postgres::error::SqlState;

use crate::error::of_client;

/// The versions of the tables, from 1: what leads to each from the one before.
const VERSIONS: &[&str] = &[
    include_str!("v1.sql"),
    include_str!("v2.sql"),
    include_str!("v3.sql"),
    include_str!("v4.sql"),
    include_str!("v5.sql"),
    include_str!("v6.sql"),
];

/// What says which version is there. It is in the schema itself, so that a copy of the schema has it as well.
const CREATE: &str = "CREATE TABLE {schema}.runstate_schema (
    version integer PRIMARY KEY,
    made_at timestamptz NOT NULL DEFAULT now()
)";

/// Makes the tables, or brings them up to date, or says why they cannot be used. Another process that makes them is waited for
/// no longer than `patience`; making them takes as long as it takes, since there may be very many rows.
///
/// # Errors
/// [`StoreError::Unavailable`] when patience is over; [`StoreError::Unusable`] when the schema is of a later version of this program or has tables of something else; what the
/// server says otherwise. Nothing was changed then.
///
/// # Cancel safety
/// Dropped, it was made whole or not at all.
pub(crate) async fn migrate(
    client: &mut Object,
    name: &str,
    quoted: &str,
    patience: Duration,
) -> Result<(), StoreError> {
    let look = async {
        let made = client.transaction().await.map_err(of_client)?;
        // Held until the end of the transaction, whatever that is.
        made.execute("SELECT pg_advisory_xact_lock($1)", &[&lock(name)]).await.map_err(of_client)?;
        let there = version(&made, name, quoted).await?;
        Ok::<_, StoreError>((made, there))
    };
    let late = |_| StoreError::unavailable(format!("the tables were not ready within {patience:?}"));
    let (made, there) = tokio::time::timeout(patience, look).await.map_err(late)??;
    let known = VERSIONS.len();
    if there > known {
        return Err(StoreError::unusable(
            format_args!(
                "the schema {name:?} is of version {there}, and this program knows those up to {known}"
            ),
            "use a version of this program that is as new as the one that was here, or name another schema",
        ));
    }
    if there == known {
        return tokio::time::timeout(patience, made.commit()).await.map_err(late)?.map_err(of_client);
    }
    for (number, sql) in (1..).zip(VERSIONS).skip(there) {
        made.batch_execute(&sql.replace("{schema}", quoted)).await.map_err(of_client)?;
        let record = format!("INSERT INTO {quoted}.runstate_schema (version) VALUES ($1)");
        made.execute(&record, &[&number]).await.map_err(of_client)?;
    }
    made.commit().await.map_err(of_client)
}

/// The version that is there; 0 for a schema that was empty or not there, and is ready now.
async fn version(made: &Transaction<'_>, name: &str, quoted: &str) -> Result<usize, StoreError> {
    const THERE: &str = "SELECT
        EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
        EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1),
        EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'runstate_schema')";
    let row = made.query_one(THERE, &[&name]).await.map_err(of_client)?;
    let (is_there, has_any, is_ours): (bool, bool, bool) = (row.get(0), row.get(1), row.get(2));
    if is_ours {
        let sql = format!("SELECT coalesce(max(version), 0)::int4 FROM {quoted}.runstate_schema");
        return match made.query_one(&sql, &[]).await {
            Ok(row) => Ok(usize::try_from(row.get::<_, i32>(0)).unwrap_or(0)),
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_COLUMN) => Err(foreign(name)),
            Err(error) => Err(of_client(error)),
        };
    }
    if has_any {
        return Err(foreign(name));
    }
    if !is_there {
        made.batch_execute(&format!("CREATE SCHEMA {quoted}")).await.map_err(of_client)?;
    }
    made.batch_execute(&CREATE.replace("{schema}", quoted)).await.map_err(of_client)?;
    Ok(0)
}

fn foreign(name: &str) -> StoreError {
    StoreError::unusable(
        format_args!("the schema {name:?} has tables of something else"),
        "name another schema, which may be one that is not there yet",
    )
}

/// The lock of a schema, among all advisory locks of the database.
fn lock(name: &str) -> i64 {
    let digest = Sha256::digest(format!("runstate schema {name}"));
    digest.iter().take(8).fold(0, |lock, byte| (lock << 8) | i64::from(*byte))
}
