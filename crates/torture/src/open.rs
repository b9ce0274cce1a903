//! Stores, by their addresses.

use std::sync::Arc;

use runstate::store::{RunStore, StoreError};
use runstate_sqlite::SqliteStore;

/// Opens `sqlite:PATH`.
///
/// # Errors
/// Those of the store, and an address of no store.
pub async fn open(url: &str) -> Result<Arc<dyn RunStore>, StoreError> {
    match url.split_once(':') {
        Some(("sqlite", path)) => Ok(Arc::new(SqliteStore::open(path)?)),
        _ => Err(StoreError::failed(format!("{url:?} is no address of a store; expected sqlite:PATH"))),
    }
}
