//! One reader of changes for all watchers of a server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runstate_service::{EventRow, Numbered, Service, ServiceCursor, ServiceError};
use tokio::sync::broadcast;

use crate::options::Report;

/// Rows that a watcher may be behind before it reads the store again.
const BUFFER: usize = 64;

/// The number of rows in one read.
pub(crate) const PAGE: usize = 500;

/// New events of a run.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// The rows.
    Rows(Arc<[Numbered<EventRow>]>),
    /// The run changed: the watcher reads the store from its own place.
    Look,
}

#[derive(Debug)]
struct Watched {
    sender: broadcast::Sender<News>,
    /// The number of the last row that was sent; none until a watcher knows its place.
    seen: Option<u64>,
    watchers: usize,
}

/// The watched runs.
pub(crate) struct Hub {
    service: Service,
    report: Option<Report>,
    runs: Mutex<BTreeMap<String, Watched>>,
}

/// The subscription of a watcher.
pub(crate) struct Watch {
    hub: Arc<Hub>,
    run: String,
    receiver: broadcast::Receiver<News>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut runs = self.hub.lock();
        let Some(watched) = runs.get_mut(&self.run) else { return };
        watched.watchers -= 1;
        if watched.watchers == 0 {
            runs.remove(&self.run);
        }
    }
}

impl Watch {
    /// Waits for news of the run.
    pub(crate) async fn next(&mut self) -> News {
        match self.receiver.recv().await {
            Ok(news) => news,
            Err(broadcast::error::RecvError::Lagged(_)) => News::Look,
            // The hub keeps the sender while it has a watcher.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }

    /// Notes that the watcher has read all rows up to that number.
    pub(crate) fn has_read(&self, seq: u64) {
        if let Some(watched) = self.hub.lock().get_mut(&self.run) {
            watched.seen.get_or_insert(seq);
        }
    }
}

impl Hub {
    pub(crate) fn new(service: Service, report: Option<Report>) -> Self {
        Hub { service, report, runs: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Watched>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to the events of a run.
    pub(crate) fn watch(self: &Arc<Self>, run: &str) -> Watch {
        let mut runs = self.lock();
        let watched = runs.entry(run.to_owned()).or_insert_with(|| Watched {
            sender: broadcast::Sender::new(BUFFER),
            seen: None,
            watchers: 0,
        });
        watched.watchers += 1;
        Watch { hub: Arc::clone(self), run: run.to_owned(), receiver: watched.sender.subscribe() }
    }

    /// Reads the changes of the store for as long as it is polled.
    pub(crate) async fn pump(&self) {
        let mut cursor = None;
        loop {
            match self.look(&mut cursor).await {
                Ok(()) => {}
                // The cursor stays, so that no change is lost.
                Err(error) => {
                    if let Some(report) = &self.report {
                        report(&format!("event streams: {error}"));
                    }
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }

    async fn look(&self, cursor: &mut Option<ServiceCursor>) -> Result<(), ServiceError> {
        let Some(after) = *cursor else {
            // A watcher that subscribed before has perhaps read its run before the last change; one that subscribes
            // later reads it afterwards.
            *cursor = Some(self.service.current_cursor().await?);
            for watched in self.lock().values() {
                drop(watched.sender.send(News::Look));
            }
            return Ok(());
        };
        let changes = self.service.changes(after, 1_000, Duration::from_secs(20)).await?;
        for run in &changes.runs {
            self.send(run).await?;
        }
        *cursor = Some(changes.cursor);
        Ok(())
    }

    async fn send(&self, run: &str) -> Result<(), ServiceError> {
        loop {
            let seen = match self.lock().get(run) {
                None => return Ok(()),
                Some(Watched { seen: None, sender, .. }) => {
                    // A watcher may have gone meanwhile.
                    drop(sender.send(News::Look));
                    return Ok(());
                }
                Some(Watched { seen: Some(seen), .. }) => *seen,
            };
            let rows = match self.service.events(run, seen, PAGE).await {
                Ok(rows) => rows,
                Err(ServiceError::Store(runstate_service::ServiceStoreError::NoRun { .. })) => Vec::new(),
                Err(error) => return Err(error),
            };
            let (count, last) = (rows.len(), rows.last().map_or(seen, |row| row.seq));
            if let Some(watched) = self.lock().get_mut(run) {
                watched.seen = Some(last);
                let news = if rows.is_empty() { News::Look } else { News::Rows(rows.into()) };
                drop(watched.sender.send(news));
            }
            if count < PAGE {
                return Ok(());
            }
        }
    }
}
