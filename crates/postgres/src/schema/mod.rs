//! The tables. They are created and migrated under a lock, so that any number of processes may start concurrently.

use std::time::Duration;

use deadpool_postgres::{Object, Transaction};
use runstate_store::StoreError;
use sha2::{Digest, Sha256};
use tokio_postgres::error::SqlState;

use crate::error::of_client;

/// The versions of the tables, from 1: the migration to each from the previous one.
const VERSIONS: &[&str] = &[
    include_str!("v1.sql"),
    include_str!("v2.sql"),
    include_str!("v3.sql"),
    include_str!("v4.sql"),
    include_str!("v5.sql"),
    include_str!("v6.sql"),
    include_str!("v7.sql"),
    include_str!("v8.sql"),
    include_str!("v9.sql"),
    include_str!("v10.sql"),
];

/// The table with the version. It is in the schema itself, so that a copy of the schema contains it.
const CREATE: &str = "CREATE TABLE {schema}.runstate_schema (
    version integer PRIMARY KEY,
    made_at timestamptz NOT NULL DEFAULT now()
)";

/// Creates or migrates the tables, or refuses the schema. Waits at most `patience` for another process that migrates.
/// The migration itself has no time limit, since the tables may have very many rows.
///
/// # Errors
/// On an error nothing was changed. [`StoreError::Unavailable`] after the timeout. [`StoreError::Unusable`] if the
/// schema is of a later version of this program, has tables of another program, or is of an earlier version and not to
/// be migrated. Otherwise the error of the server.
///
/// # Cancel safety
/// If the future is dropped, the migration happens completely or not at all.
pub(crate) async fn migrate(
    client: &mut Object,
    name: &str,
    quoted: &str,
    (patience, migrates): (Duration, bool),
) -> Result<(), StoreError> {
    let look = async {
        let made = client.transaction().await.map_err(of_client)?;
        // Held until the end of the transaction, with any result.
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
    if there > 0 && !migrates {
        return Err(StoreError::unusable(
            format_args!("the schema {name:?} is of version {there}, and this program reads version {known}"),
            "nothing was changed; `runstate worker --once`, `run` or `resume` migrates the schema: stop the workers of the earlier version first",
        ));
    }
    for (number, sql) in (1..).zip(VERSIONS).skip(there) {
        made.batch_execute(&sql.replace("{schema}", quoted)).await.map_err(of_client)?;
        let record = format!("INSERT INTO {quoted}.runstate_schema (version) VALUES ($1)");
        made.execute(&record, &[&number]).await.map_err(of_client)?;
    }
    made.commit().await.map_err(of_client)
}

/// Returns the version of the tables; 0 for a schema that was empty or missing, and is prepared now.
async fn version(made: &Transaction<'_>, name: &str, quoted: &str) -> Result<usize, StoreError> {
    const THERE: &str = "SELECT
        EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
        EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1),
        EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'runstate_schema')";
    let row = made.query_one(THERE, &[&name]).await.map_err(of_client)?;
    let (is_there, has_any, is_ours): (bool, bool, bool) = (row.get(0), row.get(1), row.get(2));
    if is_ours {
        is_of_a_trusted_role(made, name).await?;
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

/// Finds objects of untrusted owners. Functions, triggers and rules of the schema act with the rights of this
/// connection, so their owners must have those rights anyway: the role of the connection or one that was granted to
/// it, the owner of the database, a superuser. A superuser is a member of each role, so for it only its own objects
/// count.
const OF_OTHERS: &str = "WITH trusted AS (
        SELECT oid FROM pg_roles r WHERE rolsuper OR rolname IN (current_user, 'pg_database_owner')
            OR NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AND pg_has_role(r.oid, 'MEMBER')
        UNION SELECT datdba FROM pg_database WHERE datname = current_database()
    ), found AS (
        SELECT format('the schema %I', nspname) AS what, nspowner AS owner FROM pg_namespace WHERE nspname = $1
        UNION ALL SELECT format('the relation %I', relname), relowner FROM pg_class
            WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND relkind <> 'i'
        UNION ALL SELECT format('the function %I', proname), proowner FROM pg_proc
            WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
        UNION ALL SELECT format('the function of the trigger %I on the table %I', tgname, relname), proowner
            FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid JOIN pg_proc p ON p.oid = tgfoid
            WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
        UNION ALL SELECT format('the condition of the trigger %I on the table %I', tgname, relname), NULL
            FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
            WHERE tgqual IS NOT NULL AND NOT tgisinternal
                AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
    )
    SELECT what, pg_get_userbyid(owner)::text FROM found WHERE owner IS NULL OR owner NOT IN (SELECT oid FROM trusted) LIMIT 1";

async fn is_of_a_trusted_role(made: &Transaction<'_>, name: &str) -> Result<(), StoreError> {
    let Some(row) = made.query_opt(OF_OTHERS, &[&name]).await.map_err(of_client)? else { return Ok(()) };
    let (what, owner): (String, Option<String>) = (row.get(0), row.get(1));
    let Some(owner) = owner else {
        // The author of the condition needs only a right on the table, whatever function the trigger has.
        return Err(StoreError::unusable(
            format_args!(
                "the store in the schema {name:?} would execute code that another program put there: {what}"
            ),
            "drop that trigger; this program makes none",
        ));
    };
    Err(StoreError::unusable(
        format_args!(
            "the store in the schema {name:?} would execute code of an untrusted role: {what} belongs to the role {owner:?}"
        ),
        format!(
            "connect as that role, or as one that it is granted to (`GRANT {owner} TO …`) and that is no superuser; or name another schema"
        ),
    ))
}

/// Returns the advisory lock of a schema within the database.
fn lock(name: &str) -> i64 {
    let digest = Sha256::digest(format!("runstate schema {name}"));
    digest.iter().take(8).fold(0, |lock, byte| (lock << 8) | i64::from(*byte))
}
