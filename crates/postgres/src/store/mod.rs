//! The store: the statement of each operation, and the meaning of its result.

mod changes;
mod commit;
mod list;
mod load;
#[cfg(feature = "service")]
mod service;
mod sql;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use runstate::decision::Decision;
use runstate_store::{
    Approval, ApprovalQuery, ChangeCursor, Changes, Claim, Commit, CorruptEntry, EventRow, Lease, NewRun,
    Parts, PendingSignals, Posted, Release, RunData, RunInfo, RunLists, RunQuery, RunQueue, StoreError,
    Superseded, Timer, TraceRow, Unread, UserMessage,
};
use tokio::sync::RwLock;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{damaged, of_client};
use crate::listen::{Listener, Teller};
use crate::options::PostgresOptions;
use crate::pool::Connections;
use crate::row::{column, json, optional, told};
use crate::text::{Key, fits, int, longest, nat, text, untext};
use crate::time::{left_until, span};
use crate::{schema, tls};
use sql::Sql;

/// A store of runs in a PostgreSQL database. Any number of processes may use one schema.
///
/// With the feature `service` the schema has service runs too. Their leases follow the same clock.
///
/// The [crate](crate) documentation has the requirements of the server.
pub struct PostgresStore {
    connections: Connections,
    options: PostgresOptions,
    tls: MakeRustlsConnect,
    sql: Sql,
    #[cfg(feature = "service")]
    service: service::Sql,
    /// The listener, from the first wait for notifications on.
    listener: OnceLock<Listener>,
    teller: OnceLock<Teller>,
    /// Locked for reading by each creation of a run, including those with a dropped caller. A removal waits for all
    /// creations. Otherwise it could precede one on another connection, and the run would exist after its removal.
    creating: Arc<RwLock<()>>,
    unread: Unread,
}

impl PostgresStore {
    /// Connects to a server, and creates or migrates the tables. Of several concurrent processes one does this.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the server cannot be reached. [`StoreError::Unusable`] if the schema is of a
    /// later version of this program or of another program, or the server's settings would lose commits.
    /// [`StoreError::Failed`] if the server refuses the user, or its certificate does not satisfy the options.
    ///
    /// # Cancel safety
    /// If the future is dropped, the migration happens completely or not at all.
    pub async fn connect(mut options: PostgresOptions) -> Result<Self, StoreError> {
        let tls = tls::connector(&mut options)?;
        let connections = Connections::new(&options, &tls)?;
        let mut client = connections.one().await?;
        let quoted = options.quoted_schema();
        let how = (options.patience, options.migrates);
        schema::migrate(&mut client, &options.schema, &quoted, how).await?;
        drop(client);
        let sql = Sql::of(&quoted);
        Ok(PostgresStore {
            connections,
            options,
            tls,
            sql,
            #[cfg(feature = "service")]
            service: service::Sql::of(&quoted),
            listener: OnceLock::new(),
            teller: OnceLock::new(),
            creating: Arc::default(),
            unread: Unread::default(),
        })
    }

    /// Notifies all listeners of new input, after the input is durable. A notification within the transaction would
    /// make such transactions wait for the syncs of others. If a notification is lost, other processes
    /// find the input when they next read the store.
    async fn tell(&self) {
        let told = self.connections.rows(&self.sql.tell, &[&self.options.channel(), &""]).await;
        drop(told);
    }

    fn tell_of_commit(&self) {
        let teller = self.teller.get_or_init(|| {
            let channel = self.options.channel_of_commits();
            Teller::start(self.options.config.clone(), self.tls.clone(), channel)
        });
        teller.tell();
    }

    fn listener(&self) -> &Listener {
        self.listener.get_or_init(|| {
            let channels = [self.options.channel(), self.options.channel_of_commits()];
            Listener::start(self.options.config.clone(), self.tls.clone(), channels)
        })
    }

    async fn exists(&self, run: &str) -> Result<(), StoreError> {
        let rows = self.connections.rows(&self.sql.run_no, &[&Key::of(run).key]).await?;
        if rows.is_empty() { Err(no_run(run)) } else { Ok(()) }
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("hosts", &self.options.config.get_hosts())
            .field("database", &self.options.config.get_dbname())
            .field("schema", &self.options.schema)
            .finish_non_exhaustive()
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.connections.close();
    }
}

/// The size limit of a stored problem, in bytes. A longer one is cut.
const MOST_OF_A_PROBLEM: usize = 1 << 20;

#[async_trait]
impl RunData for PostgresStore {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        fits("runs.title", text(&run.title).len())?;
        let new = run.clone();
        let (connections, sql) = (self.connections.clone(), self.sql.create_run.clone());
        let turn = Arc::clone(&self.creating).read_owned().await;
        // A task of its own observes the end of the creation, even if the caller is gone.
        let made = tokio::spawn(async move {
            let Key { key, long } = Key::of(&new.id);
            let spec = serde_json::to_string(&new.spec).map_err(StoreError::failed)?;
            fits("runs.id", longest(&long))?;
            fits("runs.spec", spec.len())?;
            let (title, at, not_before) = (text(&new.title), int(new.at_ms), new.not_before.map(span));
            let thread = new.thread.as_ref().map(|place| Key::of(&place.thread));
            let after =
                new.thread.as_ref().and_then(|place| place.after.as_deref()).map(|after| Key::of(after).key);
            let (thread, long_thread) = thread.map(|Key { key, long }| (key, long)).unzip();
            let long_thread = long_thread.flatten();
            fits("threads.thread", longest(&long_thread))?;
            let message = new.begins_with.as_deref().map(|id| Key::of(id).key);
            let params: [&(dyn ToSql + Sync); 10] =
                [&key, &long, &title, &spec, &at, &not_before, &thread, &long_thread, &after, &message];
            let made = connections.rows(&sql, &params).await;
            drop(turn);
            made
        });
        let made = made.await.map_err(StoreError::failed)??;
        let row = made.first().ok_or_else(|| damaged("create_on_thread answers nothing"))?;
        match (column(row, 0)?, &run.thread) {
            ("made", _) => {}
            ("busy", Some(place)) => {
                let status: &str = column(row, 2)?;
                let status = status.parse().map_err(|error| damaged(format_args!("runs.status: {error}")))?;
                return Err(StoreError::Busy { thread: place.thread.clone(), run: told(row, 1)?, status });
            }
            ("duplicate", _) => {
                return Err(StoreError::Taken { run: run.begins_with.clone().unwrap_or_default() });
            }
            ("no run", Some(place)) => return Err(no_run(place.after.as_deref().unwrap_or_default())),
            _ => return Err(StoreError::Taken { run: run.id.clone() }),
        }
        self.tell().await;
        Ok(())
    }

    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let rows = self.connections.rows(&self.sql.last_of_thread, &[&Key::of(thread).key]).await?;
        rows.first().map(|row| told(row, 0)).transpose()
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        let json = serde_json::to_string(message).map_err(StoreError::failed)?;
        fits("posts.json", json.len())?;
        let params = [&Key::of(run).key as _, &Key::of(&message.id).key as _, &json as _];
        let rows = self.connections.rows(&self.sql.supersede, &params).await?;
        let outcome: &str = rows.first().map_or(Ok(""), |row| column(row, 0))?;
        match outcome {
            "accepted" => {
                self.tell().await;
                Ok(Superseded::Accepted)
            }
            "duplicate" => Ok(Superseded::Duplicate),
            "busy" => Ok(Superseded::Busy),
            "over" => Ok(Superseded::Over),
            "no run" => Err(no_run(run)),
            other => Err(damaged(format_args!("supersede answers {other:?}"))),
        }
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        let rows = self.connections.rows(&self.sql.is_given, &[&Key::of(run).key]).await?;
        rows.first().map_or(Ok(false), |row| column(row, 0))
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        load::load(&self.connections, &self.sql, run).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        commit::commit(&self.connections, &self.sql.commit_run, lease, commit).await?;
        self.tell_of_commit();
        Ok(())
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let json = serde_json::to_string(decision).map_err(StoreError::failed)?;
        fits("decisions.json", json.len())?;
        let params = [
            &Key::of(&decision.run_id).key as _,
            &Key::of(&decision.call).key as _,
            &Key::of(&decision.suspension_id).key as _,
            &Key::of(&decision.decision_id).key as _,
            &text(&decision.call) as _,
            &commit::action(decision.action) as _,
            &decision.actor.as_deref().map(text) as _,
            &int(decision.decided_at_ms) as _,
            &json as _,
        ];
        let rows = self.connections.rows(&self.sql.post_decision, &params).await?;
        let outcome: &str = rows.first().map_or(Ok(""), |row| column(row, 0))?;
        match outcome {
            "accepted" => {
                self.tell().await;
                Ok(Posted::Accepted)
            }
            "duplicate" => Ok(Posted::Duplicate),
            "conflict" => Ok(Posted::Conflict),
            "not waiting" => Ok(Posted::NotWaiting),
            "no run" => Err(no_run(&decision.run_id)),
            other => Err(damaged(format_args!("post_decision answers {other:?}"))),
        }
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        let key = Key::of(run).key;
        let reason = text(reason);
        fits("runs.cancel", reason.len())?;
        let noted = self.connections.rows(&self.sql.cancel, &[&key, &reason]).await?;
        if noted.is_empty() {
            return self.exists(run).await.map(|()| false);
        }
        self.tell().await;
        Ok(true)
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        let rows = self.connections.rows(&self.sql.mail, &[&Key::of(run).key]).await?;
        let Some(first) = rows.first() else { return Err(no_run(run)) };
        let cancel = optional(first, 0)?;
        let has_decision = |row: &&Row| !matches!(column::<Option<&str>>(row, 1), Ok(None));
        let decisions = rows.iter().filter(has_decision).map(|row| load::parsed(row, 1, "decisions.json"));
        let has_message = !matches!(column::<Option<&str>>(first, 2), Ok(None));
        let message = has_message.then(|| load::parsed(first, 2, "posts.json")).transpose()?;
        Ok(PendingSignals::new(decisions.collect::<Result<_, _>>()?, cancel).with_message(message))
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        let params = [&Key::of(run).key as _, &int(after) as _, &limit_of(limit) as _];
        let rows = self.connections.rows(&self.sql.trace, &params).await?;
        if rows.is_empty() {
            self.exists(run).await?;
        }
        let traced = |row| Ok(TraceRow { seq: load::number(row, 0)?, json: json(row, 1)?.to_owned() });
        rows.iter().map(traced).collect()
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let params = [&Key::of(run).key as _, &int(after) as _, &limit_of(limit) as _];
        let rows = self.connections.rows(&self.sql.events, &params).await?;
        if rows.is_empty() {
            self.exists(run).await?;
        }
        let event = |row| {
            let (seq, last) = (load::number(row, 0)?, load::number(row, 1)?);
            Ok(EventRow { seq, last, json: json(row, 2)?.to_owned() })
        };
        rows.iter().map(event).collect()
    }
}

#[async_trait]
impl RunLists for PostgresStore {
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        list::runs(&self.connections, &self.sql, query, &self.unread).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        list::approvals(&self.connections, &self.sql, query, &self.unread).await
    }

    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        list::due(&self.connections, &self.sql, limit, &self.unread).await
    }

    async fn corrupt_entries(&self) -> Result<Vec<CorruptEntry>, StoreError> {
        Ok(self.unread.all())
    }

    async fn remove(&self, run: &str) -> Result<bool, StoreError> {
        drop(self.creating.write().await);
        let rows = self.connections.rows(&self.sql.remove_run, &[&Key::of(run).key]).await?;
        let answer = Answer::of(&rows)?;
        match answer.outcome {
            "removed" => {
                self.unread.forget(run);
                Ok(true)
            }
            "no run" => Ok(false),
            _ => Err(answer.refusal(run, 0, 0)),
        }
    }
}

#[async_trait]
impl RunQueue for PostgresStore {
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let holder = text(&claim.holder);
        fits("runs.holder", holder.len())?;
        let term = span(claim.term);
        let Some(run) = &claim.run else {
            let rows = self.connections.rows(&self.sql.claim_any, &[&holder, &term]).await?;
            let lease = |row: &Row| {
                let lost = load::small(row, 2, "runs.lost")?;
                Ok(Lease::new(told(row, 0)?, load::number(row, 1)?).of_lost(lost))
            };
            return rows.first().map(lease).transpose();
        };
        let params = [&Key::of(run).key as _, &holder as _, &term as _];
        let rows = self.connections.rows(&self.sql.claim_run, &params).await?;
        let answer = Answer::of(&rows)?;
        match answer.outcome {
            "claimed" if answer.number == 0 => {
                Err(damaged(format_args!("runs.fence of the run {run:?} is below 0")))
            }
            "claimed" => Ok(Some(Lease::new(run.clone(), answer.number))),
            _ => Err(answer.refusal(run, 0, 0)),
        }
    }

    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError> {
        let params = [&Key::of(&lease.run).key as _, &int(lease.fence) as _, &span(term) as _];
        let rows = self.connections.rows(&self.sql.renew_run, &params).await?;
        let answer = Answer::of(&rows)?;
        match answer.outcome {
            "renewed" => Ok(()),
            _ => Err(answer.refusal(&lease.run, lease.fence, 0)),
        }
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        // A text that is too long is cut: a refused release would leave the lease.
        let problem = release
            .problem
            .as_deref()
            .map(|problem| &problem[..problem.floor_char_boundary(MOST_OF_A_PROBLEM)]);
        let (key, problem) = (Key::of(&lease.run).key, problem.map(text));
        let not_before = release.not_before.map(span);
        let params = [
            &key as _,
            &int(lease.fence) as _,
            &not_before as _,
            &problem as _,
            &release.resets_lost_claims as _,
        ];
        let released = self.connections.rows(&self.sql.release, &params).await?;
        if !released.is_empty() {
            self.tell().await;
        }
        Ok(())
    }

    async fn commit_and_release(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        commit::commit(&self.connections, &self.sql.commit_and_release, lease, commit).await?;
        self.tell_of_commit();
        self.tell().await;
        Ok(())
    }

    async fn changed_since(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        Ok(self.listener().wait(seen, patience, self.options.poll).await)
    }

    async fn current_cursor(&self) -> Result<ChangeCursor, StoreError> {
        changes::current(&self.connections, &self.sql.settled, &self.sql.changes).await
    }

    async fn changes(&self, cursor: &ChangeCursor, timeout: Duration) -> Result<Changes, StoreError> {
        let began = tokio::time::Instant::now();
        let mut cursor = cursor.clone();
        loop {
            let seen = self.listener().commits();
            let changes = changes::page(&self.connections, &self.sql.changes, &cursor).await?;
            let left = timeout.saturating_sub(began.elapsed());
            if !changes.runs.is_empty() || left.is_zero() {
                return Ok(changes);
            }
            cursor = changes.cursor;
            // A process may have ended between its commit and the notification.
            let pause = left.min(self.options.poll);
            self.listener().wait_for_commit(seen, pause, pause).await;
        }
    }
}

/// The result of a function of the schema.
struct Answer<'a> {
    outcome: &'a str,
    number: u64,
    detail: Option<&'a str>,
    /// The time of the server, if the function returns it.
    now: i64,
}

impl<'a> Answer<'a> {
    fn of(rows: &'a [Row]) -> Result<Self, StoreError> {
        let row = rows.first().ok_or_else(|| damaged("a function answers nothing"))?;
        let read = || {
            Ok::<_, tokio_postgres::Error>(Answer {
                outcome: row.try_get(0)?,
                number: nat(row.try_get::<_, Option<i64>>(1)?.unwrap_or(0)),
                detail: if row.len() > 2 { row.try_get(2)? } else { None },
                now: if row.len() > 3 { row.try_get(3)? } else { 0 },
            })
        };
        read().map_err(of_client)
    }

    /// Returns the error of a refused operation.
    fn refusal(&self, run: &str, fence: u64, got: u64) -> StoreError {
        let (run, current) = (run.to_owned(), self.number);
        match self.outcome {
            "no run" => StoreError::NoRun { run },
            "fenced" => StoreError::Fenced { run, fence, current },
            "version" => StoreError::Version { run, got, expected: current },
            "continued" => {
                StoreError::Continued { run, by: untext(self.detail.unwrap_or_default().to_owned()) }
            }
            "held" => {
                let holder = untext(self.detail.unwrap_or_default().to_owned());
                StoreError::Held { run, holder, left: left_until(self.now, int(current)) }
            }
            other => damaged(format_args!("a function answers {other:?}")),
        }
    }
}

fn no_run(run: &str) -> StoreError {
    StoreError::NoRun { run: run.to_owned() }
}

fn limit_of(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
