//! The store of service runs.

use std::path::PathBuf;
use std::sync::Arc;

use runstate_service::ServiceStore;
use runstate_sqlite::SqliteStore;
use runstate_store::StoreError;

use super::StoreArgs;
use super::ask::failure;
use super::open::make_folder_of;
use super::url::StoreUrl;
use crate::failure::Failure;

/// The place of service runs.
#[derive(Debug)]
pub(crate) struct ServicePlace {
    url: StoreUrl,
}

impl StoreArgs {
    /// The place of service runs: the store of all runs.
    ///
    /// # Errors
    /// The address is invalid, or names a folder.
    pub(crate) fn service_place(&self) -> Result<ServicePlace, Failure> {
        let url = self.url()?;
        if matches!(url, StoreUrl::File(_)) {
            let got = format!("--store: got {url}, expected a file of SQLite or a database of PostgreSQL");
            return Err(
                Failure::new(got).with_help("service runs have no store in folders; write sqlite:PATH")
            );
        }
        Ok(ServicePlace { url })
    }
}

impl ServicePlace {
    /// The file of the store, if it is one.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        match &self.url {
            StoreUrl::Sqlite(path) => Some(path.clone()),
            StoreUrl::File(_) | StoreUrl::Postgres(_) => None,
        }
    }

    /// The address, without a password.
    pub(crate) fn url(&self) -> String {
        self.url.to_string()
    }

    /// Opens the store, and creates a missing one.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn open(&self) -> Result<Arc<dyn ServiceStore>, Failure> {
        open(&self.url).await.map_err(|error| failure(&self.url, &error))
    }
}

async fn open(url: &StoreUrl) -> Result<Arc<dyn ServiceStore>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => {
            make_folder_of(path)?;
            Ok(Arc::new(SqliteStore::open(path)?))
        }
        StoreUrl::Postgres(address) => postgres(address.url()).await,
        StoreUrl::File(_) => {
            Err(StoreError::unusable("service runs have no store in folders", "write sqlite:PATH"))
        }
    }
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str) -> Result<Arc<dyn ServiceStore>, StoreError> {
    use runstate_postgres::{PostgresOptions, PostgresStore};

    let options: PostgresOptions =
        url.parse().map_err(|error| StoreError::unusable(error, "correct the URL of the store"))?;
    Ok(Arc::new(PostgresStore::connect(options).await?))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str) -> Result<Arc<dyn ServiceStore>, StoreError> {
    Err(super::open::without_postgres())
}
