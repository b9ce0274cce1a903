//! Which runs were committed, in a file that other programs write.

use std::time::Duration;

use runstate_sqlite::SqliteStore;
use runstate_store::{ChangeCursor, Claim, NewRun, RunData, RunQueue};
use runstate_store_conformance::Played;
use rusqlite::Connection;

#[tokio::test]
async fn hostile_rows_and_older_copies_hide_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = SqliteStore::open(&path).unwrap();
    let mut made = Vec::new();
    for run in ["r1", "r2"] {
        store.create(&NewRun::new(run, serde_json::Value::Null, 0)).await.unwrap();
        let lease = store.claim(&Claim::of(run, "w", Duration::from_secs(3_600))).await.unwrap().unwrap();
        let commits: Vec<_> = Played::new(run, &[]).await.commits().cloned().collect();
        store.commit(&lease, &commits[0]).await.unwrap();
        made.push((lease, commits));
    }
    let next = async |cursor: &ChangeCursor| {
        let changes = store.changes(cursor, Duration::ZERO).await.unwrap();
        (changes.runs.into_iter().map(|(run, _)| run).collect::<Vec<_>>(), changes.cursor)
    };
    let (runs, cursor) = next(&ChangeCursor::default()).await;
    assert_eq!(runs, ["r1", "r2"]);
    assert_eq!(next(&cursor).await.0, [""; 0]);
    let execute = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();

    // A number that no commit has moves no cursor.
    execute("UPDATE runs SET changed = 9223372036854775807 WHERE id = 'r2'");
    let (runs, cursor) = next(&cursor).await;
    assert_eq!(runs, [""; 0]);
    store.commit(&made[0].0, &made[0].1[1]).await.unwrap();
    let (runs, cursor) = next(&cursor).await;
    assert_eq!(runs, ["r1"]);

    // A cursor of the file before an older copy was put back names all anew.
    execute("UPDATE news SET commits = 1; UPDATE runs SET changed = 1 WHERE id = 'r1'");
    let (runs, cursor) = next(&cursor).await;
    assert_eq!(runs, ["r1"]);

    // An id that is no text hides no other run.
    execute(
        "PRAGMA foreign_keys = OFF; UPDATE runs SET id = CAST(x'ff' AS TEXT), changed = 1 WHERE id = 'r1'",
    );
    store.commit(&made[1].0, &made[1].1[1]).await.unwrap();
    assert_eq!(next(&ChangeCursor::default()).await.0, ["r2"]);
    assert_eq!(next(&cursor).await.0, ["r2"]);
}
