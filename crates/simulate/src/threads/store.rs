//! The store of a process that dies at some of its writes.

use std::sync::Arc;

use runstate::run::RunStatus;
use runstate_agent::async_trait;
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Commit, Lease, LeaseAfter, MemoryStore, NewRun, RunData, RunLists,
    RunStore, StoreError, Superseded, UserMessage, Wrapper,
};

use super::case::Death;
use super::play::{What, World};

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// It drives runs: its death is that of all its runs.
    Worker,
    /// It sends a message: its owner starts it again.
    Sender(usize),
}

/// Forwards to the store, and records.
#[derive(Debug)]
pub(super) struct Mortal {
    pub(super) inner: Arc<MemoryStore>,
    pub(super) world: Arc<World>,
    pub(super) process: Process,
}

/// The outcome of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Made,
    Lost,
    MadeAndDied,
}

impl Mortal {
    fn fate(&self) -> Fate {
        let write = self.world.next_write();
        let deaths = &self.world.talk.deaths;
        if deaths.contains(&Death::Before(write)) {
            Fate::Lost
        } else if deaths.contains(&Death::After(write)) {
            Fate::MadeAndDied
        } else {
            Fate::Made
        }
    }

    /// The process dies: a worker does nothing more, and a sender gets no reply.
    async fn die<T>(&self) -> Result<T, StoreError> {
        self.world.note(What::Died { process: self.process });
        if let Process::Worker = self.process {
            self.world.death.notify_one();
            std::future::pending::<()>().await;
        }
        Err(StoreError::unavailable("the process died"))
    }

    /// The open questions of a run.
    async fn open(&self, run: &str) -> Result<Vec<String>, StoreError> {
        let all = self.inner.approvals(&ApprovalQuery::new(ApprovalFilter::All, 1_000)).await?;
        Ok(all.into_iter().filter(|approval| approval.run == run).map(|approval| approval.call).collect())
    }
}

#[async_trait]
impl Wrapper for Mortal {
    fn inner(&self) -> &dyn RunStore {
        &*self.inner
    }

    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        let fate = self.fate();
        if fate == Fate::Lost {
            return self.die().await;
        }
        self.inner.create(run).await?;
        let Process::Sender(post) = self.process else { return Ok(()) };
        let (thread, after) = match &run.thread {
            Some(place) => (place.thread.clone(), place.after.clone()),
            None => (run.id.clone(), None),
        };
        self.world.note(What::Began { post, run: run.id.clone(), thread, after });
        if fate == Fate::MadeAndDied { self.die().await } else { Ok(()) }
    }

    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        let fate = self.fate();
        if fate == Fate::Lost {
            return self.die().await;
        }
        after.commit(&*self.inner, lease, commit).await?;
        let (run, status, takes) = (lease.run.clone(), commit.run.status, commit.takes.clone());
        self.world.note(What::Committed { run, status, takes });
        if fate == Fate::MadeAndDied { self.die().await } else { Ok(()) }
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        let fate = self.fate();
        if fate == Fate::Lost {
            return self.die().await;
        }
        let open = self.open(run).await?;
        let status = self.inner.parts(run).await.map_or(RunStatus::Done, |parts| parts.info.status);
        let made = self.inner.supersede(run, message).await?;
        if let (Superseded::Accepted, Process::Sender(post)) = (made, self.process) {
            self.world.note(What::Superseded { post, run: run.to_owned(), open, status });
        }
        if fate == Fate::MadeAndDied { self.die().await } else { Ok(made) }
    }
}
