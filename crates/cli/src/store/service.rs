//! The store of service runs.

use std::path::PathBuf;
use std::sync::Arc;

use runstate::snapshot::Keyring;
use runstate_service::ServiceStore;
use runstate_sqlite::SqliteStore;
use runstate_store::{Keyed, RunStore, StoreError};

use super::StoreArgs;
use super::ask::failure;
use super::open::make_folder_of;
use super::url::StoreUrl;
use crate::failure::Failure;
use crate::keys;

/// The place of service runs.
#[derive(Debug)]
pub(crate) struct ServicePlace {
    url: StoreUrl,
    keys: Option<Keyring>,
}

/// A store of service runs, and its agent runs.
pub(crate) type ServiceStores = (Arc<dyn ServiceStore>, Arc<dyn RunStore>);

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
        Ok(ServicePlace { url, keys: keys::read(self.key_file())? })
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
    pub(crate) async fn open(self) -> Result<ServiceStores, Failure> {
        let (services, runs) = open(&self.url).await.map_err(|error| failure(&self.url, &error))?;
        match self.keys {
            Some(keys) => Ok((services, Arc::new(Keyed::new(runs, keys)))),
            None => Ok((services, runs)),
        }
    }
}

/// One store as both.
fn both<S: ServiceStore + RunStore + 'static>(store: S) -> ServiceStores {
    let store = Arc::new(store);
    (store.clone(), store)
}

async fn open(url: &StoreUrl) -> Result<ServiceStores, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => {
            make_folder_of(path)?;
            Ok(both(SqliteStore::open(path)?))
        }
        StoreUrl::Postgres(address) => postgres(address.url()).await,
        StoreUrl::File(_) => {
            Err(StoreError::unusable("service runs have no store in folders", "write sqlite:PATH"))
        }
    }
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str) -> Result<ServiceStores, StoreError> {
    use runstate_postgres::{PostgresOptions, PostgresStore};

    let options: PostgresOptions =
        url.parse().map_err(|error| StoreError::unusable(error, "correct the URL of the store"))?;
    Ok(both(PostgresStore::connect(options).await?))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str) -> Result<ServiceStores, StoreError> {
    Err(super::open::without_postgres())
}
