//! Stores, by their addresses.

use std::sync::Arc;

use runstate_postgres::{PostgresOptions, PostgresStore};
use runstate_sqlite::SqliteStore;
use runstate_store::{FileStore, RunStore, StoreError};

/// Opens `sqlite:PATH`, `file:FOLDER` or `postgres://…`.
///
/// # Errors
/// Errors of the store, and an address of no store.
pub async fn open(address: &str) -> Result<Arc<dyn RunStore>, StoreError> {
    match address.split_once(':') {
        Some(("sqlite", path)) => Ok(Arc::new(SqliteStore::open(path)?)),
        Some(("file", folder)) => Ok(Arc::new(FileStore::open(folder)?)),
        Some(("postgres" | "postgresql", _)) => {
            let options = PostgresOptions::new(address).map_err(StoreError::failed)?;
            Ok(Arc::new(PostgresStore::connect(options).await?))
        }
        _ => Err(StoreError::failed(format!(
            "{address:?} is no address of a store; expected sqlite:PATH, file:FOLDER or postgres://…"
        ))),
    }
}
