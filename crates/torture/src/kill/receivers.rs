//! Receivers of events that come and go: each gets the committed events in order, each once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use runstate_store::{Feed, StoreError};

use super::watch::all;
use super::{Parent, failed};
use crate::judge::Violation;
use crate::ledger::digest;

/// The number of simultaneous receivers.
const RECEIVERS: usize = 200;

/// The events of a run that a receiver got.
struct Got {
    run: String,
    /// First number, last number and digest of each event.
    rows: Vec<(u64, u64, u64)>,
    is_over: bool,
}

/// Receives events until the parent stops, and compares them with the events in the store.
pub(super) async fn receive(parent: Parent, mut rng: Rng) -> (u64, Vec<Violation>) {
    let feed = Arc::new(Feed::new(Arc::clone(&parent.store)));
    let runs: Arc<Mutex<Vec<String>>> = Arc::default();
    let receivers: Vec<_> = (0..RECEIVERS)
        .map(|_| tokio::spawn(follow(parent.clone(), Arc::clone(&feed), Arc::clone(&runs), rng.fork())))
        .collect();
    let mut violations = Vec::new();
    while !parent.stop.is_cancelled() {
        match all(&*parent.store).await {
            Ok(found) => {
                let found = found.into_iter().map(|run| run.id).collect();
                *runs.lock().unwrap_or_else(PoisonError::into_inner) = found;
            }
            Err(StoreError::Unavailable(_)) => {}
            Err(error) => violations.push(failed("requests", error)),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut stored: HashMap<String, Vec<(u64, u64, u64)>> = HashMap::new();
    let mut received = 0;
    for receiver in receivers {
        let (got, wrong) = match receiver.await {
            Ok(done) => done,
            Err(error) => {
                violations.push(failed("receivers", error));
                continue;
            }
        };
        violations.extend(wrong);
        for Got { run, rows, is_over } in got {
            received += rows.len() as u64;
            if !stored.contains_key(&run) {
                match parent.store.events(&run, 0, usize::MAX).await {
                    Ok(rows) => {
                        let rows = rows.iter().map(|row| (row.seq, row.last, digest(&row.json)));
                        stored.insert(run.clone(), rows.collect());
                    }
                    Err(error) => violations.push(failed("requests", error)),
                }
            }
            let Some(expected) = stored.get(&run) else { continue };
            if !expected.starts_with(&rows) || is_over && rows.len() < expected.len() {
                let differs = expected.iter().zip(&rows).position(|(stored, got)| stored != got);
                let what = format!(
                    "a receiver got {} events of {}, the first other one at {differs:?}",
                    rows.len(),
                    expected.len()
                );
                violations.push(Violation::new("receivers", run, what));
            }
        }
    }
    (received, violations)
}

/// One receiver after the other on a random run: each ends after some events, and the next one begins there.
async fn follow(
    parent: Parent,
    feed: Arc<Feed>,
    runs: Arc<Mutex<Vec<String>>>,
    mut rng: Rng,
) -> (Vec<Got>, Vec<Violation>) {
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    while !parent.stop.is_cancelled() && wrong.is_empty() {
        let run = {
            let runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
            // The newest are first: most of them are unfinished.
            rng.choice(runs.iter().take(20)).cloned()
        };
        let Some(run) = run else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let mut got = Got { run, rows: Vec::new(), is_over: false };
        let mut stay = 0;
        let mut receiver = feed.watch(&*got.run, 0);
        while !got.is_over {
            if stay == 0 {
                stay = rng.u32(1..30);
                receiver = feed.watch(&*got.run, got.rows.last().map_or(0, |(_, last, _)| *last));
            }
            stay -= 1;
            // At the end all runs are over: a receiver that still waits has missed an event.
            let late = async {
                parent.stop.cancelled().await;
                tokio::time::sleep(Duration::from_secs(20)).await;
            };
            let next = tokio::select! {
                next = receiver.next() => next,
                () = late => {
                    let last = got.rows.last().map_or(0, |(_, last, _)| *last);
                    wrong.push(Violation::new("receivers", &*got.run, format!("a receiver waits after event {last}")));
                    break;
                }
            };
            match next {
                Ok(Some(row)) => got.rows.push((row.seq, row.last, digest(&row.json))),
                Ok(None) => got.is_over = true,
                Err(StoreError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(50)).await,
                Err(error) => {
                    wrong.push(failed("requests", error));
                    break;
                }
            }
        }
        all.push(got);
        // A finished run is received at once: the pause keeps receivers from working all the time.
        tokio::time::sleep(Duration::from_millis(rng.u64(200..1_500))).await;
    }
    (all, wrong)
}
