//! Which runs were committed: transactions begin in one order and are seen in another.

use std::time::Duration;

use runstate_postgres::PostgresStore;
use runstate_store::{ChangeCursor, Changes, Claim, NewRun, RunData, RunQueue};
use runstate_store_conformance::Played;
use serde_json::Value;

use crate::cluster::{self, Place};

async fn begun(store: &PostgresStore, run: &str) -> impl AsyncFnMut() {
    store.create(&NewRun::new(run, Value::Null, 0)).await.unwrap();
    let lease = store.claim(&Claim::of(run, "w", Duration::from_secs(3_600))).await.unwrap().unwrap();
    let calls = vec![runstate::turn::CallRequest::new("c", "say", serde_json::json!(1))];
    let script = vec![runstate::turn::Turn { calls, ..Default::default() }; 3];
    let mut commits = Played::new(run, &script).await.commits().cloned().collect::<Vec<_>>().into_iter();
    async move || store.commit(&lease, &commits.next().unwrap()).await.unwrap()
}

async fn next(store: &PostgresStore, cursor: &mut ChangeCursor) -> Vec<(String, u64)> {
    let Changes { runs, cursor: behind } = store.changes(cursor, Duration::ZERO).await.unwrap();
    *cursor = behind;
    runs
}

fn at(run: &str, version: u64) -> (String, u64) {
    (run.to_owned(), version)
}

#[tokio::test]
async fn a_transaction_that_begins_early_and_ends_late_is_not_missed() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    let (mut first, mut second) = (begun(&store, "r1").await, begun(&store, "r2").await);
    first().await;
    second().await;
    let mut cursor = ChangeCursor::default();
    assert_eq!(next(&store, &mut cursor).await, [at("r1", 1), at("r2", 1)]);
    // It has its number, and is not seen.
    let client = place.client().await;
    let early = format!(
        "BEGIN; UPDATE \"{}\".changes SET version = 9, made_by = pg_current_xact_id() WHERE version = 1 AND run = \
         (SELECT no FROM \"{}\".runs WHERE id = 'r1')",
        place.schema, place.schema
    );
    client.batch_execute(&early).await.unwrap();
    second().await;
    assert_eq!(next(&store, &mut cursor).await, [at("r2", 2)], "seen though an older one is under way");
    assert_eq!(next(&store, &mut cursor).await, [], "and once");
    second().await;
    assert_eq!(next(&store, &mut cursor).await, [at("r2", 3)]);
    client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(next(&store, &mut cursor).await, [at("r1", 9)]);
    assert_eq!(next(&store, &mut cursor).await, []);
}

/// Those of an earlier version are all of one transaction.
#[tokio::test]
async fn runs_of_one_transaction_are_named_page_by_page() {
    const RUNS: usize = 2_500;
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    let client = place.client().await;
    let made = format!(
        "SELECT \"{0}\".create_run('r' || n, NULL, '', 'null', 0, NULL) FROM generate_series(1, {RUNS}) AS n;
         INSERT INTO \"{0}\".changes SELECT no, 1, pg_current_xact_id() FROM \"{0}\".runs",
        place.schema
    );
    for held in [false, true] {
        if held {
            // A transaction that stays open keeps the cursor where it is.
            client.batch_execute("BEGIN; SELECT pg_current_xact_id()").await.unwrap();
        } else {
            client.batch_execute(&made).await.unwrap();
        }
        let (mut cursor, mut named) = (ChangeCursor::default(), std::collections::BTreeSet::new());
        for _ in 0..4 {
            let runs = next(&store, &mut cursor).await;
            named.extend(runs.into_iter().map(|(run, _)| run));
        }
        assert_eq!(named.len(), RUNS, "held: {held}");
        assert_eq!(next(&store, &mut cursor).await, []);
    }
}

/// Its numbers may be higher than those of the server it is put into.
#[tokio::test]
async fn a_copy_from_another_server_is_named_anew() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    let mut commit = begun(&store, "r1").await;
    commit().await;
    let mut cursor = ChangeCursor::new(1 << 60, [("r1".to_owned(), (1, 1 << 60))].into());
    assert_eq!(next(&store, &mut cursor).await, [at("r1", 1)]);
    assert_eq!(next(&store, &mut cursor).await, []);
    for number in ["18446744073709551615", "5000000000"] {
        let sql = format!("UPDATE \"{}\".changes SET made_by = '{number}'", place.schema);
        place.client().await.batch_execute(&sql).await.unwrap();
        assert_eq!(next(&store, &mut cursor).await, [at("r1", 1)], "{number}");
        assert_eq!(next(&store, &mut cursor).await, [], "{number}");
    }
    commit().await;
    assert_eq!(next(&store, &mut cursor).await, [at("r1", 2)]);
}
