//! Rows that another program wrote.

use std::sync::Arc;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus::{self, Running};
use runstate_service::{
    Change, KeyedAnswer, ListQuery, RequestKey, ServiceCursor, ServiceLease, ServiceStore, ServiceStoreError,
};
use serde_json::json;

use super::{MINUTE, change, create};
use crate::cluster::{self, Place, soon};

/// The errors of all operations on the run, as one text.
async fn errors(store: &dyn ServiceStore, run: &str) -> String {
    let version = store.load(run).await.map_or(1, |run| run.version);
    let next = change(run, Running, "next");
    let errors = [
        store.load(run).await.map(drop),
        store.steps(run, 0, 9).await.map(drop),
        store.timeline(run, 0, 9).await.map(drop),
        store.events(run, 0, 9).await.map(drop),
        store.trace(run, 0, 9).await.map(drop),
        store.compare_and_set(run, version, &next).await.map(drop),
        store.claim(Some(run), "me", MINUTE).await.map(drop),
    ];
    let told = errors.into_iter().filter_map(Result::err).map(|error| {
        use ServiceStoreError::{Failed, NoRun, Version};
        assert!(matches!(error, Failed(_) | NoRun { .. } | Version { .. }), "{error:?}");
        format!("{error}\n")
    });
    let page = store.list(&ListQuery { counts: true, ..ListQuery::first(9) }).await.unwrap();
    let unreadable = page.unreadable.iter().map(|run| format!("{}: {}\n", run.id, run.reason));
    told.chain(unreadable).collect()
}

#[tokio::test]
async fn unreadable_row_is_named_in_the_error() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn ServiceStore> = Arc::new(place.store().await);
    let client = place.client().await;
    let schema = format!("\"{}\"", place.schema);
    create(&*store, "r2").await;
    let mut version = 1;
    for (number, (table, value, column)) in (1..).zip([
        ("service_runs", "status = 'EXECUTING'", "status"),
        ("service_runs", "final_status = 'MAYBE'", "final_status"),
        ("service_runs", "current_step = 'NOWHERE'", "current_step"),
        ("service_runs", "version = -1", "version"),
        ("service_runs", "version = 9223372036854775807", "version"),
        ("service_runs", "trace_lines = 9223372036854775807", "trace_lines"),
        ("service_runs", "requested_by = '{}'", "requested_by"),
        ("service_runs", "machine = '{'", "machine"),
        ("service_runs", "pass = 'null'", "pass"),
        ("service_runs", "intent = repeat('x', 67108865)", "intent"),
        ("service_runs", "long_id = 'another'", "id"),
        ("service_artifacts", "json = '['", "json"),
        ("service_steps", "json = '{}'", "json"),
        ("service_timeline", "json = '1'", "json"),
        ("service_events", "json = ''", "json"),
        ("service_trace", "json = repeat('x', 67108865)", "json"),
    ]) {
        let run = format!("s{number}");
        create(&*store, &run).await;
        let which = if table == "service_runs" { "no" } else { "run" };
        let spoil = format!(
            "UPDATE {schema}.{table} SET {value} WHERE {which} = (SELECT no FROM {schema}.service_runs WHERE id = '{run}')"
        );
        assert!(client.execute(&spoil, &[]).await.unwrap() > 0, "{spoil}");
        let told = errors(&*store, &run).await;
        let place = format!("{table}.{column} of the run {run:?}");
        assert!(told.contains(&place), "{table} {value}: {told}");
        // The other run is not affected.
        store.compare_and_set("r2", version, &change("r2", Running, "next")).await.unwrap();
        let lease = store.claim(Some("r2"), "me", MINUTE).await.unwrap().unwrap();
        store.commit(&lease, version + 1, &change("r2", Running, "next"), None).await.unwrap();
        version += 2;
        let remove = format!("DELETE FROM {schema}.service_runs WHERE id = '{run}'");
        client.execute(&remove, &[]).await.unwrap();
    }
}

#[tokio::test]
async fn counts_of_another_program_hide_no_change() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn ServiceStore> = Arc::new(place.store().await);
    let (client, schema) = (place.client().await, format!("\"{}\"", place.schema));
    let execute = async |sql: &str| client.batch_execute(&sql.replace("{schema}", &schema)).await.unwrap();
    create(&*store, "r1").await;
    create(&*store, "r2").await;
    let next = async |cursor: ServiceCursor| {
        let changes = store.changes(cursor, 9, Duration::ZERO).await.unwrap();
        (changes.runs, changes.cursor)
    };
    let (runs, cursor) = next(ServiceCursor::default()).await;
    assert_eq!(runs, ["r1", "r2"]);
    // A number without a change moves no cursor.
    execute("UPDATE {schema}.service_runs SET change = 9223372036854775807 WHERE id = 'r2'").await;
    assert_eq!(next(cursor).await, (vec![], cursor));
    store.compare_and_set("r1", 1, &change("r1", Running, "more")).await.unwrap();
    let (runs, cursor) = next(cursor).await;
    assert_eq!(runs, ["r1"]);
    // A cursor from before the restoration of a backup lists all runs again.
    execute("UPDATE {schema}.service_news SET changes = 1; UPDATE {schema}.service_runs SET change = 1 WHERE id = 'r1'").await;
    let (runs, cursor) = next(cursor).await;
    assert_eq!((runs, cursor), (vec!["r1".to_owned()], ServiceCursor::new(1)));
    for spoil in [
        "DELETE FROM {schema}.service_news",
        "UPDATE {schema}.service_news SET changes = 9223372036854775807",
    ] {
        execute(spoil).await;
        let version = store.load("r1").await.unwrap().version;
        store.compare_and_set("r1", version, &change("r1", Running, "more")).await.unwrap();
        let expected = (vec!["r1".to_owned()], ServiceCursor::new(1));
        assert_eq!(next(ServiceCursor::new(9)).await, expected, "{spoil}");
    }
}

/// Values that this program writes in no column.
fn hostile_values(kind: &str) -> &'static [&'static str] {
    match kind {
        "text" => &["''", "repeat('[', 200)", "'null'", "E'\\x01\\x03'", "NULL"],
        "bytea" => &["''", "'\\xff'"],
        _ => &["-9223372036854775808", "-1", "9223372036854775807", "NULL"],
    }
}

/// All operations on all runs, and the operations that each sound run must still allow.
async fn asked(store: &dyn ServiceStore, spoilt: &str) {
    drop(errors(store, "r1").await);
    let key = RequestKey { principal: "ada".to_owned(), key: "k".to_owned() };
    drop(store.answer(&key, 1_000).await);
    drop(store.changes(ServiceCursor::default(), 9, Duration::ZERO).await);
    drop(store.release(&ServiceLease { run: "r1".to_owned(), fence: 1 }).await);
    let mut claimed = None;
    for _ in 0..2 {
        claimed = store.claim(None, "me", MINUTE).await.unwrap().filter(|lease| lease.run == "r2");
        if claimed.is_some() {
            break;
        }
    }
    drop(store.delete("r1").await);
    let lease = claimed.unwrap_or_else(|| panic!("{spoilt}: no claim of the other run"));
    assert_eq!(store.commit(&lease, 2, &change("r2", Running, "next"), None).await.unwrap(), 3, "{spoilt}");
    assert_eq!(store.load("r2").await.unwrap().intent, "next", "{spoilt}");
    for rows in
        [store.steps("r2", 0, 9).await.unwrap().len(), store.timeline("r2", 0, 9).await.unwrap().len()]
    {
        assert_eq!(rows, 3, "{spoilt}");
    }
}

/// Each column has each hostile value that its constraints take.
#[tokio::test]
async fn hostile_column_value_breaks_no_reader_and_holds_up_no_other_run() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn ServiceStore> = Arc::new(place.store().await);
    for run in ["r1", "r2"] {
        create(&*store, run).await;
        store.compare_and_set(run, 1, &change(run, Running, "more")).await.unwrap();
    }
    let key = RequestKey { principal: "ada".to_owned(), key: "k".to_owned() };
    let kept = KeyedAnswer { key, digest: "d".to_owned(), answer: json!(1) };
    let answered = Change { answer: Some(kept), ..change("r3", ServiceRunStatus::Blocked, "more") };
    store.create("r3", &answered).await.unwrap();
    let (client, schema) = (place.client().await, &place.schema);
    let columns = client
        .query(
            "SELECT c.table_name::text, c.column_name::text, c.data_type::text FROM information_schema.columns c
             WHERE c.table_schema = $1 AND c.table_name LIKE 'service\\_%' AND c.data_type IN ('text', 'bigint', 'bytea')
                 AND c.column_name <> 'no' AND c.table_name <> 'service_removed' ORDER BY 1, 2",
            &[schema],
        )
        .await
        .unwrap();
    let tables =
        "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'service\\_%'";
    let tables = client.query(tables, &[schema]).await.unwrap();
    let (mut keep, mut back) = (String::new(), String::new());
    for row in &tables {
        let table: String = row.get(0);
        keep.push_str(&format!("CREATE TABLE \"{schema}\".kept_{table} AS TABLE \"{schema}\".{table};"));
        back.push_str(&format!(
            "DELETE FROM \"{schema}\".{table}; \
             INSERT INTO \"{schema}\".{table} OVERRIDING SYSTEM VALUE SELECT * FROM \"{schema}\".kept_{table};"
        ));
    }
    client.batch_execute(&keep).await.unwrap();
    // As a superuser may: without foreign keys.
    client.batch_execute("SET session_replication_role = replica").await.unwrap();
    let mut written = 0;
    for column in &columns {
        let (table, name, kind): (String, String, String) = (column.get(0), column.get(1), column.get(2));
        let which = match &*table {
            "service_runs" => "id = 'r1'".to_owned(),
            "service_answers" | "service_news" => "true".to_owned(),
            _ => format!("run = (SELECT no FROM \"{schema}\".service_runs WHERE id = 'r1')"),
        };
        for value in hostile_values(&kind) {
            let spoil = format!("UPDATE \"{schema}\".{table} SET \"{name}\" = {value} WHERE {which}");
            let Ok(_) = client.batch_execute(&spoil).await else { continue };
            written += 1;
            soon(asked(&*store, &spoil)).await;
            client.batch_execute(&back).await.unwrap();
        }
    }
    assert!(written > 80, "{written} of {} columns", columns.len());
}
