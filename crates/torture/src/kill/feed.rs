//! The load: new runs, and messages for their threads.

use std::collections::HashMap;
use std::time::Duration;

use fastrand::Rng;
use runstate::run::RunStatus;
use runstate_runtime::clock::Clock;
use runstate_store::{NewRun, RunInfo, RunQuery, Sent, StoreError, UserMessage, send};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Parent, failed};
use crate::judge::Violation;
use crate::ledger::Entry;
use crate::script::Script;

/// The maximum of unfinished runs.
const OPEN: usize = 14;

/// Makes runs, and cancels some, until enough exist.
pub(super) async fn feed(parent: Parent, enough: CancellationToken, mut rng: Rng) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut made = 0_u32;
    let mut threads = Threads::default();
    while !enough.is_cancelled() && violations.len() < 10 {
        if let Err(error) = round(&parent, &mut made, &mut threads, &mut rng).await
            && !matches!(error, StoreError::Unavailable(_))
        {
            violations.push(failed("requests", error));
        }
        tokio::select! {
            () = enough.cancelled() => {}
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
    }
    violations
}

async fn round(
    parent: &Parent,
    made: &mut u32,
    threads: &mut Threads,
    rng: &mut Rng,
) -> Result<(), StoreError> {
    let mut open = Vec::new();
    for status in [RunStatus::Running, RunStatus::Waiting] {
        open.extend(parent.store.runs(&RunQuery::status(status, OPEN)).await?);
    }
    for _ in open.len()..OPEN {
        *made += 1;
        let run = format!("r{made}");
        let script = Script::draw(rng);
        let new = NewRun::new(&*run, json!(script), parent.clock.now_ms());
        match parent.store.create(&new).await {
            // The reply to the first try was lost.
            Ok(()) | Err(StoreError::Taken { .. }) => {}
            Err(error) => {
                *made -= 1;
                return Err(error);
            }
        }
        parent.ledger.note(&Entry::Created { run }).map_err(StoreError::failed)?;
    }
    threads.round(parent, &open, rng).await?;
    if let Some(run) = open.first()
        && rng.u8(..40) == 0
        && parent.store.cancel(&run.id, "not wanted any more").await?
    {
        // The cancellation is stored, whether the run can be read now or not.
        let version = parent.store.load(&run.id).await.map_or(u64::MAX, |loaded| loaded.info.version);
        let wish = Entry::Cancelled { run: run.id.clone(), version };
        parent.ledger.note(&wish).map_err(StoreError::failed)?;
    }
    Ok(())
}

/// Messages for threads.
#[derive(Default)]
struct Threads {
    /// The thread of each run that is not the first one of its thread.
    of: HashMap<String, String>,
    sent: u32,
    /// A message without a reply: it is sent again.
    unsure: Option<Tried>,
}

/// A message for the last run of a thread.
#[derive(Clone)]
struct Tried {
    message: String,
    thread: String,
    /// The run that it would begin.
    run: String,
    script: Script,
    supersedes: bool,
}

impl Threads {
    /// Sends a message now and then: to a thread with a finished last run, and to one with a waiting last run.
    async fn round(&mut self, parent: &Parent, open: &[RunInfo], rng: &mut Rng) -> Result<(), StoreError> {
        let tried = match self.unsure.take() {
            Some(tried) => tried,
            None => {
                let waiting = open.iter().filter(|run| run.status == RunStatus::Waiting);
                let waiting: Vec<_> = waiting.map(|run| run.id.clone()).collect();
                let supersedes = !waiting.is_empty() && rng.bool();
                let runs = match supersedes {
                    true if rng.u8(..12) == 0 => waiting,
                    false if rng.u8(..12) == 0 => {
                        let over = parent.store.runs(&RunQuery::status(RunStatus::Done, OPEN)).await?;
                        over.into_iter().map(|run| run.id).collect()
                    }
                    _ => return Ok(()),
                };
                if runs.is_empty() {
                    return Ok(());
                }
                let last = &runs[rng.usize(..runs.len())];
                self.sent += 1;
                let thread = self.of.get(last).unwrap_or(last).clone();
                let (message, run) = (format!("m{}", self.sent), format!("t{}", self.sent));
                Tried { message, thread, run, script: Script::draw(rng), supersedes }
            }
        };
        let messaging = Entry::Messaging { message: tried.message.clone() };
        parent.ledger.note(&messaging).map_err(StoreError::failed)?;
        let message = UserMessage::new(&*tried.message, &*tried.message, parent.clock.now_ms());
        let begin =
            |_, message: &UserMessage| Ok(NewRun::new(&*tried.run, json!(tried.script), message.at_ms));
        let sent = send(&*parent.store, &tried.thread, &message, tried.supersedes, begin).await;
        let (run, is_new) = match sent {
            Ok(Sent::Began { run }) => (run, true),
            Ok(Sent::Superseded { run }) => (run, false),
            // The first try made it, and its reply was lost: a new run, or a message for the waiting one.
            Ok(Sent::Duplicate) => match parent.store.is_given(&tried.run).await {
                Ok(true) => (tried.run.clone(), true),
                Ok(false) => return Ok(()),
                Err(error) => return self.again(tried, error),
            },
            Ok(_) => return Ok(()),
            Err(error) => return self.again(tried, error),
        };
        let noted = if is_new {
            self.of.insert(run.clone(), tried.thread);
            Entry::Created { run }
        } else {
            Entry::Messaged { run, message: tried.message }
        };
        parent.ledger.note(&noted).map_err(StoreError::failed)
    }

    fn again(&mut self, tried: Tried, error: StoreError) -> Result<(), StoreError> {
        self.unsure = Some(tried);
        Err(error)
    }
}
