//! Which runs were committed since a caller last asked.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::error::StoreError;
use super::query::RunQuery;
use super::{News, RunQueue};

/// A position among the commits of a store. The default stands before all of them.
///
/// It means the same at each handle on the store, and may be stored as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeCursor {
    /// A number of the store: commits below it are known.
    at: u64,
    /// Commits of runs that are known although they are not below that number: each by its version and a stamp of the store's own. A commit
    /// that is given again has the version of the first, and another stamp.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    ahead: BTreeMap<String, (u64, u64)>,
}

impl ChangeCursor {
    /// The position at a number of the store's own, with the commits of runs that are known beyond it, each by version and stamp. For
    /// implementations of [`RunStore`](super::RunStore).
    pub fn new(at: u64, ahead: BTreeMap<String, (u64, u64)>) -> Self {
        ChangeCursor { at, ahead }
    }

    /// The number of the store's own.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The commits of runs that are known beyond that number, each by version and stamp.
    pub fn ahead(&self) -> &BTreeMap<String, (u64, u64)> {
        &self.ahead
    }
}

/// Runs that were committed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Each run once, with its newest version. A run may be named again although it has no newer commit.
    pub runs: Vec<(String, u64)>,
    /// The position behind them.
    pub cursor: ChangeCursor,
}

/// The pause between two lists of a store that tells no changes by itself.
const POLL: Duration = Duration::from_millis(250);
const PAGE: usize = 1_000;

/// Compares lists: for stores that number no commits. `committed` wakes it before the pause is over.
pub(super) async fn by_lists<S: RunQueue + ?Sized>(
    store: &S,
    cursor: &ChangeCursor,
    timeout: Duration,
    committed: Option<&News>,
) -> Result<Changes, StoreError> {
    let began = Instant::now();
    let mut seen = committed.map_or(0, News::count);
    loop {
        let changes = listed(store, cursor).await?;
        let left = timeout.saturating_sub(began.elapsed());
        if !changes.runs.is_empty() || left.is_zero() {
            return Ok(changes);
        }
        match committed {
            Some(committed) => seen = committed.wait(seen, left).await,
            None => tokio::time::sleep(POLL.min(left)).await,
        }
    }
}

async fn listed<S: RunQueue + ?Sized>(store: &S, cursor: &ChangeCursor) -> Result<Changes, StoreError> {
    let (mut ahead, mut runs) = (BTreeMap::new(), Vec::new());
    let mut query = RunQuery::all(PAGE);
    loop {
        let page = store.runs(&query).await?;
        for info in page.iter().filter(|info| info.version > 0) {
            let commit = (info.version, info.changed_at_ms);
            if cursor.ahead.get(&info.id) != Some(&commit) {
                runs.push((info.id.clone(), info.version));
            }
            ahead.insert(info.id.clone(), commit);
        }
        match page.last() {
            Some(last) if page.len() == PAGE => query = query.after(last),
            _ => return Ok(Changes { runs, cursor: ChangeCursor::new(0, ahead) }),
        }
    }
}
