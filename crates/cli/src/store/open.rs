//! From a URL to a store.

use std::path::Path;
use std::sync::Arc;

use runstate_sqlite::{Options, SqliteStore};
use runstate_store::{FileStore, RunStore, StoreError};

use super::damage::tell_repair;
use super::url::StoreUrl;

/// Opens the store of that URL, and creates a missing one. A store of an earlier version is migrated or refused.
///
/// # Errors
/// Errors of the store, and a kind that this program was built without.
pub(super) async fn open(url: &StoreUrl, migrates: bool) -> Result<Arc<dyn RunStore>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => {
            make_folder_of(path)?;
            Ok(Arc::new(SqliteStore::open_with(path, Options::default().migrate(migrates))?))
        }
        StoreUrl::Postgres(address) => postgres(address.url(), migrates).await,
        StoreUrl::File(folder) => Ok(Arc::new(FileStore::open(folder)?.on_repair(tell_repair))),
    }
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str, migrates: bool) -> Result<Arc<dyn RunStore>, StoreError> {
    use runstate_postgres::{PostgresOptions, PostgresStore};
    let options: PostgresOptions =
        url.parse().map_err(|error| StoreError::unusable(error, "correct the URL of the store"))?;
    Ok(Arc::new(PostgresStore::connect(options.migrate(migrates)).await?))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str, _: bool) -> Result<Arc<dyn RunStore>, StoreError> {
    Err(without_postgres())
}

#[cfg(not(feature = "postgres"))]
pub(super) fn without_postgres() -> StoreError {
    StoreError::unusable(
        "this program was built without stores in PostgreSQL",
        "build it with the feature `postgres`, or name a store of another kind",
    )
}

pub(super) fn make_folder_of(path: &Path) -> Result<(), StoreError> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            crate::runs::make_folders(folder).map_err(|error| {
                StoreError::failed(format!("cannot make the folder {}: {error}", folder.display()))
            })
        }
        _ => Ok(()),
    }
}
