//! Errors of the server and the client as errors of a store.

use std::error::Error;
use std::fmt;
use std::io;

use deadpool_postgres::{HookError, PoolError};
use runstate_store::StoreError;
use tokio_postgres::error::{DbError, SqlState};

/// Returns whether an immediate retry may succeed, since another transaction caused the abort.
pub(crate) fn is_serialization(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(code) if *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED)
}

/// Returns whether the server has become read-only on this connection. Another connection may lead to a writable one.
pub(crate) fn is_read_only(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}

pub(crate) fn of_client(error: tokio_postgres::Error) -> StoreError {
    if let Some(said) = error.as_db_error() {
        return of_server(said);
    }
    let is_out_of_reach = error.is_closed() || is_broken(&error) || error.to_string().contains("timeout");
    let said = Said(chain(&error));
    if is_out_of_reach { StoreError::unavailable(said) } else { StoreError::failed(said) }
}

/// Returns whether the cause is a failed or broken connection. A refusal by TLS has the form of such an error, but is
/// none.
fn is_broken(error: &tokio_postgres::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(broken) = error.downcast_ref::<io::Error>() {
            let is_refused = broken.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
            return !is_refused && broken.kind() != io::ErrorKind::InvalidInput;
        }
        cause = error.source();
    }
    false
}

fn of_server(said: &DbError) -> StoreError {
    let code = said.code();
    let class = code.code().get(..2).unwrap_or_default();
    let passes = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::QUERY_CANCELED,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::from_code("57P05"),
        SqlState::from_code("25P04"),
    ];
    if class == "08" || passes.contains(code) {
        return StoreError::unavailable(Said(text(said)));
    }
    let is_gone = [
        SqlState::UNDEFINED_TABLE,
        SqlState::UNDEFINED_COLUMN,
        SqlState::UNDEFINED_FUNCTION,
        SqlState::INVALID_SCHEMA_NAME,
    ];
    if is_gone.contains(code) {
        return StoreError::unusable(
            format_args!("the tables are not those of this program: {}", text(said)),
            "stop the program that changed them, then restore them from a backup, or name another schema",
        );
    }
    if class == "XX" {
        return StoreError::unusable(
            format_args!("the server cannot read its own data: {}", text(said)),
            "restore the database from a backup",
        );
    }
    if class == "23" {
        let table = said.table().unwrap_or("?");
        let constraint = said.constraint().unwrap_or("?");
        return StoreError::failed(Said(format!(
            "the rule {constraint} of the table {table} does not allow it: {}; nothing was written",
            text(said)
        )));
    }
    StoreError::failed(Said(text(said)))
}

pub(crate) fn of_pool(error: PoolError) -> StoreError {
    match error {
        PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => of_client(error),
        PoolError::PostCreateHook(HookError::Message(said)) => match said.split_once('\n') {
            Some((what, help)) => StoreError::unusable(what, help),
            None => StoreError::failed(Said(said.into_owned())),
        },
        PoolError::Timeout(_) => StoreError::unavailable(Said(error.to_string())),
        PoolError::Closed | PoolError::NoRuntimeSpecified => StoreError::failed(Said(error.to_string())),
    }
}

/// Creates the error of a hook for an unusable server. [`of_pool`] parses it.
pub(crate) fn unusable_server(what: &str, help: &str) -> HookError {
    HookError::message(format!("{what}\n{help}"))
}

/// Creates the error of a value that this program did not write.
pub(crate) fn damaged(what: impl fmt::Display) -> StoreError {
    StoreError::unusable(format_args!("a row cannot be read: {what}"), "restore the database from a backup")
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Said(String);

fn text(said: &DbError) -> String {
    let mut text = format!("{} ({})", said.message(), said.code().code());
    for more in [said.detail(), said.hint()].into_iter().flatten() {
        text.push_str("; ");
        text.push_str(more);
    }
    text
}

pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}
