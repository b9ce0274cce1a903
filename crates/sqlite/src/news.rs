//! What came in: in this process at once, in others by looking at the file.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};
use tokio::sync::watch;

use crate::error::Outcome;
use crate::readers::Readers;

/// The count of what came in, as far as this process knows it. Each who waits knows how much it has seen.
#[derive(Debug)]
pub(crate) struct News {
    count: watch::Sender<u64>,
    commits: watch::Sender<u64>,
}

impl News {
    pub(crate) fn from(conn: &Connection) -> Outcome<News> {
        let (count, commits) = counts(conn)?;
        Ok(News { count: watch::Sender::new(count), commits: watch::Sender::new(commits) })
    }

    /// Reads the counts, and wakes the waiters of each that differs. A count that cannot be read now is read at the next look.
    pub(crate) fn look(&self, conn: &Connection) -> Outcome<()> {
        let (count, commits) = counts(conn)?;
        for (known, found) in [(&self.count, count), (&self.commits, commits)] {
            known.send_if_modified(|known| std::mem::replace(known, found) != found);
        }
        Ok(())
    }

    /// The count of commits.
    pub(crate) fn commits(&self) -> u64 {
        *self.commits.borrow()
    }

    /// Waits until the count of commits is another than `seen`, at most for `timeout`.
    pub(crate) async fn wait_for_commit(
        self: &Arc<Self>,
        readers: &Readers,
        seen: u64,
        timeout: Duration,
        poll: Duration,
    ) {
        self.wait_for(&self.commits, readers, seen, timeout, poll).await;
    }

    /// Waits until the count is another than `seen`, but no longer than `patience`. Says what it is.
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

/// The counts of news and of commits.
fn counts(conn: &Connection) -> Outcome<(u64, u64)> {
    let mut statement =
        conn.prepare_cached("SELECT CAST(count AS INTEGER), CAST(commits AS INTEGER) FROM news")?;
    type Counts = (Option<i64>, Option<i64>);
    let counts: Option<Counts> = statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (count, commits) = counts.unwrap_or_default();
    // Any number will do, as long as it is another one each time.
    Ok((count.unwrap_or(0).cast_unsigned(), commits.unwrap_or(0).cast_unsigned()))
}

/// A connection that sees by its own counter whether anybody committed, without reading a page.
#[derive(Debug)]
pub(crate) struct Watch {
    seen: Mutex<(Connection, i64)>,
}

impl Watch {
    pub(crate) fn on(conn: Connection) -> Watch {
        Watch { seen: Mutex::new((conn, -1)) }
    }

    pub(crate) fn look(&self, news: &News) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (conn, version) = &mut *seen;
        let found = conn.pragma_query_value(None, "data_version", |row| row.get(0));
        // A count that could not be read was not seen.
        if let Ok(found) = found
            && found != *version
            && news.look(conn).is_ok()
        {
            *version = found;
        }
    }
}
