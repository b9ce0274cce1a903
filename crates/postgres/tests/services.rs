//! Service runs in the schema: their contract, the order of changes, and rows of other programs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus::{self, Running};
use runstate::service_run::{AnyServiceRun, Block, ServiceRun, ServiceRunRecord, Start};
use runstate::snapshot::Snapshot;
use runstate_agent::async_trait;
use runstate_postgres::PostgresStore;
use runstate_runtime::clock::SetClock;
use runstate_service::testing::ServiceBench;
use runstate_service::{
    Change, KeyedAnswer, ListQuery, RequestKey, RunStep, ServiceCursor, ServiceLease, ServiceStore,
    ServiceStoreError, Step, StepPhase, TimelineEntry, TimelineStatus,
};
use serde_json::json;

use crate::cluster::{self, Place, soon};

#[async_trait]
impl ServiceBench for Place {
    async fn store(&self) -> Arc<dyn ServiceStore> {
        let options = self.options().connections(4).clock(self.clock.clone());
        Arc::new(PostgresStore::connect(options).await.unwrap())
    }

    fn clock(&self) -> &SetClock {
        &self.clock
    }
}

mod conformance {
    use crate::cluster::{self, Place};

    runstate_service::service_store_conformance!({
        let Some(server) = cluster::shared() else { return };
        async { Place::on(server) }
    });
}

const MINUTE: Duration = Duration::from_secs(60);
/// Longer than any test.
const LONG: Duration = Duration::from_secs(600);

fn change(run: &str, status: ServiceRunStatus, intent: &str) -> Change {
    let new = ServiceRun::new(ServiceRunRecord::new(run, intent));
    let machine: AnyServiceRun = match status {
        ServiceRunStatus::Created => new.into(),
        Running => new.start(Start).into(),
        ServiceRunStatus::Blocked => new.start(Start).block(Block::new("a rule")).into(),
        other => unreachable!("no test needs a run in {other}"),
    };
    Change {
        at_ms: 1_000,
        status,
        final_status: machine.final_status(),
        current_step: Some(RunStep::RunCreated.into()),
        intent: intent.to_owned(),
        machine: Snapshot::of(&machine).unwrap(),
        pass: None,
        artifacts: BTreeMap::from([("plan".to_owned(), Some(json!({ "intent": intent })))]),
        steps: vec![Step {
            at_ms: 1_000,
            pass: 0,
            attempt: 0,
            step: RunStep::RunCreated.into(),
            phase: StepPhase::Done,
            actor: Some("ada".to_owned()),
            summary: intent.to_owned(),
            data: json!({ "of": [run, 1.5, null] }),
        }],
        timeline: vec![TimelineEntry {
            step: runstate::service_pass::ServicePassStatus::PlanTx,
            status: TimelineStatus::Ok,
            title: "planned".to_owned(),
            summary: intent.to_owned(),
            attempt: 1,
            pass: 1,
            at_ms: 1_000,
        }],
        trace: vec!["{}\0\u{1}".to_owned()],
        requested_by: Some("ada".to_owned()),
        answer: None,
    }
}

pub async fn create(store: &dyn ServiceStore, run: &str) {
    store.create(run, &change(run, Running, "send 5")).await.unwrap();
}

/// The notification alone wakes this waiter: it does not poll before the end of the test.
#[tokio::test]
async fn change_by_another_connection_wakes_waiters_at_once() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = PostgresStore::connect(place.options().poll_every(LONG)).await.unwrap();
    let other = place.store().await;
    create(&other, "r0").await;
    let mut cursor = store.changes(ServiceCursor::default(), 9, LONG).await.unwrap().cursor;
    // The listening connection and the notification of the first change may come late, and wake a waiter once each.
    let waits = tokio::spawn(async move {
        let mut seen = Vec::new();
        while seen.len() < 3 {
            let changes = store.changes(cursor, 9, LONG).await.unwrap();
            seen.extend(changes.runs);
            cursor = changes.cursor;
        }
        seen
    });
    for run in ["r1", "r2", "r3"] {
        tokio::time::sleep(Duration::from_millis(500)).await;
        create(&other, run).await;
    }
    assert_eq!(soon(waits).await.unwrap(), ["r1", "r2", "r3"]);
}

/// A change with a lower number is never visible after one with a higher number.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cursor_misses_no_change_of_concurrent_transactions() {
    const CHANGES: usize = 40;
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = Arc::new(place.store().await);
    let tasks = (0..8).map(|task| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for number in 0..CHANGES {
                create(&*store, &format!("r{task}-{number}")).await;
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let watcher = place.store().await;
    let (mut cursor, mut seen) = (ServiceCursor::default(), Vec::new());
    soon(async {
        while seen.len() < 8 * CHANGES {
            let changes = watcher.changes(cursor, 7, MINUTE).await.unwrap();
            assert!(changes.cursor > cursor && changes.runs.len() <= 7);
            seen.extend(changes.runs);
            cursor = changes.cursor;
        }
    })
    .await;
    for task in tasks {
        task.await.unwrap();
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 8 * CHANGES);
    assert_eq!(cursor, ServiceCursor::new(8 * CHANGES as u64));
}

/// Of two changes under one key, one alone is stored, also if they are of two runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_concurrent_changes_under_a_key_wins() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = Arc::new(place.store().await);
    for run in 0..8 {
        create(&*store, &format!("r{run}")).await;
    }
    for round in 0..5 {
        let tasks = (0..8).map(|run| {
            let store = Arc::clone(&store);
            let run = format!("r{run}");
            let key = RequestKey { principal: "ada".to_owned(), key: format!("k{round}") };
            let answer = Some(KeyedAnswer { key, digest: "d".to_owned(), answer: json!(run) });
            let next = Change { answer, ..change(&run, Running, "next") };
            tokio::spawn(async move {
                let version = store.load(&run).await.unwrap().version;
                (run.clone(), store.compare_and_set(&run, version, &next).await)
            })
        });
        let mut won = Vec::new();
        for task in tasks.collect::<Vec<_>>() {
            match task.await.unwrap() {
                (run, Ok(_)) => won.push(run),
                (_, Err(ServiceStoreError::KeyTaken { .. })) => {}
                (_, Err(error)) => panic!("{error}"),
            }
        }
        assert_eq!(won.len(), 1);
        let key = RequestKey { principal: "ada".to_owned(), key: format!("k{round}") };
        assert_eq!(store.answer(&key, 1_000).await.unwrap().unwrap().answer, json!(won[0]));
    }
}

#[tokio::test]
async fn texts_may_have_any_characters_and_are_found_in_any_case() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn ServiceStore> = Arc::new(place.store().await);
    let long = format!("é{}", "x".repeat(5_000));
    for (run, intent) in [
        ("a\0b", "nul \0 here"),
        ("'; DROP", "ÄRGER für Ωmega"),
        ("ÉCOLE", "\u{1}\u{2}"),
        (&*long, "\0\u{2}"),
    ] {
        let mut new = change(run, Running, intent);
        new.artifacts.insert(run.to_owned(), Some(json!(run)));
        store.create(run, &new).await.unwrap();
        let loaded = store.load(run).await.unwrap();
        assert_eq!(loaded, new.first_row(run));
        let step = store.steps(run, 0, 9).await.unwrap().remove(0).row;
        assert_eq!(step, new.steps[0]);
        let event = store.events(run, 0, 9).await.unwrap().remove(0).row;
        assert_eq!(event, new.events(None)[0]);
        assert_eq!(store.trace(run, 0, 9).await.unwrap(), new.trace);
        let lease = store.claim(Some(run), "\0me", MINUTE).await.unwrap().unwrap();
        let held = store.claim(Some(run), "you", MINUTE).await.unwrap_err();
        assert!(matches!(&held, ServiceStoreError::Held { holder, .. } if holder == "\0me"), "{held:?}");
        new.artifacts.insert(run.to_owned(), None);
        store.commit(&lease, 1, &new, None).await.unwrap();
        assert_eq!(store.load(run).await.unwrap().artifacts.len(), 1);
    }
    for (text, expected) in [
        ("ärger FÜR ωMEGA", vec!["'; DROP"]),
        ("école", vec!["ÉCOLE"]),
        ("\0", vec!["é", "a\0b"]),
        ("\u{1}", vec!["ÉCOLE"]),
        ("\u{2}", vec!["é", "ÉCOLE"]),
        ("", vec!["é", "ÉCOLE", "a\0b", "'; DROP"]),
        ("herea", vec![]),
    ] {
        let query = ListQuery { text: Some(text.to_owned()), ..ListQuery::first(9) };
        let page = store.list(&query).await.unwrap();
        let found: Vec<&str> =
            page.runs.iter().map(|run| if run.id == long { "é" } else { &*run.id }).collect();
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(page.counts.get(&Running).copied().unwrap_or(0), expected.len(), "{text:?}");
    }
    // Each page follows the run before it, whatever its id is.
    let (mut query, mut seen) = (ListQuery::first(1), Vec::new());
    loop {
        let page = store.list(&query).await.unwrap();
        seen.extend(page.runs.into_iter().map(|run| run.id));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, [&*long, "ÉCOLE", "a\0b", "'; DROP"]);
}

#[tokio::test]
async fn value_that_could_not_be_read_again_is_refused() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn ServiceStore> = Arc::new(place.store().await);
    create(&*store, "r1").await;
    let before = store.load("r1").await.unwrap();
    let mut deep = json!(1);
    for _ in 0..120 {
        deep = json!([deep]);
    }
    for (value, why) in [
        (json!("x".repeat((64 << 20) - 1)), "service_artifacts.json would have 67108865 bytes"),
        (deep, "the artifact \"large\" nests deeper than 100 levels"),
        (
            json!({ "a": 1, "$serde_json::private::RawValue": "1" }),
            "the artifact \"large\" could not be read again",
        ),
    ] {
        let mut next = change("r1", Running, "more");
        next.artifacts.insert("large".to_owned(), Some(value));
        let refused = store.compare_and_set("r1", 1, &next).await.unwrap_err();
        assert!(matches!(refused, ServiceStoreError::Failed(_)), "{refused}");
        assert!(refused.to_string().contains(why), "{refused}");
        assert!(refused.to_string().contains("nothing was stored"), "{refused}");
        assert_eq!(store.load("r1").await.unwrap(), before);
    }
    let mut next = change("r1", Running, "more");
    next.artifacts.insert("large".to_owned(), Some(json!("x".repeat((64 << 20) - 2))));
    store.compare_and_set("r1", 1, &next).await.unwrap();
    let artifacts = store.load("r1").await.unwrap().artifacts;
    assert_eq!(artifacts.get("large"), next.artifacts["large"].as_ref());
}

/// The errors of all operations on the run, as one text.
async fn errors(store: &dyn ServiceStore, run: &str) -> String {
    let version = store.load(run).await.map_or(1, |run| run.version);
    let next = change(run, Running, "next");
    let errors = [
        store.load(run).await.map(drop),
        store.list(&ListQuery::first(9)).await.map(drop),
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
    told.collect()
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

#[tokio::test]
async fn unreachable_server_is_unavailable() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let proxy = crate::proxy::Proxy::before(server.port()).await;
    let options = runstate_postgres::PostgresOptions::new(&proxy.url()).unwrap();
    let options = options.schema(&place.schema).unwrap().patience(Duration::from_secs(5));
    let store: Arc<dyn ServiceStore> = Arc::new(PostgresStore::connect(options).await.unwrap());
    create(&*store, "r1").await;
    proxy.does(crate::proxy::Does::Cuts);
    let refused = store.compare_and_set("r1", 1, &change("r1", Running, "more")).await.unwrap_err();
    assert!(matches!(refused, ServiceStoreError::Unavailable(_)), "{refused:?}");
}

/// Values that this program writes in no column.
fn hostile_values(kind: &str) -> &'static [&'static str] {
    match kind {
        "text" => &["''", "repeat('[', 200)", "'null'", "E'\\x01\\x03'", "NULL"],
        "bytea" => &["''", "'\\xff'"],
        _ => &["-9223372036854775808", "-1", "9223372036854775807", "NULL"],
    }
}

/// All operations on all runs, and what each run that is sound must still allow.
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
