//! Connections that read, on threads that may block.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use runstate::store::StoreError;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::connect;
use crate::error::Outcome;
use crate::news::{News, Watch};
use crate::options::Options;

/// A few connections that read beside the writer. They are opened as they are needed.
#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    options: Options,
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
    watch: Arc<Watch>,
}

impl Readers {
    pub(crate) fn open(path: &Path, options: &Options) -> Outcome<Readers> {
        let watch = Watch::on(connect::reader(path, options)?);
        Ok(Readers {
            path: path.to_owned(),
            options: options.clone(),
            turns: Arc::new(Semaphore::new(options.readers.get())),
            idle: Arc::default(),
            watch: Arc::new(watch),
        })
    }

    /// Reads in one transaction: all of it is of the same moment.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(StoreError::failed)?;
        let (idle, path, options) = (Arc::clone(&self.idle), self.path.clone(), self.options.clone());
        let read = move || {
            // Given back when the reading is done, though who waited may be gone.
            let _turn = turn;
            let at = |fault: crate::error::Fault| fault.at(&path);
            let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut conn = match kept {
                Some(conn) => conn,
                None => connect::reader(&path, &options).map_err(at)?,
            };
            let said = within(&mut conn, work).map_err(at);
            // One that failed may be no good any more.
            if said.is_ok() {
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
            }
            said
        };
        tokio::task::spawn_blocking(read).await.map_err(StoreError::failed)?
    }

    pub(crate) async fn look(&self, news: &Arc<News>) {
        let (watch, news) = (Arc::clone(&self.watch), Arc::clone(news));
        // It is looked at again soon.
        tokio::task::spawn_blocking(move || watch.look(&news)).await.ok();
    }
}

fn within<T>(conn: &mut Connection, work: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
    let transaction = conn.transaction()?;
    let said = work(&transaction)?;
    transaction.commit()?;
    Ok(said)
}
