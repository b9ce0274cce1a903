//! Committed runs, in the order of their transactions.
//!
//! A transaction gets its number at its beginning and is visible from its end, so a lower number may become visible
//! later. So the position of a cursor is the number below which no transaction is open. The cursor also lists the
//! runs beyond that number that were seen, with their versions.

use std::collections::BTreeMap;

use runstate_store::{ChangeCursor, Changes, StoreError};

use super::{limit_of, load};
use crate::pool::Connections;
use crate::row::{column, told};
use crate::text::{int, nat};

/// The limit of runs in one result.
const MOST: usize = 1_000;

/// Returns the cursor after all commits. It reads those that are newer than the oldest open transaction alone.
pub(super) async fn current(
    connections: &Connections,
    settled: &str,
    changes: &str,
) -> Result<ChangeCursor, StoreError> {
    let rows = connections.rows(settled, &[]).await?;
    let settled = rows.first().map_or(Ok(0), |row| load::number(row, 0))?;
    let mut cursor = ChangeCursor::new(settled, BTreeMap::new());
    loop {
        let newer = page(connections, changes, &cursor).await?;
        cursor = newer.cursor;
        if newer.runs.is_empty() {
            return Ok(cursor);
        }
    }
}

pub(super) async fn page(
    connections: &Connections,
    sql: &str,
    cursor: &ChangeCursor,
) -> Result<Changes, StoreError> {
    // Known runs are returned again while an older transaction is open.
    let most = MOST.saturating_add(cursor.ahead().len());
    let rows = connections.rows(sql, &[&int(cursor.at()) as _, &limit_of(most) as _]).await?;
    let settled = rows.first().map_or(Ok(0), |row| load::number(row, 3))?;
    if cursor.at() > settled {
        // The tables are a copy from another server, whose numbers were higher: all runs are listed again.
        return Box::pin(page(connections, sql, &ChangeCursor::default())).await;
    }
    let mut found = Vec::new();
    for row in &rows {
        // Without runs there is one row, which has only the number.
        if let Some(number) = column::<Option<i64>>(row, 0)? {
            found.push((nat(number), told(row, 1).ok(), load::number(row, 2)?));
        }
    }
    let last = found.last().filter(|_| found.len() == most).map(|(number, ..)| *number);
    let next = last.map_or(settled, |last| last.min(settled));
    let (mut runs, mut ahead) = (Vec::new(), BTreeMap::new());
    for (number, run, version) in found {
        // A run with an unreadable id is in no list either.
        let Some(run) = run else { continue };
        let commit = (version, number);
        if cursor.ahead().get(&run) != Some(&commit) {
            runs.push((run.clone(), version));
        }
        if number >= next {
            ahead.insert(run, commit);
        }
    }
    Ok(Changes { runs, cursor: ChangeCursor::new(next.max(cursor.at()), ahead) })
}
