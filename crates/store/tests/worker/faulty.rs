//! A store that fails when it is told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use runstate::decision::Decision;
use runstate_agent::async_trait;
use runstate_store::{
    Claim, Commit, Lease, LeaseAfter, Loaded, MemoryStore, PendingSignals, Posted, Release, RunData,
    RunLists, RunQueue, RunStore, StoreError, Timer, Wrapper,
};

use super::world::Sleeper;

/// What becomes of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    Fair,
    /// Nothing gets through.
    Unreachable,
    /// Commits are made, and nobody hears of it.
    Mute,
    /// The disk is full.
    Full,
    /// Each commit is too large.
    Small,
}

#[derive(Debug)]
pub struct Faulty {
    inner: MemoryStore,
    weather: Mutex<Weather>,
    /// Renewals are held up.
    pub paused: Mutex<bool>,
    /// Renewals are not answered.
    pub silent: Mutex<bool>,
    /// So long a renewal takes to be answered.
    pub renew: Mutex<Duration>,
    /// So long it takes to give that run back.
    pub release: Mutex<Option<(&'static str, Duration)>>,
    /// So long it takes to load a run.
    pub load: Mutex<Duration>,
    /// A decision that comes right behind a claim that finds nothing.
    pub behind_claim: Mutex<Option<Decision>>,
    /// Decisions that come right before the next looks at the mail.
    pub before_mail: Mutex<VecDeque<Option<Decision>>>,
    /// So long each decision takes, one after the other.
    pub post: Mutex<Duration>,
    /// So long a claim takes.
    pub claim: Mutex<Duration>,
    /// So many claims find the store busy.
    pub busy: Mutex<usize>,
    /// Claims fail.
    pub broken: Mutex<bool>,
    /// Runs that somebody removes when suspensions that lapse were looked for.
    pub removed: Mutex<Vec<String>>,
    turn: tokio::sync::Mutex<()>,
    /// The clock of the store inside.
    pub machine: Sleeper,
}

impl Faulty {
    pub fn new() -> Arc<Self> {
        let machine = Sleeper::new();
        Arc::new(Faulty {
            inner: MemoryStore::with_clock(machine.clone()),
            machine,
            weather: Mutex::new(Weather::Fair),
            paused: Mutex::new(false),
            silent: Mutex::default(),
            renew: Mutex::default(),
            release: Mutex::default(),
            load: Mutex::default(),
            behind_claim: Mutex::default(),
            before_mail: Mutex::default(),
            post: Mutex::default(),
            claim: Mutex::default(),
            busy: Mutex::default(),
            broken: Mutex::default(),
            removed: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        })
    }

    pub fn weather(&self, weather: Weather) {
        *self.weather.lock().unwrap() = weather;
    }

    fn now(&self) -> Weather {
        *self.weather.lock().unwrap()
    }

    async fn comes(&self, decision: Option<Decision>) {
        if let Some(decision) = decision {
            assert_eq!(self.inner.post(&decision).await.unwrap(), Posted::Accepted);
        }
    }

    fn reached(&self) -> Result<(), StoreError> {
        match self.now() {
            Weather::Unreachable => Err(StoreError::unavailable("no route")),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Wrapper for Faulty {
    fn inner(&self) -> &dyn RunStore {
        &self.inner
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        self.reached()?;
        let takes = *self.load.lock().unwrap();
        tokio::time::sleep(takes).await;
        self.inner.load(run).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        self.reached()?;
        let takes = *self.claim.lock().unwrap();
        tokio::time::sleep(takes).await;
        if *self.broken.lock().unwrap() {
            return Err(StoreError::failed("a broken index"));
        }
        {
            let mut busy = self.busy.lock().unwrap();
            if *busy > 0 {
                *busy -= 1;
                return Err(StoreError::unavailable("busy"));
            }
        }
        let claimed = self.inner.claim(claim).await?;
        if claimed.is_none() {
            let comes = self.behind_claim.lock().unwrap().take();
            self.comes(comes).await;
        }
        Ok(claimed)
    }

    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError> {
        if *self.paused.lock().unwrap() {
            return Ok(());
        }
        if *self.silent.lock().unwrap() {
            std::future::pending::<()>().await;
        }
        self.reached()?;
        let renewed = self.inner.renew(lease, term).await;
        let takes = *self.renew.lock().unwrap();
        tokio::time::sleep(takes).await;
        renewed
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        self.reached()?;
        let slow = *self.release.lock().unwrap();
        if let Some((run, takes)) = slow
            && run == lease.run
        {
            tokio::time::sleep(takes).await;
        }
        self.inner.release(lease, release).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        self.reached()?;
        if self.now() == Weather::Full {
            return Err(StoreError::failed("no space left"));
        }
        if self.now() == Weather::Small {
            return Err(StoreError::TooLarge {
                what: "it would have 9 bytes of 8".into(),
                help: "cancel it".into(),
            });
        }
        after.commit(&self.inner, lease, commit).await?;
        match self.now() {
            Weather::Mute => Err(StoreError::unavailable("the line was cut")),
            _ => Ok(()),
        }
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let takes = *self.post.lock().unwrap();
        if !takes.is_zero() {
            let _turn = self.turn.lock().await;
            tokio::time::sleep(takes).await;
        }
        self.inner.post(decision).await
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        self.reached()?;
        let comes = self.before_mail.lock().unwrap().pop_front().flatten();
        self.comes(comes).await;
        self.inner.pending_signals(run).await
    }

    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        self.reached()?;
        let due = self.inner.due(limit).await;
        let removed = std::mem::take(&mut *self.removed.lock().unwrap());
        for run in removed {
            self.inner.remove(&run).await?;
        }
        due
    }
}
