//! Stores, by their addresses.

use std::sync::Arc;

use runstate_postgres::{PostgresOptions, PostgresStore};
use runstate_service::{ServiceStore, ServiceStoreError};
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

/// Opens `sqlite:PATH` or `postgres://…` as a store of service runs.
///
/// # Errors
/// Errors of the store, and an address of no store of service runs.
pub async fn open_services(address: &str) -> Result<Arc<dyn ServiceStore>, ServiceStoreError> {
    let failed = |error: StoreError| ServiceStoreError::Failed(error.into());
    match address.split_once(':') {
        Some(("sqlite", path)) => Ok(Arc::new(SqliteStore::open(path).map_err(failed)?)),
        Some(("postgres" | "postgresql", _)) => {
            let options =
                PostgresOptions::new(address).map_err(|error| ServiceStoreError::Failed(error.into()))?;
            Ok(Arc::new(PostgresStore::connect(options).await.map_err(failed)?))
        }
        _ => Err(ServiceStoreError::Failed(
            format!(
                "{address:?} is no address of a store of service runs; expected sqlite:PATH or postgres://…"
            )
            .into(),
        )),
    }
}
