//! Runs that were committed, in the order of the transactions that did.
//!
//! A transaction has its number from its beginning, and is seen from its end on: one with a lower number may be seen later. So the
//! position of a cursor is the number below which no transaction is under way, and the runs that are seen beyond it are kept in the
//! cursor, with their versions.

use std::collections::BTreeMap;

use runstate::store::{ChangeCursor, Changes, StoreError};

use super::{limit_of, load};
use crate::pool::Connections;
use crate::row::{column, told};
use crate::text::{int, nat};

/// Runs in one answer.
const MOST: usize = 1_000;

pub(super) async fn page(
    connections: &Connections,
    sql: &str,
    cursor: &ChangeCursor,
) -> Result<Changes, StoreError> {
    // Those that are known come again, as long as an older transaction is under way.
    let most = MOST.saturating_add(cursor.ahead().len());
    let rows = connections.rows(sql, &[&int(cursor.at()) as _, &limit_of(most) as _]).await?;
    let settled = rows.first().map_or(Ok(0), |row| load::number(row, 3))?;
    if cursor.at() > settled {
        // The tables are a copy from another server, whose numbers were higher: all runs are named anew.
        return Box::pin(page(connections, sql, &ChangeCursor::default())).await;
    }
    let mut found = Vec::new();
    for row in &rows {
        // Without a run there is one row, which says the number alone.
        if let Some(number) = column::<Option<i64>>(row, 0)? {
            found.push((nat(number), told(row, 1).ok(), load::number(row, 2)?));
        }
    }
    let last = found.last().filter(|_| found.len() == most).map(|(number, ..)| *number);
    let next = last.map_or(settled, |last| last.min(settled));
    let (mut runs, mut ahead) = (Vec::new(), BTreeMap::new());
    for (number, run, version) in found {
        // A run whose id cannot be read is in no list either.
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
