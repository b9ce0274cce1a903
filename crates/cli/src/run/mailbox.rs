//! What other processes send to a run that is driven here.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use runstate::agent::Incoming;
use runstate::store::{RunStore, StoreError};
use runstate_scenario::Line;

use super::progress::Progress;

/// Brings decisions from the store to the run, each once, and the wish to cancel it.
pub(super) struct Mailbox {
    store: Arc<dyn RunStore>,
    run: String,
    line: Line,
    progress: Arc<Progress>,
    /// The decisions that were brought. It is locked for a look-up, never over an await.
    brought: Mutex<HashSet<String>>,
}

impl Mailbox {
    pub(super) fn new(store: Arc<dyn RunStore>, run: &str, line: Line, progress: Arc<Progress>) -> Self {
        Mailbox { store, run: run.to_owned(), line, progress, brought: Mutex::default() }
    }

    /// Brings what is new. Says whether anything was.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) async fn look(&self) -> Result<bool, StoreError> {
        let mail = self.store.mail(&self.run).await?;
        let is_new =
            |name: &str| self.brought.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        let decisions = mail.decisions.into_iter().filter(|decision| is_new(&decision.decision_id));
        let decisions: Vec<Incoming> = decisions.map(Incoming::from).collect();
        decisions.iter().for_each(|decision| self.progress.decided(decision, ""));
        let is_cancelled = mail.cancel.is_some_and(|reason| {
            // No decision has an empty id.
            let is_new = is_new("");
            if is_new {
                self.progress.says("cancel", &reason);
                self.line.cancel();
            }
            is_new
        });
        let has_news = is_cancelled || !decisions.is_empty();
        if !decisions.is_empty() {
            self.line.post(decisions);
        }
        Ok(has_news)
    }

    /// Brings what comes, for as long as the run is driven.
    pub(super) async fn keep_looking(self: Arc<Self>) {
        loop {
            // What could not be read now is read the next time; the lease says when it has lasted too long.
            self.look().await.ok();
            if self.store.news(PATIENCE).await.is_err() {
                tokio::time::sleep(PATIENCE).await;
            }
        }
    }
}

/// How long a look may wait where the store tells no news.
const PATIENCE: Duration = Duration::from_secs(1);
