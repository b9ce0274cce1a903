//! Service runs in the schema, beside the runs of agents. They have tables, leases and a count of changes of their own.
//!
//! Each change takes the next number under a lock that it holds until its commit. So changes become visible in the order
//! of their numbers, and a number is a complete cursor.

mod change;
mod list;
mod load;
mod sql;

use std::time::Duration;

use async_trait::async_trait;
use runstate::service_run::ServiceRunStatus;
use runstate_service::{
    Change, EventRow, KeyedAnswer, ListQuery, Numbered, RequestKey, RunPage, ServiceChanges, ServiceCursor,
    ServiceLease, ServiceStore, ServiceStoreError, Step, StoredRun, TimelineEntry,
};
use runstate_store::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::{Answer, PostgresStore, limit_of};
use crate::error::damaged;
use crate::text::{Key, fits, int, text, untext};
use crate::time::{left_until, span};
use change::Onto;
pub(super) use sql::Sql;

type Stored<T> = Result<T, ServiceStoreError>;

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

/// The time up to which answers are over.
fn over_until(now_ms: u64) -> i64 {
    int(now_ms).saturating_sub(int(RequestKey::TERM_MS))
}

/// Returns the error of a refused operation.
fn refusal(answer: &Answer<'_>, run: &str, fence: u64, got: u64) -> ServiceStoreError {
    let (run, current) = (run.to_owned(), answer.number);
    match answer.outcome {
        "no run" => ServiceStoreError::NoRun { run },
        "taken" => ServiceStoreError::Taken { run },
        "fenced" => ServiceStoreError::Fenced { run, fence, current },
        "version" => ServiceStoreError::Version { run, got, current },
        "held" => {
            let holder = untext(answer.detail.unwrap_or_default().to_owned());
            ServiceStoreError::Held { run, holder, left: left_until(answer.now, int(current)) }
        }
        "not over" => match answer.detail.unwrap_or_default().parse() {
            Ok(status) => ServiceStoreError::NotOver { run, status },
            Err(error) => failure(damaged(format_args!("service_runs.status of the run {run:?}: {error}"))),
        },
        other => failure(damaged(format_args!("a function answers {other:?}"))),
    }
}

impl PostgresStore {
    async fn service_rows(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Stored<Vec<Row>> {
        self.connections.rows(sql, params).await.map_err(failure)
    }

    /// Returns rows of one run behind a number. An unknown run is an error.
    async fn rows_behind(&self, sql: &str, run: &str, after: u64, limit: usize) -> Stored<Vec<Row>> {
        let key = Key::of(run).key;
        let rows = self.service_rows(sql, &[&key, &int(after), &limit_of(limit)]).await?;
        if rows.is_empty() && self.service_rows(&self.service.run_no, &[&key]).await?.is_empty() {
            return Err(no_run(run));
        }
        Ok(rows)
    }

    /// Renews a lease for a term, or gives the run back.
    async fn settle(&self, lease: &ServiceLease, term: Option<Duration>) -> Stored<()> {
        let params = [&Key::of(&lease.run).key as _, &int(lease.fence) as _, &term.map(span) as _];
        let rows = self.service_rows(&self.service.settle, &params).await?;
        let answer = Answer::of(&rows).map_err(failure)?;
        match answer.outcome {
            "made" => Ok(()),
            _ => Err(refusal(&answer, &lease.run, lease.fence, 0)),
        }
    }
}

/// With the feature `service` the store has service runs too.
#[async_trait]
impl ServiceStore for PostgresStore {
    async fn create(&self, run: &str, change: &Change) -> Stored<()> {
        self.put_service_run(run, Onto::Nothing, change).await.map(drop)
    }

    async fn load(&self, run: &str) -> Stored<StoredRun> {
        load::load(&self.connections, &self.service, run).await
    }

    async fn claim(&self, run: Option<&str>, holder: &str, term: Duration) -> Stored<Option<ServiceLease>> {
        let (holder, term) = (text(holder), span(term));
        fits("service_runs.holder", holder.len()).map_err(failure)?;
        let Some(run) = run else {
            let rows = self.service_rows(&self.service.claim_any, &[&holder, &term]).await?;
            return rows.first().map(load::lease).transpose();
        };
        let params = [&Key::of(run).key as _, &holder as _, &term as _];
        let rows = self.service_rows(&self.service.claim, &params).await?;
        let answer = Answer::of(&rows).map_err(failure)?;
        match answer.outcome {
            "claimed" => Ok(Some(ServiceLease { run: run.to_owned(), fence: answer.number })),
            "not running" => match answer.detail.unwrap_or_default().parse::<ServiceRunStatus>() {
                Ok(_) => Ok(None),
                Err(error) => {
                    Err(failure(damaged(format_args!("service_runs.status of the run {run:?}: {error}"))))
                }
            },
            _ => Err(refusal(&answer, run, 0, 0)),
        }
    }

    async fn renew(&self, lease: &ServiceLease, term: Duration) -> Stored<()> {
        self.settle(lease, Some(term)).await
    }

    async fn release(&self, lease: &ServiceLease) -> Stored<()> {
        match self.settle(lease, None).await {
            Err(ServiceStoreError::Fenced { .. }) => Ok(()),
            settled => settled,
        }
    }

    async fn commit(
        &self,
        lease: &ServiceLease,
        version: u64,
        change: &Change,
        term: Option<Duration>,
    ) -> Stored<u64> {
        self.put_service_run(&lease.run, Onto::Leased { lease, version, term }, change).await
    }

    async fn compare_and_set(&self, run: &str, version: u64, change: &Change) -> Stored<u64> {
        self.put_service_run(run, Onto::Version(version), change).await
    }

    async fn answer(&self, key: &RequestKey, now_ms: u64) -> Stored<Option<KeyedAnswer>> {
        let (principal, name) = (Key::of(&key.principal).key, Key::of(&key.key).key);
        let rows = self.service_rows(&self.service.answer, &[&principal, &name, &over_until(now_ms)]).await?;
        rows.first().map(|row| load::answer(row, key)).transpose()
    }

    async fn list(&self, query: &ListQuery) -> Stored<RunPage> {
        list::page(&self.connections, &self.service, query).await
    }

    async fn steps(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<Step>>> {
        let rows = self.rows_behind(&self.service.steps, run, after, limit).await?;
        rows.iter().map(|row| load::numbered(row, "service_steps", run)).collect()
    }

    async fn timeline(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<TimelineEntry>>> {
        let rows = self.rows_behind(&self.service.timeline, run, after, limit).await?;
        rows.iter().map(|row| load::numbered(row, "service_timeline", run)).collect()
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<EventRow>>> {
        let rows = self.rows_behind(&self.service.events, run, after, limit).await?;
        rows.iter().map(|row| load::numbered(row, "service_events", run)).collect()
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<String>> {
        let rows = self.rows_behind(&self.service.trace, run, after, limit).await?;
        rows.iter().map(|row| load::line(row, "service_trace", run)).collect()
    }

    async fn current_cursor(&self) -> Stored<ServiceCursor> {
        load::counted(&self.service_rows(&self.service.counted, &[]).await?).map(ServiceCursor::new)
    }

    async fn changes(
        &self,
        cursor: ServiceCursor,
        limit: usize,
        timeout: Duration,
    ) -> Stored<ServiceChanges> {
        let began = tokio::time::Instant::now();
        loop {
            let seen = self.listener().commits();
            let size = limit_of(limit.saturating_add(1));
            let rows = self.service_rows(&self.service.changes, &[&int(cursor.number()), &size]).await?;
            if let Some(changes) = load::changes(&rows, cursor, limit)? {
                return Ok(changes);
            }
            let left = timeout.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(ServiceChanges { runs: Vec::new(), cursor });
            }
            // A process may have ended between its commit and the notification.
            let pause = left.min(self.options.poll);
            self.listener().wait_for_commit(seen, pause, pause).await;
        }
    }

    async fn delete(&self, run: &str) -> Stored<()> {
        let over = ServiceRunStatus::ALL.iter().filter(|status| status.is_terminal());
        let over: Vec<&str> = over.map(|status| status.name()).collect();
        let rows = self.service_rows(&self.service.remove, &[&Key::of(run).key, &over]).await?;
        let answer = Answer::of(&rows).map_err(failure)?;
        match answer.outcome {
            "removed" => Ok(()),
            _ => Err(refusal(&answer, run, 0, 0)),
        }
    }
}
