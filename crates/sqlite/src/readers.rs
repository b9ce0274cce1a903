//! Reading connections, on threads for blocking work.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
#[cfg(feature = "service")]
use std::time::Duration;

use runstate_store::StoreError;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::connect;
use crate::error::Outcome;
use crate::news::{ChangeNotifier, Watch};
use crate::options::Options;

/// Connections that read concurrently with the writer. They are opened on demand.
#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    options: Options,
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
    watch: Arc<Watch>,
    /// A connection that reads no page, and so waits for no disk.
    #[cfg(feature = "service")]
    stamp: Mutex<Connection>,
}

impl Readers {
    pub(crate) fn open(path: &Path, options: &Options) -> Outcome<Readers> {
        let watch = Watch::on(connect::reader(path, options)?);
        #[cfg(feature = "service")]
        let stamp = connect::reader(path, options)?;
        // Another process that restores the log is not waited for.
        #[cfg(feature = "service")]
        stamp.busy_timeout(Duration::ZERO)?;
        Ok(Readers {
            path: path.to_owned(),
            options: options.clone(),
            turns: Arc::new(Semaphore::new(options.readers.get())),
            idle: Arc::default(),
            watch: Arc::new(watch),
            #[cfg(feature = "service")]
            stamp: Mutex::new(stamp),
        })
    }

    /// Returns a number that differs after each commit of another connection, the writer's included. None after an error.
    #[cfg(feature = "service")]
    pub(crate) fn stamp(&self) -> Option<u64> {
        let conn = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        let mut version = conn.prepare_cached("PRAGMA data_version").ok()?;
        version.query_row([], |row| row.get(0)).ok().map(i64::cast_unsigned)
    }

    /// Reads in one transaction, so that all data is from one point in time.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(StoreError::failed)?;
        let (idle, path, options) = (Arc::clone(&self.idle), self.path.clone(), self.options.clone());
        let read = move || {
            // Released when the read ends, even if its caller is gone.
            let _turn = turn;
            let at = |fault: crate::error::Fault| fault.at(&path);
            let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut conn = match kept {
                Some(conn) => conn,
                None => connect::reader(&path, &options).map_err(at)?,
            };
            let said = within(&mut conn, work).map_err(at);
            // A connection with a failed read may be unusable.
            if said.is_ok() {
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
            }
            said
        };
        tokio::task::spawn_blocking(read).await.map_err(StoreError::failed)?
    }

    pub(crate) async fn look(&self, news: &Arc<ChangeNotifier>) {
        let (watch, news) = (Arc::clone(&self.watch), Arc::clone(news));
        // An error is ignored: the next poll follows soon.
        tokio::task::spawn_blocking(move || watch.look(&news)).await.ok();
    }
}

fn within<T>(conn: &mut Connection, work: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
    let transaction = conn.transaction()?;
    let said = work(&transaction)?;
    transaction.commit()?;
    Ok(said)
}
