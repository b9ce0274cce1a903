//! Looking into the SQLite stores that the command writes.

use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::session::Session;

/// The store in a folder of runs, as any program opens it.
pub(crate) fn open(session: &Session, path: &str) -> Connection {
    let store = Connection::open(session.path(path)).unwrap();
    store.busy_timeout(Duration::from_secs(10)).unwrap();
    store
}

/// One text of a store.
pub(crate) fn text(store: &Connection, sql: &str) -> Option<String> {
    let mut rows = store.prepare(sql).unwrap();
    let mut rows = rows.query([]).unwrap();
    rows.next().unwrap().and_then(|row| row.get::<_, Option<String>>(0).unwrap())
}

/// One number of a store.
pub(crate) fn number(store: &Connection, sql: &str) -> i64 {
    store.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// How often tools were executed, as far as is durable.
pub(crate) fn executions(store: &Connection) -> i64 {
    number(store, "SELECT count(*) FROM trace WHERE json LIKE '%\"to\":\"ExecuteTool\"%'")
}

/// Waits until that is so. How long it takes depends on the machine; that it comes does not.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let mut looks = 0;
    while !is_so() {
        looks += 1;
        assert!(looks < MOST_LOOKS, "in vain: {what}");
        std::thread::sleep(LOOK);
    }
}

const LOOK: Duration = Duration::from_millis(10);
/// A minute of looks at least.
const MOST_LOOKS: u32 = 6_000;

/// Waits until the store is there, and the query says that.
pub(crate) fn wait_for(session: &Session, path: &str, sql: &str, expected: &str) {
    wait_until(&format!("{sql}: {expected}"), || {
        // Without making it.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let Ok(store) = Connection::open_with_flags(session.path(path), flags) else { return false };
        store.busy_timeout(Duration::from_secs(10)).unwrap();
        let found = store.query_row(sql, [], |row| row.get::<_, Option<String>>(0));
        found.is_ok_and(|found| found.as_deref() == Some(expected))
    });
}
