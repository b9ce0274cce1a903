//! Service runs in the file, beside the runs of agents. They have tables, leases and a count of changes of their own.

mod change;
mod leases;
mod list;
mod read;

use std::time::Duration;

use async_trait::async_trait;
use runstate_service::{
    Change, ChangeTexts, EventRow, KeyedAnswer, ListQuery, Numbered, RequestKey, RunPage, ServiceChanges,
    ServiceCursor, ServiceLease, ServiceStore, ServiceStoreError, Step, StoredRun, TimelineEntry,
};
use runstate_store::StoreError;
use rusqlite::Connection;
use serde::de::DeserializeOwned;

use crate::SqliteStore;
use crate::error::{Fault, Outcome};
use crate::number::number;
use crate::time::Now;

#[cfg(test)]
pub(crate) use {leases::FIRST_READY, list::page_sql, read::CHANGES};

type Stored<T> = Result<T, ServiceStoreError>;

/// The result of a part of an operation.
type Kept<T> = Result<T, Halt>;

/// The reason for the early end of an operation.
enum Halt {
    /// SQLite failed, or a row cannot be read.
    Fault(Fault),
    /// The operation is refused. It has changed no row.
    Refused(ServiceStoreError),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Halt::Fault(fault)
    }
}

impl From<rusqlite::Error> for Halt {
    fn from(error: rusqlite::Error) -> Self {
        Halt::Fault(Fault::Sql(error))
    }
}

impl From<ServiceStoreError> for Halt {
    fn from(error: ServiceStoreError) -> Self {
        Halt::Refused(error)
    }
}

/// Separates a refusal, which undoes nothing, from a fault.
fn outcome<T>(done: Kept<T>) -> Outcome<Stored<T>> {
    match done {
        Ok(value) => Ok(Ok(value)),
        Err(Halt::Refused(error)) => Ok(Err(error)),
        Err(Halt::Fault(fault)) => Err(fault),
    }
}

fn failure(error: StoreError) -> ServiceStoreError {
    match error {
        StoreError::Unavailable(cause) => ServiceStoreError::Unavailable(cause),
        StoreError::Failed(cause) => ServiceStoreError::Failed(cause),
        // The advice of this error is for runs of agents.
        StoreError::TooLarge { what, .. } => failed(format!("{what}; nothing was stored")),
        other => ServiceStoreError::Failed(other.into()),
    }
}

fn failed(what: String) -> ServiceStoreError {
    ServiceStoreError::Failed(what.into())
}

fn no_run(run: &str) -> ServiceStoreError {
    ServiceStoreError::NoRun { run: run.to_owned() }
}

impl SqliteStore {
    async fn write_service<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&Connection, Now) -> Kept<T> + Send + 'static,
    ) -> Stored<T> {
        self.write(move |conn, now| outcome(work(conn, now))).await.map_err(failure)?
    }

    async fn read_service<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Kept<T> + Send + 'static,
    ) -> Stored<T> {
        self.readers.read(move |conn| outcome(work(conn))).await.map_err(failure)?
    }

    async fn service_rows<T: DeserializeOwned + Send + 'static>(
        &self,
        table: &'static str,
        run: &str,
        after: u64,
        limit: usize,
    ) -> Stored<Vec<Numbered<T>>> {
        let run = run.to_owned();
        self.read_service(move |conn| read::rows(conn, table, &run, after, limit)).await
    }
}

/// With the feature `service` the store has service runs too.
#[async_trait]
impl ServiceStore for SqliteStore {
    async fn create(&self, run: &str, change: &Change) -> Stored<()> {
        let (run, texts) = (run.to_owned(), ChangeTexts::of(change)?);
        let change = change.clone();
        self.write_service(move |conn, _| change::create(conn, &run, &change, &texts)).await
    }

    async fn load(&self, run: &str) -> Stored<StoredRun> {
        let run = run.to_owned();
        self.read_service(move |conn| read::load(conn, &run)).await
    }

    async fn claim(&self, run: Option<&str>, holder: &str, term: Duration) -> Stored<Option<ServiceLease>> {
        let (run, holder) = (run.map(str::to_owned), holder.to_owned());
        let work = move |conn: &Connection, now: Now| match &run {
            Some(run) => leases::claim(conn, run, &holder, term, now),
            None => leases::claim_any(conn, &holder, term, now),
        };
        self.write_service(work).await
    }

    async fn renew(&self, lease: &ServiceLease, term: Duration) -> Stored<()> {
        let lease = lease.clone();
        self.write_service(move |conn, now| leases::renew(conn, &lease, now.after(term))).await
    }

    async fn release(&self, lease: &ServiceLease) -> Stored<()> {
        let lease = lease.clone();
        self.write_service(move |conn, _| leases::release(conn, &lease)).await
    }

    async fn commit(
        &self,
        lease: &ServiceLease,
        version: u64,
        change: &Change,
        term: Option<Duration>,
    ) -> Stored<u64> {
        let texts = ChangeTexts::of(change)?;
        let (lease, change) = (lease.clone(), change.clone());
        let work = move |conn: &Connection, now: Now| {
            leases::check(conn, &lease)?;
            let version = change::apply(conn, &lease.run, version, &change, &texts)?;
            leases::settle(conn, &lease.run, term.map(|term| now.after(term)))?;
            Ok(version)
        };
        self.write_service(work).await
    }

    async fn compare_and_set(&self, run: &str, version: u64, change: &Change) -> Stored<u64> {
        let (run, texts) = (run.to_owned(), ChangeTexts::of(change)?);
        let change = change.clone();
        self.write_service(move |conn, _| change::apply(conn, &run, version, &change, &texts)).await
    }

    async fn answer(&self, key: &RequestKey, now_ms: u64) -> Stored<Option<KeyedAnswer>> {
        let key = key.clone();
        self.read_service(move |conn| read::answer(conn, &key, now_ms)).await
    }

    async fn list(&self, query: &ListQuery) -> Stored<RunPage> {
        let query = query.clone();
        self.read_service(move |conn| list::page(conn, &query)).await
    }

    async fn steps(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<Step>>> {
        self.service_rows("service_steps", run, after, limit).await
    }

    async fn timeline(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<TimelineEntry>>> {
        self.service_rows("service_timeline", run, after, limit).await
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<EventRow>>> {
        self.service_rows("service_events", run, after, limit).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<String>> {
        let run = run.to_owned();
        let read = move |conn: &Connection| read::lines(conn, "service_trace", &run, after, limit);
        Ok(self.read_service(read).await?.into_iter().map(|(_, line)| line).collect())
    }

    fn stamp(&self) -> Option<u64> {
        self.readers.stamp()
    }

    async fn current_cursor(&self) -> Stored<ServiceCursor> {
        let counted = self.read_service(|conn| Ok(read::counted(conn)?)).await?;
        Ok(ServiceCursor::new(number(counted)))
    }

    async fn changes(
        &self,
        cursor: ServiceCursor,
        limit: usize,
        timeout: Duration,
    ) -> Stored<ServiceChanges> {
        let began = tokio::time::Instant::now();
        loop {
            let seen = self.news.service_changes();
            let found = self.read_service(move |conn| read::changes(conn, cursor, limit)).await?;
            if let Some(changes) = found {
                return Ok(changes);
            }
            let left = timeout.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(ServiceChanges { runs: Vec::new(), cursor });
            }
            self.news.wait_for_service_change(&self.readers, seen, left, self.options.poll).await;
        }
    }

    async fn delete(&self, run: &str) -> Stored<()> {
        let run = run.to_owned();
        self.write_service(move |conn, now| leases::delete(conn, &run, now)).await
    }
}
