//! Lists and finds, and claims among many runs, go by indexes. The server counts what was scanned.

use std::time::Duration;

use runstate::run::RunStatus;
use runstate_postgres::{PostgresOptions, PostgresStore};
use runstate_runtime::clock::SetClock;
use runstate_store::{Approval, ApprovalFilter, ApprovalQuery, Claim, RunData, RunLists, RunQuery, RunQueue};
use tokio_postgres::{Client, NoTls};

use crate::cluster::{self, Place};
use crate::runs::{More, waiting};

const RUNS: u32 = 20_000;

/// Scans of tables and of indexes, once they are told: that is done when a connection ends.
async fn scans(client: &Client) -> (i64, i64) {
    let sql = "SELECT sum(seq_scan)::int8, sum(idx_scan)::int8 FROM pg_stat_user_tables
        WHERE schemaname = 'runstate' AND relname IN ('runs', 'approvals')";
    let row = client.query_one(sql, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test]
async fn postgres_queries_scan_no_whole_table() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    place.client().await.batch_execute("CREATE DATABASE plans").await.unwrap();
    let url = server.url("plans");
    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    waiting(&store, "r1", 1).await;
    drop(store);
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let many = include_str!("server/many.sql").replace("{schema}", "runstate");
    client.batch_execute(&many.replace("{count}", &RUNS.to_string())).await.unwrap();
    client.batch_execute("VACUUM ANALYZE").await.unwrap();
    client.batch_execute("SELECT pg_stat_reset()").await.unwrap();

    let asked = ask(&url).await;
    for _ in 0..600 {
        let (tables, indexes) = scans(&client).await;
        assert_eq!(tables, 0, "scans of whole tables, among {asked} questions");
        if indexes >= asked {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the server counted {:?} after {asked} questions", scans(&client).await);
}

/// Asks whatever lists and finds, and says how many questions that were at least.
async fn ask(url: &str) -> i64 {
    let options = PostgresOptions::new(url).unwrap().connections(1);
    let by_server = PostgresStore::connect(options.clone()).await.unwrap();
    let store = PostgresStore::connect(options.clock(SetClock::at(1_000_010))).await.unwrap();
    let mut asked = 0;
    // Often enough for plans that do not look at the parameters.
    for _ in 0..8 {
        let first = store.runs(&RunQuery::all(50)).await.unwrap();
        let page = store.runs(&RunQuery::all(50).after(&first[49])).await.unwrap();
        assert_eq!(page.len(), 50);
        let waiting = store.runs(&RunQuery::status(RunStatus::Waiting, 50)).await.unwrap();
        let page = store.runs(&RunQuery::status(RunStatus::Waiting, 50).after(&waiting[49])).await.unwrap();
        assert_eq!(page.len(), 50);
        assert_eq!(store.runs(&RunQuery::status(RunStatus::Done, 50)).await.unwrap(), []);

        let all = ApprovalQuery::new(ApprovalFilter::All, 50);
        let page = store.approvals(&all).await.unwrap();
        let page: Vec<Approval> = store.approvals(&all.after(&page[49])).await.unwrap();
        assert_eq!(page.len(), 50);
        for (about, count) in [
            (ApprovalFilter::Run("many 77".to_owned()), 1),
            (ApprovalFilter::Call("call_0".to_owned()), 50),
            (ApprovalFilter::Call("call_9".to_owned()), 0),
            (ApprovalFilter::Suspension("many 4711".to_owned()), 1),
        ] {
            let query = ApprovalQuery::new(about, 50);
            let found = store.approvals(&query).await.unwrap();
            assert_eq!(found.len(), count, "{query:?}");
            if let Some(last) = found.last() {
                store.approvals(&query.after(last)).await.unwrap();
                asked += 1;
            }
        }
        assert_eq!(store.due(50).await.unwrap().len(), 10);
        for store in [&store, &by_server] {
            assert_eq!(store.claim(&Claim::any("me", Duration::from_secs(60))).await.unwrap(), None);
        }
        store.load("many 99").await.unwrap();
        assert!(store.pending_signals("many 99").await.unwrap().decisions.is_empty());
        asked += 16;
    }
    asked
}

/// Else each commit would leave a dead entry in each index, and a long run be found through all of its own.
#[tokio::test]
async fn a_commit_writes_no_index_of_runs() {
    const COMMITS: i64 = 300;
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    let (lease, _) = waiting(&store, "r1", 1).await;
    let mut more = More::of("r1", 1).await;
    drop(store);
    let client = place.client().await;
    let sql =
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'runs'";
    let updates = async || {
        let row = client.query_one(sql, &[&place.schema]).await.unwrap();
        (row.get::<_, i64>(0), row.get::<_, i64>(1))
    };
    let before = updates().await;
    let store = place.store().await;
    for _ in 0..COMMITS {
        more.commit.at_ms += 1;
        store.commit(&lease, more.next()).await.unwrap();
    }
    // What a connection did is told when it ends.
    drop(store);
    for _ in 0..600 {
        let (all, without_index) = updates().await;
        if all - before.0 >= COMMITS {
            // While transactions of other tests are open, full pages stay full, and an update that leaves its page writes the
            // indexes: one in some ten. If commits wrote them, all would.
            assert!(
                without_index - before.1 >= COMMITS / 2,
                "{without_index} of {all} updates, before {before:?}"
            );
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the server counted {:?} after {before:?}", updates().await);
}
