//! The tables: who makes them, and which ones are refused.

use std::collections::BTreeSet;
use std::time::Duration;

use runstate::decision::{Decision, DecisionAction};
use runstate::run::RunStatus;
use runstate::turn::{CallRequest, Turn};
use runstate_postgres::PostgresStore;
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Claim, NewRun, Posted, RunData, RunLists, RunQuery, RunQueue, StoreError,
};
use runstate_store_conformance::Played;

use crate::cluster::{self, Place, soon};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_starts_create_the_tables_once() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let starts = (0..12).map(|number| {
        let options = place.options().connections(1);
        tokio::spawn(async move {
            let store = PostgresStore::connect(options).await?;
            store.create(&NewRun::new(format!("r{number}"), serde_json::Value::Null, 0)).await
        })
    });
    for start in starts.collect::<Vec<_>>() {
        start.await.unwrap().unwrap();
    }
    let runs = place.store().await.runs(&RunQuery::all(100)).await.unwrap();
    assert_eq!(runs.len(), 12);
    let sql = format!("SELECT version FROM \"{}\".runstate_schema", place.schema);
    let versions = place.client().await.query(&sql, &[]).await.unwrap();
    assert_eq!(
        versions.iter().map(|row| row.get::<_, i32>(0)).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    );
}

#[tokio::test]
async fn tables_of_a_later_version_are_refused() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    drop(place.store().await);
    let sql = format!("INSERT INTO \"{}\".runstate_schema (version) VALUES (11)", place.schema);
    place.client().await.execute(&sql, &[]).await.unwrap();
    let refused = PostgresStore::connect(place.options()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unusable { .. }));
    assert_eq!(
        refused.to_string(),
        format!(
            "the schema {:?} is of version 11, and this program knows those up to 10; use a version of this program that is \
             as new as the one that was here, or name another schema",
            place.schema
        ),
    );
}

#[tokio::test]
async fn a_schema_of_something_else_is_refused_and_left_as_it_is() {
    let Some(server) = cluster::shared() else { return };
    let client = Place::on(server).client().await;
    for tables in ["CREATE TABLE {}.runs (id int)", "CREATE TABLE {}.runstate_schema (other int)"] {
        let place = Place::on(server);
        let schema = format!("\"{}\"", place.schema);
        client.batch_execute(&format!("CREATE SCHEMA {schema}")).await.unwrap();
        client.batch_execute(&tables.replace("{}", &schema)).await.unwrap();
        let refused = PostgresStore::connect(place.options()).await.unwrap_err();
        assert!(
            refused.to_string().contains("has tables of something else; name another schema"),
            "{refused}"
        );
        let sql = "SELECT count(*) FROM pg_tables WHERE schemaname = $1";
        let row = client.query_one(sql, &[&place.schema]).await.unwrap();
        assert_eq!(row.get::<_, i64>(0), 1);
    }
}

#[tokio::test]
async fn an_empty_schema_may_be_there_and_any_name_is_one() {
    let Some(server) = cluster::shared() else { return };
    let client = Place::on(server).client().await;
    client.batch_execute("CREATE SCHEMA \"an empty one\"").await.unwrap();
    let mut seen = BTreeSet::new();
    for schema in ["an empty one", "Mixed Case-1", "ÄÖÜ"] {
        let place = Place { schema: schema.to_owned(), ..Place::on(server) };
        let store = place.store().await;
        store.create(&NewRun::new("r1", serde_json::json!(schema), 0)).await.unwrap();
        store.changed_since(0, Duration::from_millis(1)).await.unwrap();
        seen.insert(store.load("r1").await.unwrap().spec.to_string());
    }
    assert_eq!(seen.len(), 3, "each has its own run of one id");
}

#[tokio::test]
async fn tables_that_were_taken_away_are_told() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    let sql = format!("DROP SCHEMA \"{}\" CASCADE", place.schema);
    place.client().await.batch_execute(&sql).await.unwrap();
    let told = store.runs(&RunQuery::all(1)).await.unwrap_err();
    assert!(matches!(told, StoreError::Unusable { .. }), "{told:?}");
    assert!(told.to_string().contains("does not exist"), "{told}");
}

#[tokio::test]
async fn a_database_that_is_not_in_utf_8_is_refused() {
    let Some(server) = cluster::shared() else { return };
    let client = Place::on(server).client().await;
    let sql = "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0";
    client.batch_execute(sql).await.unwrap();
    let options = server.url("latin").parse().unwrap();
    let refused = PostgresStore::connect(options).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the database has the encoding LATIN1, which has no place for most characters; create one with ENCODING 'UTF8'",
    );
}

/// Tables of version 1 with a run in them, in a place of its own.
async fn first(place: &Place) {
    let schema = format!("\"{}\"", place.schema);
    let first = include_str!("../src/schema/v1.sql").replace("{schema}", &schema);
    let made = format!(
        "CREATE SCHEMA {schema};
         CREATE TABLE {schema}.runstate_schema (version integer PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT now());
         {first};
         INSERT INTO {schema}.runstate_schema (version) VALUES (1);
         INSERT INTO {schema}.runs (id, title, spec, fence, created_at, changed_at) VALUES ('r1', 't', '7', 7, 1, 1);"
    );
    place.client().await.batch_execute(&made).await.unwrap();
}

/// What was made by the first version is brought up to date with what is in it.
#[tokio::test]
async fn tables_of_version_1_are_migrated_with_what_is_in_them() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    first(&place).await;
    let store = place.store().await;
    assert_eq!(store.load("r1").await.unwrap().spec, 7);
    assert_eq!(store.claim(&Claim::of("r1", "w", Duration::ZERO)).await.unwrap().unwrap().fence, 8);
    assert!(store.remove("r1").await.unwrap());
    let again = store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await;
    assert!(matches!(again, Err(StoreError::Taken { .. })), "{again:?}");
    let versions = format!("SELECT max(version) FROM \"{}\".runstate_schema", place.schema);
    assert_eq!(place.client().await.query_one(&versions, &[]).await.unwrap().get::<_, i32>(0), 10);
}

/// Takes the tables back to the version before the last one, which added tables and functions of service runs alone.
async fn version_9(place: &Place) {
    let (client, schema) = (place.client().await, format!("\"{}\"", place.schema));
    let functions =
        "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = $1 AND p.proname LIKE '%\\_service\\_run'";
    for row in client.query(functions, &[&place.schema]).await.unwrap() {
        client.batch_execute(&format!("DROP FUNCTION {}", row.get::<_, String>(0))).await.unwrap();
    }
    let tables =
        "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'service\\_%'";
    let tables = client.query(tables, &[&place.schema]).await.unwrap();
    assert_eq!(tables.len(), 10);
    for row in tables {
        let drop = format!("DROP TABLE {schema}.{} CASCADE", row.get::<_, String>(0));
        client.batch_execute(&drop).await.unwrap();
    }
    let back = format!("DELETE FROM {schema}.runstate_schema WHERE version = 10");
    client.batch_execute(&back).await.unwrap();
}

/// A database as the version before left it.
#[tokio::test]
async fn waiting_run_of_the_version_before_continues() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let asks =
        Turn { calls: vec![CallRequest::new("c0", "ask", serde_json::Value::Null)], ..Turn::default() };
    let mut played = Played::new("r1", &[asks]).await;
    let store = place.store().await;
    store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    let lease = store.claim(&Claim::of("r1", "before", Duration::ZERO)).await.unwrap().unwrap();
    for commit in played.commits() {
        store.commit(&lease, commit).await.unwrap();
    }
    let before = store.load("r1").await.unwrap();
    drop(store);
    version_9(&place).await;

    let store = place.store().await;
    let mut loaded = store.load("r1").await.unwrap();
    loaded.info.holder.clone_from(&before.info.holder);
    assert_eq!(loaded, before, "the run of the version before");
    let open = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 10)).await.unwrap();
    let mut yes = Decision::new("d0", &*open[0].suspension.id, DecisionAction::Resume);
    (yes.run_id, yes.call) = ("r1".to_owned(), open[0].call.clone());
    assert_eq!(store.post(&yes).await.unwrap(), Posted::Accepted);
    let lease = store.claim(&Claim::any("now", Duration::from_secs(60))).await.unwrap().unwrap();
    let made = played.resume(&[yes]).await;
    for number in made.clone() {
        let commit = played.commits().nth(number).unwrap();
        match number + 1 == made.end {
            true => store.commit_and_release(&lease, commit).await.unwrap(),
            false => store.commit(&lease, commit).await.unwrap(),
        }
    }
    let after = store.load("r1").await.unwrap().info;
    assert_eq!((after.status, after.holder), (RunStatus::Done, None));
    #[cfg(feature = "service")]
    {
        use runstate_service::ServiceStore;
        crate::services::create(&store, "r1").await;
        assert_eq!(ServiceStore::load(&store, "r1").await.unwrap().intent, "send 5");
    }
}

/// Of very many rows that is so; here somebody else holds it up.
#[tokio::test]
async fn a_migration_may_take_longer_than_patience() {
    const PATIENCE: Duration = Duration::from_secs(2);
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    first(&place).await;
    let client = place.client().await;
    let lock = format!("BEGIN; LOCK TABLE \"{}\".runs IN ACCESS SHARE MODE", place.schema);
    client.batch_execute(&lock).await.unwrap();
    let options = place.options().patience(PATIENCE);
    let connected = tokio::spawn(async move {
        // On a busy machine patience may be too short to connect, now and then.
        loop {
            match PostgresStore::connect(options.clone()).await {
                Err(StoreError::Unavailable(_)) => {}
                connected => return connected,
            }
        }
    });
    let waits = "SELECT max(pid) FROM pg_locks WHERE NOT granted AND relation = $1::text::regclass";
    let runs = format!("\"{}\".runs", place.schema);
    let migrates = async || client.query_one(waits, &[&runs]).await.unwrap().get::<_, Option<i32>>(0);
    let begun = soon(async {
        loop {
            if let Some(pid) = migrates().await {
                break pid;
            }
            assert!(!connected.is_finished(), "it did not wait");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    tokio::time::sleep(PATIENCE + Duration::from_millis(500)).await;
    assert_eq!(migrates().await, Some(begun), "the same connection still waits for its turn");
    client.batch_execute("ROLLBACK").await.unwrap();
    soon(connected).await.unwrap().unwrap();
    assert_eq!(place.store().await.load("r1").await.unwrap().spec, 7);
}
