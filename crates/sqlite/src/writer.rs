//! The writer thread and its requests.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use runstate_store::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use crate::error::{Fault, Outcome, of_sqlite};
use crate::news::ChangeNotifier;
use crate::options::Options;

/// The limit of requests in one transaction.
const MOST: usize = 256;

/// A write request. It may be attempted more than once; a failed attempt is undone first.
trait Request: Send {
    fn attempt(&mut self, conn: &Connection) -> Result<(), Fault>;
    /// Reports the result, which is durable.
    fn acknowledge(self: Box<Self>);
    fn refuse(self: Box<Self>, error: StoreError);
    fn is_given_up(&self) -> bool;
}

struct Asked<T, F> {
    work: F,
    said: Option<T>,
    done: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: FnMut(&Connection) -> Outcome<T> + Send> Request for Asked<T, F> {
    fn attempt(&mut self, conn: &Connection) -> Result<(), Fault> {
        self.said = Some((self.work)(conn)?);
        Ok(())
    }

    fn acknowledge(self: Box<Self>) {
        if let Some(said) = self.said {
            // The caller may be gone; the write is done nevertheless.
            self.done.send(Ok(said)).ok();
        }
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        self.done.send(Err(error)).ok();
    }

    fn is_given_up(&self) -> bool {
        self.done.is_closed()
    }
}

/// The handle of the writer thread. Waiting requests share one transaction with one sync.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    requests: Option<mpsc::Sender<Box<dyn Request>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(
        conn: Connection,
        path: &Path,
        options: &Options,
        news: Arc<ChangeNotifier>,
    ) -> Outcome<Writer> {
        let (requests, incoming) = mpsc::channel(options.queue.get());
        let path = path.to_owned();
        let mut writing = Writing { conn, path: path.clone(), news };
        let thread = thread::Builder::new().name("runstate-sqlite".to_owned());
        let thread = thread.spawn(move || writing.until_closed(incoming));
        let thread = thread.map_err(|error| Fault::Store(StoreError::failed(error)))?;
        Ok(Writer { path, requests: Some(requests), thread: Some(thread) })
    }

    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let stopped =
            || StoreError::failed(format!("{}: the thread that writes has stopped", self.path.display()));
        let (done, said) = oneshot::channel();
        let request = Box::new(Asked { work, said: None, done });
        let requests = self.requests.as_ref().ok_or_else(stopped)?;
        requests.send(request).await.map_err(|_| stopped())?;
        said.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The channel is closed first: the thread executes its remaining requests and ends.
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

struct Writing {
    conn: Connection,
    path: PathBuf,
    news: Arc<ChangeNotifier>,
}

type Group = Vec<Box<dyn Request>>;

impl Writing {
    fn until_closed(&mut self, mut incoming: mpsc::Receiver<Box<dyn Request>>) {
        let mut group = Group::with_capacity(MOST);
        while incoming.blocking_recv_many(&mut group, MOST) > 0 {
            group.retain(|request| !request.is_given_up());
            self.write(std::mem::take(&mut group));
            // A failed read is repeated after the next group, or by polling the file.
            self.news.look(&self.conn).ok();
        }
    }

    /// Executes a group in one transaction. If one request fails and has changed rows, each is tried alone, so that
    /// its failure does not affect the others.
    fn write(&mut self, mut group: Group) {
        match self.together(&mut group) {
            Ok(said) => {
                for (request, said) in group.into_iter().zip(said) {
                    match said {
                        Ok(()) => request.acknowledge(),
                        Err(error) => request.refuse(error),
                    }
                }
            }
            Err(Broken::NotBegun(error)) => {
                group.into_iter().for_each(|request| request.refuse(of_sqlite(&error, &self.path)));
            }
            Err(Broken::Undone(fault)) => match <[_; 1]>::try_from(group) {
                Ok([alone]) => alone.refuse(fault.of_a_write(&self.path)),
                Err(group) => group.into_iter().for_each(|request| self.write(vec![request])),
            },
        }
    }

    /// Returns the result of each request, all durable.
    fn together(&mut self, group: &mut Group) -> Result<Vec<Result<(), StoreError>>, Broken> {
        let undone = |error| Broken::Undone(Fault::Sql(error));
        let transaction = self.conn.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(Broken::NotBegun)?;
        let mut said = Vec::with_capacity(group.len());
        for request in group {
            let before = transaction.total_changes();
            match request.attempt(&transaction) {
                Ok(()) => said.push(Ok(())),
                // The request was refused before it changed a row, as usual, so the others stay valid. A savepoint
                // for each request would cost as much as two of its statements.
                Err(Fault::Store(error)) if transaction.total_changes() == before => said.push(Err(error)),
                // SQLite may have undone the whole transaction, and half of a request must not stay.
                Err(fault) => return Err(Broken::Undone(fault)),
            }
        }
        transaction.commit().map_err(undone)?;
        Ok(said)
    }
}

/// The reason for which a transaction was not made.
enum Broken {
    /// Another process is writing, or the file cannot be reached.
    NotBegun(rusqlite::Error),
    /// SQLite failed, because of one request or of all, or a request was refused halfway.
    Undone(Fault),
}
