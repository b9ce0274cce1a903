//! Benches of stores that implement only some parts of [`RunStore`](runstate_store::RunStore).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use runstate::decision::{Decision, Suspension};
use runstate::tool_call::AnyToolCall;
use runstate_runtime::clock::SetClock;
use runstate_store::{
    Approval, ApprovalFilter, ApprovalQuery, Claim, Commit, CorruptEntry, EventRow, Lease, NewRun, Parts,
    PendingSignals, Posted, Release, RunData, RunInfo, RunLists, RunQuery, RunQueue, RunStore, StoreError,
    Superseded, Timer, TraceRow, UserMessage,
};

use super::Bench;

/// A part of a store. Each part needs the previous ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// [`RunData`].
    Data,
    /// [`RunLists`].
    Lists,
    /// [`RunQueue`].
    Queue,
}

/// A place with a store without a queue. The place is empty at first.
///
/// [`WithoutQueue`] makes a [`Bench`] of it. The caller manages the leases of such a store. If a behaviour of
/// [`Part::Data`] compares lists, the bench derives them from the rows of the runs that were created on it.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use async_trait::async_trait;
/// use runstate_runtime::clock::SetClock;
/// use runstate_store::{Claim, Lease, MemoryStore, RunData, RunQueue, StoreError};
/// use runstate_store_conformance::{Part, PartBench, WithoutQueue, check_part};
///
/// /// A real one has a type of its own that implements `RunData`.
/// struct Rows(Arc<MemoryStore>, SetClock);
///
/// #[async_trait]
/// impl PartBench for Rows {
///     async fn data(&self) -> Arc<dyn RunData> {
///         Arc::clone(&self.0) as Arc<dyn RunData>
///     }
///
///     async fn lease(&self, run: &str) -> Result<Lease, StoreError> {
///         // Ends the previous lease.
///         if let Some(holder) = self.0.load(run).await?.info.holder {
///             self.0.renew(&Lease::new(run, holder.fence), Duration::ZERO).await?;
///         }
///         let lease = self.0.claim(&Claim::of(run, "an engine", Duration::MAX)).await?;
///         lease.ok_or_else(|| StoreError::failed("no lease"))
///     }
///
///     fn clock(&self) -> &SetClock {
///         &self.1
///     }
/// }
///
/// let bench = || async {
///     let clock = SetClock::default();
///     WithoutQueue::new(Rows(Arc::new(MemoryStore::with_clock(clock.clone())), clock))
/// };
/// # let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
/// # runtime.block_on(async {
/// assert_eq!(check_part(Part::Data, bench).await, []);
///
/// // The bench has no lists: behaviours of that part fail.
/// let (name, message) = &check_part(Part::Lists, bench).await[0];
/// assert_eq!(name, "a_thread_is_removed_from_its_end");
/// assert!(message.contains("the store of this bench has no lists"));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[async_trait]
pub trait PartBench: Send + Sync + 'static {
    /// Returns another handle on the rows.
    async fn data(&self) -> Arc<dyn RunData>;

    /// Returns another handle on the lists. None for a store without lists.
    async fn lists(&self) -> Option<Arc<dyn RunLists>> {
        None
    }

    /// Returns a new lease on the run. Its fencing token is above those of all previous leases, which end.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn lease(&self, run: &str) -> Result<Lease, StoreError>;

    /// Ends the lease. The default does nothing: the next lease ends it. A store with lists refuses to remove a
    /// leased run.
    ///
    /// # Errors
    /// The errors of the store.
    async fn give_back(&self, _lease: &Lease) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the clock of all handles.
    fn clock(&self) -> &SetClock;
}

/// The bench of a store without a queue.
#[derive(Debug)]
pub struct WithoutQueue<P> {
    parts: Arc<P>,
    created: Arc<Mutex<BTreeSet<String>>>,
}

impl<P: PartBench> WithoutQueue<P> {
    /// Creates a bench with these parts.
    pub fn new(parts: P) -> Self {
        WithoutQueue { parts: Arc::new(parts), created: Arc::default() }
    }
}

#[async_trait]
impl<P: PartBench> Bench for WithoutQueue<P> {
    async fn store(&self) -> Arc<dyn RunStore> {
        Arc::new(Parted {
            data: self.parts.data().await,
            lists: self.parts.lists().await,
            bench: Arc::clone(&self.parts) as Arc<dyn PartBench>,
            created: Arc::clone(&self.created),
        })
    }

    fn clock(&self) -> &SetClock {
        self.parts.clock()
    }
}

/// The parts of a store, and leases of the bench.
struct Parted {
    data: Arc<dyn RunData>,
    lists: Option<Arc<dyn RunLists>>,
    bench: Arc<dyn PartBench>,
    /// The ids of the runs of the bench.
    created: Arc<Mutex<BTreeSet<String>>>,
}

impl Parted {
    fn lists(&self) -> Result<&dyn RunLists, StoreError> {
        self.lists.as_deref().ok_or_else(|| StoreError::failed("the store of this bench has no lists"))
    }

    fn created(&self) -> Vec<String> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Returns the calls of a run that wait for a decision, from its rows.
    async fn questions(&self, run: &str) -> Result<Vec<Approval>, StoreError> {
        let PendingSignals { decisions, message, .. } = self.data.pending_signals(run).await?;
        let stored = self.data.load(run).await?.stored.filter(|_| message.is_none());
        let Some(stored) = stored else { return Ok(Vec::new()) };
        let state = stored.restore().map_err(StoreError::failed)?;
        let asked = state.calls().filter_map(|(name, call)| match call {
            AnyToolCall::Suspended(call) => Some((name, call)),
            _ => None,
        });
        let is_open = |suspension: &Suspension| {
            decisions.iter().all(|decision| decision.suspension_id != suspension.id)
        };
        let open = asked.filter(|(_, call)| is_open(call.suspension()));
        let mut open: Vec<_> = open
            .map(|(name, call)| {
                let (tool, arguments) = (call.record().tool(), call.asked_arguments().clone());
                let (run, name) = (run.to_owned(), name.to_owned());
                Approval::new(run, name, tool.to_owned(), arguments, call.suspension().clone())
            })
            .collect();
        open.sort_by(|one, other| one.call.cmp(&other.call));
        Ok(open)
    }
}

impl fmt::Debug for Parted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parted").field("data", &self.data).field("lists", &self.lists).finish_non_exhaustive()
    }
}

#[async_trait]
impl RunData for Parted {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        self.data.create(run).await?;
        self.created.lock().unwrap_or_else(PoisonError::into_inner).insert(run.id.clone());
        Ok(())
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        self.data.is_given(run).await
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        self.data.parts(run).await
    }

    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError> {
        self.data.last_of_thread(thread).await
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        self.data.supersede(run, message).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.data.commit(lease, commit).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        self.data.post(decision).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        self.data.cancel(run, reason).await
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        self.data.pending_signals(run).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.data.trace(run, after, limit).await
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.data.events(run, after, limit).await
    }
}

#[async_trait]
impl RunLists for Parted {
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        if *query != RunQuery::all(query.limit) || self.lists.is_some() {
            return self.lists()?.runs(query).await;
        }
        let mut runs = Vec::new();
        for run in self.created() {
            runs.push(self.data.load(&run).await?.info);
        }
        Ok(runs)
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let runs = match &query.about {
            ApprovalFilter::All if self.lists.is_none() && query.after.is_none() => self.created(),
            ApprovalFilter::Run(run) if self.lists.is_none() => vec![run.clone()],
            _ => return self.lists()?.approvals(query).await,
        };
        let mut open = Vec::new();
        for run in runs {
            open.extend(self.questions(&run).await?);
        }
        Ok(open)
    }

    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        self.lists()?.due(limit).await
    }

    async fn corrupt_entries(&self) -> Result<Vec<CorruptEntry>, StoreError> {
        self.lists()?.corrupt_entries().await
    }

    async fn remove(&self, run: &str) -> Result<bool, StoreError> {
        self.lists()?.remove(run).await
    }
}

#[async_trait]
impl RunQueue for Parted {
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        match &claim.run {
            Some(run) => self.bench.lease(run).await.map(Some),
            None => Err(StoreError::failed("the store of this bench has no queue")),
        }
    }

    async fn renew(&self, _: &Lease, _: Duration) -> Result<(), StoreError> {
        Err(StoreError::failed("the store of this bench has no queue"))
    }

    async fn release(&self, lease: &Lease, _: &Release) -> Result<(), StoreError> {
        self.bench.give_back(lease).await
    }
}
