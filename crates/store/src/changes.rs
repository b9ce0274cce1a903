//! Changes of a store: the runs that were committed since a cursor.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::error::StoreError;
use super::query::RunQuery;
use super::{ChangeNotifier, RunQueue};

/// A position among the commits of a store. The default is before all commits.
///
/// A cursor is valid at each handle of the store, and may be stored as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeCursor {
    /// A number of the store: the commits below it are known.
    at: u64,
    /// Known commits at or above that number, by run: the version and a stamp of the store. A repeated commit has the
    /// version of the first try and another stamp.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    ahead: BTreeMap<String, (u64, u64)>,
}

impl ChangeCursor {
    /// Creates a cursor from a number of the store and the known commits beyond it: by run, the version and the
    /// stamp. For implementations of [`RunStore`](super::RunStore).
    pub fn new(at: u64, ahead: BTreeMap<String, (u64, u64)>) -> Self {
        ChangeCursor { at, ahead }
    }

    /// Returns the number of the store.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Returns the known commits beyond that number: by run, the version and the stamp.
    pub fn ahead(&self) -> &BTreeMap<String, (u64, u64)> {
        &self.ahead
    }
}

/// The runs with commits after a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Each run once, with its newest version. A run may be listed without a newer commit.
    pub runs: Vec<(String, u64)>,
    /// The cursor after these commits.
    pub cursor: ChangeCursor,
}

/// Poll interval for a store without notifications.
const POLL: Duration = Duration::from_millis(250);
const PAGE: usize = 1_000;

/// Compares lists, for stores that do not number their commits. `committed` ends the pause early.
pub(super) async fn by_lists<S: RunQueue + ?Sized>(
    store: &S,
    cursor: &ChangeCursor,
    timeout: Duration,
    committed: Option<&ChangeNotifier>,
) -> Result<Changes, StoreError> {
    let began = Instant::now();
    let mut seen = committed.map_or(0, ChangeNotifier::count);
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

/// Lists all runs, for stores that do not number their commits.
pub(super) async fn current<S: RunQueue + ?Sized>(store: &S) -> Result<ChangeCursor, StoreError> {
    let mut cursor = ChangeCursor::default();
    loop {
        let changes = store.changes(&cursor, Duration::ZERO).await?;
        cursor = changes.cursor;
        if changes.runs.is_empty() {
            return Ok(cursor);
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
