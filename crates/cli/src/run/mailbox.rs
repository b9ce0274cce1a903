//! Inputs of other processes for a run that is driven here.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use runstate::decision::Decision;
use runstate_agent::Incoming;
use runstate_scenario::Line;
use runstate_store::{RunStore, StoreError};
use tokio::sync::{Mutex, watch};

use super::progress::Progress;

/// Delivers decisions from the store to the run, each once, and its cancellation.
pub(super) struct Mailbox {
    store: Arc<dyn RunStore>,
    run: String,
    line: Line,
    progress: Arc<Progress>,
    /// The delivered inputs. One poll at a time: a caller that sees a delivery may rely on it.
    brought: Mutex<Brought>,
    /// The number of deliveries so far.
    count: watch::Sender<usize>,
}

/// The delivered inputs.
#[derive(Debug, Default)]
struct Brought {
    /// The ids of decisions.
    decisions: HashSet<String>,
    /// The cancellation.
    has_cancel: bool,
    /// A message that the run continues with.
    has_message: bool,
}

impl Brought {
    fn count(&self) -> usize {
        self.decisions.len() + usize::from(self.has_cancel) + usize::from(self.has_message)
    }
}

/// The result of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Whether there is an input that the run has not taken.
    pub(super) is_untaken: bool,
    /// The number of deliveries so far.
    pub(super) brought: usize,
    /// Whether the run continues with a message.
    pub(super) has_message: bool,
}

impl Mailbox {
    pub(super) fn new(store: Arc<dyn RunStore>, run: &str, line: Line, progress: Arc<Progress>) -> Self {
        let (brought, count) = (Mutex::default(), watch::Sender::new(0));
        Mailbox { store, run: run.to_owned(), line, progress, brought, count }
    }

    /// Delivers new inputs, and returns the current ones.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn look(&self) -> Result<Found, StoreError> {
        let mut brought = self.brought.lock().await;
        let mail = self.store.pending_signals(&self.run).await?;
        let is_untaken = mail.cancel.is_some() || !mail.decisions.is_empty();
        let is_new = |decision: &Decision| !brought.decisions.contains(&decision.decision_id);
        let decisions = mail.decisions.into_iter().filter(is_new).map(Incoming::from);
        let decisions: Vec<Incoming> = decisions.collect();
        if let Some(reason) = mail.cancel
            && !brought.has_cancel
        {
            self.progress.says("cancel", &reason);
            self.line.cancel();
            brought.has_cancel = true;
        }
        if !decisions.is_empty() {
            decisions.iter().for_each(|decision| self.progress.decided(decision, ""));
            brought.decisions.extend(decisions.iter().map(|decision| decision.decision_id.clone()));
            self.line.post(decisions);
        }
        let has_message = mail.message.is_some();
        brought.has_message |= has_message;
        let brought = brought.count();
        self.count.send_replace(brought);
        Ok(Found { is_untaken, brought, has_message })
    }

    /// Waits for a further delivery.
    pub(super) async fn brings_more(&self, than: Found) {
        // The sender lives as long as this value.
        drop(self.count.subscribe().wait_for(|count| *count > than.brought).await);
    }

    /// Delivers inputs while the run is driven.
    pub(super) async fn keep_looking(self: Arc<Self>) {
        let mut seen = 0;
        loop {
            // A failed read is repeated at the next poll; the lease limits the total time.
            self.look().await.ok();
            match self.store.changed_since(seen, PATIENCE).await {
                Ok(mark) => seen = mark,
                Err(_) => tokio::time::sleep(PATIENCE).await,
            }
        }
    }
}

/// Returns whether there is an input that the run may take in another turn. If the last turn committed no
/// change, the run would not take the inputs that it already had.
pub(super) fn goes_on(before: &mut Found, found: Found, has_changed: bool) -> bool {
    let is_new = std::mem::replace(before, found).brought != found.brought;
    found.is_untaken && (is_new || has_changed)
}

/// The poll interval for a store without notifications.
const PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use runstate::decision::DecisionAction;
    use runstate::termination::TerminationReason;
    use runstate::trace::Recorder;
    use runstate_agent::RunState;
    use runstate_runtime::clock::unix_clock;
    use runstate_scenario::{Scenario, Setting, Stage, Stop};
    use runstate_store::{
        ApprovalFilter, ApprovalQuery, Claim, MemoryStore, NewRun, PendingSignals, StoreCommitter, Wrapper,
    };

    use super::*;

    const ASKS: &str = "\
name: asks
message: go
approve: [act]
tools:
  act: {does: [{gives: {success: acted}}]}
model:
  - calls: [{id: a, tool: act}]
  - text: done
";

    /// The poll beside a run may be faster than the poll at its rest.
    #[tokio::test]
    async fn mailbox_reports_delivered_signals_until_the_run_takes_them() {
        let store: Arc<dyn RunStore> = Arc::new(MemoryStore::default());
        store.create(&NewRun::new("r", serde_json::Value::Null, 0)).await.unwrap();
        let lease = store.claim(&Claim::of("r", "me", Duration::MAX)).await.unwrap().unwrap();
        let loaded = store.load("r").await.unwrap();
        let (scenario, recorder) = (Scenario::parse(ASKS).unwrap(), Recorder::new("r"));
        let clock = Arc::new(unix_clock());
        let mut committer = StoreCommitter::new(store.clone(), lease, &loaded, recorder.clone(), clock);
        let mut state = RunState::watched("r", &recorder);
        let mut stage = Stage::new(&scenario, Setting::new(unix_clock())).unwrap();
        let progress = Arc::new(Progress::on_stderr());
        let mailbox = Mailbox::new(Arc::clone(&store), "r", stage.line(), progress);
        let mut before = mailbox.look().await.unwrap();
        assert_eq!(before, Found { is_untaken: false, brought: 0, has_message: false });

        let stop = stage.drive(&mut state, Some(&mut committer), &recorder).await.unwrap();
        assert_eq!(stop, Stop::Waiting);
        let open = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 9)).await.unwrap();
        let mut decision = Decision::new("d1", &*open[0].suspension.id, DecisionAction::Resume);
        (decision.run_id, decision.call) = ("r".to_owned(), "a".to_owned());
        store.post(&decision).await.unwrap();
        mailbox.look().await.unwrap();
        let found = mailbox.look().await.unwrap();
        assert_eq!(found, Found { is_untaken: true, brought: 1, has_message: false });
        assert!(goes_on(&mut before, found, false), "it was brought during that turn");
        assert!(!goes_on(&mut before, found, false), "a turn with it changed nothing");
        assert!(goes_on(&mut before, found, true), "now it may take it");

        let reason = TerminationReason::NaturalEnd;
        let stop = stage.drive(&mut state, Some(&mut committer), &recorder).await.unwrap();
        assert_eq!(stop, Stop::Over { reason, problems: Vec::new() });
        let found = mailbox.look().await.unwrap();
        assert_eq!(found, Found { is_untaken: false, brought: 1, has_message: false });
        assert!(!goes_on(&mut before, found, true));
    }

    /// Another program may use any ids for decisions.
    #[tokio::test]
    async fn a_decision_without_an_id_hides_no_wish_to_cancel() {
        let store: Arc<dyn RunStore> = Arc::new(MemoryStore::default());
        store.create(&NewRun::new("r", serde_json::Value::Null, 0)).await.unwrap();
        let scenario = Scenario::parse(ASKS).unwrap();
        let stage = Stage::new(&scenario, Setting::new(unix_clock())).unwrap();
        let progress = Arc::new(Progress::on_stderr());
        let mailbox = Mailbox::new(Arc::new(Posted(store)), "r", stage.line(), progress);
        assert_eq!(mailbox.look().await.unwrap(), Found { is_untaken: true, brought: 1, has_message: false });
        mailbox.store.cancel("r", "enough").await.unwrap();
        assert_eq!(mailbox.look().await.unwrap(), Found { is_untaken: true, brought: 2, has_message: false });
        assert!(stage.token().is_cancelled());
    }

    /// A store with a decision with an empty id.
    #[derive(Debug)]
    struct Posted(Arc<dyn RunStore>);

    #[async_trait]
    impl Wrapper for Posted {
        fn inner(&self) -> &dyn RunStore {
            &*self.0
        }

        async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
            let mut mail = self.0.pending_signals(run).await?;
            mail.decisions.push(Decision::new("", "r/a/1", DecisionAction::Resume));
            Ok(mail)
        }
    }

    #[tokio::test]
    async fn mailbox_reports_a_cancellation_on_every_look() {
        let store: Arc<dyn RunStore> = Arc::new(MemoryStore::default());
        store.create(&NewRun::new("r", serde_json::Value::Null, 0)).await.unwrap();
        let scenario = Scenario::parse(ASKS).unwrap();
        let stage = Stage::new(&scenario, Setting::new(unix_clock())).unwrap();
        let progress = Arc::new(Progress::on_stderr());
        let mailbox = Mailbox::new(Arc::clone(&store), "r", stage.line(), progress);
        store.cancel("r", "enough").await.unwrap();
        for _ in 0..2 {
            assert_eq!(
                mailbox.look().await.unwrap(),
                Found { is_untaken: true, brought: 1, has_message: false }
            );
        }
        assert!(stage.token().is_cancelled());
    }
}
