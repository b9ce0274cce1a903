//! Runs that were committed, in the order of the transactions that did.
//!
//! A transaction has its number from its beginning, and is seen from its end on: one with a lower number may be seen later. So the
//! position of a cursor is the number below which no transaction is under way, and the runs that are seen beyond it are kept in the
//! cursor, with their versions.

use std::collections::BTreeMap;

use runstate::store::{ChangeCursor, Changes, StoreError};

use super::{limit_of, load};
use crate::pool::Connections;
use crate::row::told;
use crate::text::int;

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
    let Some(last) = rows.last() else {
        return Ok(Changes { runs: Vec::new(), cursor: cursor.clone() });
    };
    let settled = load::number(last, 3)?;
    let next = if rows.len() == most { settled.min(load::number(last, 0)? + 1) } else { settled };
    let (mut runs, mut ahead) = (Vec::new(), BTreeMap::new());
    for row in &rows {
        let (number, run, version) = (load::number(row, 0)?, told(row, 1)?, load::number(row, 2)?);
        if cursor.ahead().get(&run) != Some(&version) {
            runs.push((run.clone(), version));
        }
        if number >= next {
            ahead.insert(run, version);
        }
    }
    Ok(Changes { runs, cursor: ChangeCursor::new(next.max(cursor.at()), ahead) })
}
