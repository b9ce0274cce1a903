//! Unreadable rows in lists.

use runstate_store::Unread;
use rusqlite::{Connection, StatementStatus};

use crate::error::unreadable;
use crate::read::lists::page;

const ALL: &str = "SELECT n FROM numbers ORDER BY n LIMIT :limit OFFSET :offset";

/// The list reports the first hundred rows, and that there are more.
#[test]
fn many_rows_that_cannot_be_read_cost_once() {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(
        "CREATE TABLE numbers (n INTEGER PRIMARY KEY);
         WITH RECURSIVE to_last(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM to_last WHERE n < 40000) INSERT INTO numbers SELECT n FROM to_last;",
    )
    .unwrap();
    let steps = |bad: i64| {
        let unread = Unread::default();
        let before = conn.prepare_cached(ALL).unwrap().get_status(StatementStatus::VmStep);
        let found = page(&conn, ALL, &[], 1, &unread, |row| {
            let n: i64 = row.get(0)?;
            let read = if n > bad { Ok(n) } else { Err(unreadable(n)) };
            Ok(((n.to_string(), None), read))
        });
        let Ok(found) = found else { panic!("a list of what can be read") };
        assert_eq!(found, [bad + 1]);
        let told = unread.all();
        assert_eq!(told.len(), usize::try_from(bad).unwrap().min(101));
        assert_eq!(told.last().is_some_and(|last| last.what.contains("more rows")), bad > 100);
        conn.prepare_cached(ALL).unwrap().get_status(StatementStatus::VmStep) - before
    };
    assert!(steps(5) > 0);
    let (few, many) = (steps(1_000), steps(32_000));
    assert!(many < 64 * few, "{many} steps for 32 times the rows of {few}");
}
