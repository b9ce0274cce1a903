//! What the server refuses, and what of it is tried again.

use std::time::Duration;

use runstate_postgres::{PostgresOptions, PostgresStore};
use runstate_store::{NewRun, RunData, RunLists, RunQuery, StoreError};

use crate::cluster::{self, Place, soon};
use crate::runs::{More, waiting};

#[tokio::test]
async fn a_row_that_is_there_is_not_written_over() {
    let Some(server) = cluster::shared() else { return };
    let store = Place::on(server).store().await;
    let (lease, _) = waiting(&store, "r1", 1).await;
    let before = store.load("r1").await.unwrap();
    let mut commit = More::of("r1", 1).await.next().clone();
    commit.messages[0].seq = 1;
    let refused = store.commit(&lease, &commit).await.unwrap_err();
    assert!(matches!(refused, StoreError::Failed(_)), "{refused:?}");
    let told = "the rule messages_pkey of the table messages does not allow it";
    assert!(refused.to_string().contains(told), "{refused}");
    assert!(refused.to_string().ends_with("; nothing was written"), "{refused}");
    assert_eq!(store.load("r1").await.unwrap(), before);
}

/// Fails as many updates of runs as that, as a transaction does that another one undid.
fn failing(schema: &str, times: u32) -> String {
    format!(
        "CREATE SEQUENCE \"{schema}\".failed;
        CREATE FUNCTION \"{schema}\".fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('\"{schema}\".failed') <= {times} THEN
                RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001';
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER fail BEFORE UPDATE ON \"{schema}\".runs FOR EACH ROW EXECUTE FUNCTION \"{schema}\".fail()"
    )
}

#[tokio::test]
async fn commit_is_retried_after_a_serialization_failure() {
    let Some(server) = cluster::shared() else { return };
    for (times, is_made) in [(3, true), (1_000, false)] {
        let place = Place::on(server);
        let store = place.store().await;
        let (lease, _) = waiting(&store, "r1", 1).await;
        let before = store.load("r1").await.unwrap().info.version;
        place.client().await.batch_execute(&failing(&place.schema, times)).await.unwrap();
        let made = store.commit(&lease, More::of("r1", 1).await.next()).await;
        let version = store.load("r1").await.unwrap().info.version;
        if is_made {
            made.unwrap();
            assert_eq!(version, before + 1);
        } else {
            assert!(matches!(made, Err(StoreError::Unavailable(_))), "{made:?}");
            assert_eq!(version, before);
        }
    }
}

#[tokio::test]
async fn unresponsive_server_is_waited_for_only_within_patience() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let direct = place.store().await;
    let (lease, _) = waiting(&direct, "r1", 1).await;
    let options = || place.options().patience(Duration::from_millis(500)).connections(1);
    // On a busy machine that is too short to connect, now and then.
    let store = soon(async {
        loop {
            if let Ok(store) = PostgresStore::connect(options()).await {
                break store;
            }
        }
    })
    .await;
    let mut commit = More::of("r1", 1).await.next().clone();
    let client = place.client().await;
    let lock = format!("BEGIN; SELECT FROM \"{}\".runs FOR UPDATE", place.schema);
    client.batch_execute(&lock).await.unwrap();
    let late = store.commit(&lease, &commit).await.unwrap_err();
    assert!(matches!(late, StoreError::Unavailable(_)), "{late:?}");
    assert_eq!(late.to_string(), "the store cannot be reached now: the server did not answer within 500ms");
    // By another connection, which may take longer than that as well.
    let loaded = soon(async {
        loop {
            match store.load("r1").await {
                Err(StoreError::Unavailable(_)) => {}
                loaded => break loaded.unwrap(),
            }
        }
    })
    .await;
    assert_eq!(loaded.info.version + 1, commit.version);

    // The server may still make the late one: given again, it is there once in any case.
    client.batch_execute("ROLLBACK").await.unwrap();
    commit.again = true;
    soon(async {
        while let Err(error) = store.commit(&lease, &commit).await {
            assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        }
    })
    .await;
    let loaded = direct.load("r1").await.unwrap();
    assert_eq!((loaded.info.version, loaded.messages), (commit.version, commit.messages[0].seq));
}

#[tokio::test]
async fn a_server_that_may_not_be_written_is_told() {
    let Some(server) = cluster::shared() else { return };
    let client = Place::on(server).client().await;
    client.batch_execute("CREATE DATABASE kept").await.unwrap();
    let url = server.url("kept");
    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    client.batch_execute("ALTER DATABASE kept SET default_transaction_read_only = on").await.unwrap();
    let refused = PostgresStore::connect(url.parse().unwrap()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    assert!(refused.to_string().contains("does not allow writes"), "{refused}");
    // A session from before goes on.
    assert_eq!(store.runs(&RunQuery::all(2)).await.unwrap().len(), 1);
}

/// As after a change of roles that leaves the old server up: what was connected to it is not used again.
#[tokio::test]
async fn a_connection_that_takes_no_more_writes_is_given_up() {
    let Some(server) = cluster::own(&[]) else { return };
    let options = server.url("postgres").parse::<PostgresOptions>().unwrap().connections(1);
    let store = PostgresStore::connect(options).await.unwrap();
    let client = Place::on(&server).client().await;
    let connected = async || {
        let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'runstate'";
        client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect::<Vec<i32>>()
    };
    let create = async |run: &str| store.create(&NewRun::new(run, serde_json::Value::Null, 0)).await;
    create("r1").await.unwrap();
    let before = connected().await;
    let set = async |to: &str| {
        client
            .batch_execute(&format!("ALTER SYSTEM SET default_transaction_read_only = {to}"))
            .await
            .unwrap();
        client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    };
    set("on").await;
    // The servers' processes read it when they come to it: before the one request or before the other.
    let there_and_gone = async || {
        create("r2").await?;
        store.remove("r2").await.map(|gone| assert!(gone))
    };
    let refused = soon(async {
        loop {
            if let Err(refused) = there_and_gone().await {
                break refused;
            }
        }
    })
    .await;
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    set("off").await;
    soon(async {
        while let Err(refused) = create("r3").await {
            assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
        }
    })
    .await;
    // The server's process of a connection that is closed ends when it comes to that.
    let is_gone = async || connected().await.iter().all(|pid| !before.contains(pid));
    soon(async {
        while !is_gone().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn refused_connection_reports_the_reason() {
    let Some(server) = cluster::shared() else { return };
    for (url, why) in [
        (server.url("nowhere"), "database \"nowhere\" does not exist"),
        (server.url("postgres").replace("postgres@", "nobody@"), "role \"nobody\" does not exist"),
    ] {
        let refused = PostgresStore::connect(url.parse().unwrap()).await.unwrap_err();
        assert!(matches!(refused, StoreError::Failed(_)), "{refused:?}");
        assert!(refused.to_string().contains(why), "{refused}");
    }
}
