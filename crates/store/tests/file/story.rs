//! A run that is created, driven, parked, decided and driven to its end: what is done with a store, step by step, so that
//! it can be cut off anywhere and gone on with.

use runstate::decision::{Decision, DecisionAction};
use runstate::turn::{CallRequest, Turn};
use runstate_agent::StoredRun;
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Commit, FileStore, Lease, NewRun, Posted, Release, RunData, RunLists,
    RunQueue, StoreError, TraceRow,
};
use runstate_store_conformance::Played;
use serde_json::{Value, json};

use super::super::times::{of, span};

const NOW: u64 = 1_000_000;

fn one(id: &str, tool: &str, arguments: Value) -> Turn {
    Turn {
        text: "let me see".to_owned(),
        calls: vec![CallRequest::new(id, tool, arguments)],
        ..Turn::default()
    }
}

/// The run, whole, as it is without a store.
pub(super) struct Story {
    pub(super) commits: Vec<Commit>,
    pub(super) stored: Vec<StoredRun>,
    pub(super) trace: Vec<TraceRow>,
    /// The commits up to which it waits.
    parked: usize,
}

/// What a store has acknowledged.
#[derive(Debug, Default, Clone)]
pub(super) struct Known {
    pub(super) is_created: bool,
    pub(super) fence: u64,
    pub(super) version: u64,
    pub(super) decision: Option<Decision>,
    pub(super) cancel: bool,
    pub(super) is_removed: bool,
}

impl Story {
    pub(super) async fn new() -> Self {
        let script =
            [one("n", "note", json!({ "run": 1, "thread": "t" })), one("c0", "ask", json!({ "path": "a" }))];
        Story::of(&script).await
    }

    /// One whose rows are so long that some go into the logs while it is driven, and others when it comes to rest.
    pub(super) async fn long() -> Self {
        let mut note = one("n", "note", json!({ "run": 1, "thread": "t" }));
        note.text = "let me see ".repeat(900);
        let script = [note.clone(), note, one("c0", "ask", json!({ "path": "a" }))];
        Story::of(&script).await
    }

    async fn of(script: &[Turn]) -> Self {
        let mut played = Played::new("r1", script).await;
        let parked = played.commits().len();
        let pending = played.state().pending()[0].suspension.id.clone();
        let mut decision = Decision::new("d0", pending, DecisionAction::Resume);
        (decision.run_id, decision.call) = ("r1".to_owned(), "c0".to_owned());
        decision.result = json!("yes");
        played.resume(&[decision]).await;
        let stored = played.stored().collect();
        Story { commits: played.commits().cloned().collect(), stored, trace: played.trace(), parked }
    }

    /// Does all that is not known to be done. `again` after each way in which it was cut off, as the store's docs say.
    pub(super) async fn live(
        &self,
        store: &FileStore,
        known: &mut Known,
        again: bool,
    ) -> Result<(), StoreError> {
        if !known.is_created {
            match store.create(&NewRun::new("r1", json!({ "model": "m" }), 5).titled("tidy up")).await {
                Err(StoreError::Taken { .. }) if again => {}
                created => created?,
            }
            known.is_created = true;
        }
        let mut lease = self.claim(store, known).await?;
        self.commit(store, known, &lease, self.parked, again).await?;
        if known.decision.is_none() {
            store.release(&lease, &Release::clean()).await?;
            let query = ApprovalQuery::new(ApprovalFilter::Run("r1".to_owned()), 10);
            let waits = store.approvals(&query).await?;
            let taken = self.commits.iter().flat_map(|commit| &commit.decisions).next().unwrap();
            assert!(waits.len() == 1 || again, "{waits:?}");
            match store.post(taken).await? {
                Posted::Accepted => {}
                Posted::Duplicate if again => {}
                other => panic!("{other:?}"),
            }
            known.decision = Some(taken.clone());
            lease = self.claim(store, known).await?;
        }
        if !known.cancel && known.version < self.commits.len() as u64 {
            store.cancel("r1", "not needed").await?;
            known.cancel = true;
        }
        store.renew(&lease, span(NOW + 7)).await?;
        self.commit(store, known, &lease, self.commits.len(), again).await?;
        store.release(&lease, &Release::retry_after(span(NOW + 19), "over")).await
    }

    async fn claim(&self, store: &FileStore, known: &mut Known) -> Result<Lease, StoreError> {
        let lease = store.claim(&of("r1", "me", NOW + 10, NOW + 10)).await?.unwrap();
        assert!(lease.fence > known.fence, "{lease:?} behind {known:?}");
        known.fence = lease.fence;
        Ok(lease)
    }

    async fn commit(
        &self,
        store: &FileStore,
        known: &mut Known,
        lease: &Lease,
        up_to: usize,
        again: bool,
    ) -> Result<(), StoreError> {
        // Whoever takes a run over reads what is there.
        let there = store.load("r1").await?.info.version;
        assert!(there == known.version || again && there == known.version + 1, "{there} where {known:?}");
        known.version = there;
        for commit in self.commits.iter().take(up_to).skip(usize::try_from(there).unwrap()) {
            store.commit(lease, commit).await?;
            known.version += 1;
        }
        Ok(())
    }

    /// All that was acknowledged is there, and all that is there fits together.
    pub(super) async fn judge(&self, store: &FileStore, known: &Known) {
        let loaded = match store.load("r1").await {
            Err(StoreError::NoRun { .. }) if !known.is_created || known.is_removed => return,
            loaded => loaded.unwrap(),
        };
        assert_eq!((&loaded.spec["model"], &*loaded.info.title), (&json!("m"), "tidy up"));
        let version = loaded.info.version;
        assert!(version == known.version || version == known.version + 1, "{version} where {known:?}");
        let made = usize::try_from(version).unwrap();
        assert_eq!(loaded.stored.as_ref(), made.checked_sub(1).map(|last| &self.stored[last]), "{known:?}");
        if let Some(stored) = &loaded.stored {
            stored.restore().unwrap();
        }
        let trace: Vec<_> = self.commits[..made].iter().flat_map(|commit| commit.trace.clone()).collect();
        assert_eq!(store.trace("r1", 0, 10_000).await.unwrap(), trace);
        assert_eq!(loaded.traced, trace.last().map_or(0, |row| row.seq));
        let mail = store.pending_signals("r1").await.unwrap();
        let taken = loaded.stored.iter().flat_map(|stored| stored.decisions().values());
        let decisions: Vec<_> = taken.chain(&mail.decisions).collect();
        if let Some(decision) = &known.decision {
            assert_eq!(decisions, [decision], "an accepted decision is there, once: taken or to be taken");
        }
        assert!(decisions.len() <= 1, "{decisions:?}");
        let is_over = made == self.commits.len();
        assert!(!known.cancel || is_over || mail.cancel.as_deref() == Some("not needed"), "{known:?}");
        let info = store.runs(&runstate_store::RunQuery::all(10)).await.unwrap();
        assert_eq!(info, [loaded.info], "lists say the same");
    }
}
