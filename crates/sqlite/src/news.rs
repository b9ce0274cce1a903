//! Notifications: immediate within this process, by polling the file for other processes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use crate::error::Outcome;
use crate::readers::Readers;

/// The counts of input, of commits and of changes of service runs, as far as this process knows them. Each waiting task has its own cursor.
#[derive(Debug)]
pub(crate) struct ChangeNotifier {
    count: watch::Sender<u64>,
    commits: watch::Sender<u64>,
    services: watch::Sender<u64>,
}

impl ChangeNotifier {
    pub(crate) fn from(conn: &Connection) -> Outcome<ChangeNotifier> {
        let [count, commits, services] = counts(conn)?.map(watch::Sender::new);
        Ok(ChangeNotifier { count, commits, services })
    }

    /// Reads the counts, and wakes the waiting tasks of each that differs. A count that cannot be read now is read at
    /// the next poll.
    pub(crate) fn look(&self, conn: &Connection) -> Outcome<()> {
        for (known, found) in [&self.count, &self.commits, &self.services].into_iter().zip(counts(conn)?) {
            known.send_if_modified(|known| std::mem::replace(known, found) != found);
        }
        Ok(())
    }

    /// Returns the count of commits.
    pub(crate) fn commits(&self) -> u64 {
        *self.commits.borrow()
    }

    /// Waits until the count of commits differs from `seen`, at most for `timeout`.
    pub(crate) async fn wait_for_commit(
        self: &Arc<Self>,
        readers: &Readers,
        seen: u64,
        timeout: Duration,
        poll: Duration,
    ) {
        self.wait_for(&self.commits, readers, seen, timeout, poll).await;
    }

    /// Returns the count of changes of service runs.
    #[cfg(feature = "service")]
    pub(crate) fn service_changes(&self) -> u64 {
        *self.services.borrow()
    }

    /// Waits until the count of changes of service runs differs from `seen`, at most for `timeout`.
    #[cfg(feature = "service")]
    pub(crate) async fn wait_for_service_change(
        self: &Arc<Self>,
        readers: &Readers,
        seen: u64,
        timeout: Duration,
        poll: Duration,
    ) {
        self.wait_for(&self.services, readers, seen, timeout, poll).await;
    }

    /// Waits until the count of input differs from `seen`, at most for `patience`. Returns the count.
    pub(crate) async fn wait(
        self: &Arc<Self>,
        readers: &Readers,
        seen: u64,
        patience: Duration,
        poll: Duration,
    ) -> u64 {
        self.wait_for(&self.count, readers, seen, patience, poll).await
    }

    async fn wait_for(
        self: &Arc<Self>,
        counts: &watch::Sender<u64>,
        readers: &Readers,
        seen: u64,
        patience: Duration,
        poll: Duration,
    ) -> u64 {
        let mut count = counts.subscribe();
        let poll = async {
            loop {
                tokio::time::sleep(poll).await;
                readers.look(self).await;
            }
        };
        let came = async {
            // The sender lives as long as the store.
            count.wait_for(|count| *count != seen).await.ok();
        };
        tokio::select! {
            () = came => {}
            () = poll => {}
            () = tokio::time::sleep(patience) => {}
        }
        *counts.borrow()
    }
}

/// Reads the counts of input, of commits and of changes of service runs.
fn counts(conn: &Connection) -> Outcome<[u64; 3]> {
    let mut statement = conn.prepare_cached(
        "SELECT (SELECT CAST(count AS INTEGER) FROM news), (SELECT CAST(commits AS INTEGER) FROM news), \
             (SELECT CAST(changes AS INTEGER) FROM service_news)",
    )?;
    type Counts = [Option<i64>; 3];
    let counts: Counts = statement.query_row([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    // Any numbers work, as long as they differ after each change.
    Ok(counts.map(|count| count.unwrap_or(0).cast_unsigned()))
}

/// A connection that detects commits by its own counter, without reading a page.
#[derive(Debug)]
pub(crate) struct Watch {
    seen: Mutex<(Connection, i64)>,
}

impl Watch {
    pub(crate) fn on(conn: Connection) -> Watch {
        Watch { seen: Mutex::new((conn, -1)) }
    }

    pub(crate) fn look(&self, news: &ChangeNotifier) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (conn, version) = &mut *seen;
        let found = conn.pragma_query_value(None, "data_version", |row| row.get(0));
        // The version of a failed read is not recorded.
        if let Ok(found) = found
            && found != *version
            && news.look(conn).is_ok()
        {
            *version = found;
        }
    }
}
