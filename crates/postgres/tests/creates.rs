//! A run that is created while one of its id comes or goes, on another connection.

use std::time::Duration;

use runstate_store::{NewRun, RunData, RunLists, StoreError};
use serde_json::Value;
use tokio_postgres::Client;

use crate::cluster::{self, Place, soon};

/// Waits until so many statements of that database wait for others.
pub(crate) async fn until_waiting(client: &Client, schema: &str, count: i64) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%\"' || $1 || '\"%'";
    soon(async {
        while client.query_one(sql, &[&schema]).await.unwrap().get::<_, i64>(0) < count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// A removal that was not committed yet when the creation began counts.
#[tokio::test]
async fn creation_during_a_pending_removal_does_not_reuse_the_run_id() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    store.create(&NewRun::new("r1", Value::Null, 0)).await.unwrap();
    let (mut other, look) = (place.client().await, place.client().await);
    let removing = other.transaction().await.unwrap();
    let remove = format!("SELECT outcome FROM \"{}\".remove_run('r1', 9)", place.schema);
    assert_eq!(removing.query_one(&remove, &[]).await.unwrap().get::<_, &str>(0), "removed");
    let new = NewRun::new("r1", Value::Null, 9);
    let (created, ()) = tokio::join!(store.create(&new), async {
        until_waiting(&look, &place.schema, 1).await;
        removing.commit().await.unwrap();
    });
    assert!(matches!(created, Err(StoreError::Taken { .. })), "{created:?}");
    assert!(matches!(store.load("r1").await, Err(StoreError::NoRun { .. })));
}

#[tokio::test]
async fn abandoned_creation_does_not_survive_a_later_removal() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    let (mut other, look) = (place.client().await, place.client().await);
    // Another one of that id is being created, and is not in the end.
    let creating = other.transaction().await.unwrap();
    let create = format!("SELECT made FROM \"{}\".create_run('r1', NULL, '', '1', 0, NULL)", place.schema);
    assert!(creating.query_one(&create, &[]).await.unwrap().get::<_, bool>(0));
    {
        let new = NewRun::new("r1", Value::Null, 0);
        tokio::select! {
            created = store.create(&new) => panic!("{created:?}"),
            () = until_waiting(&look, &place.schema, 1) => {}
        }
    }
    let (removed, ()) = tokio::join!(store.remove("r1"), async {
        // It has its chance to come first.
        tokio::time::sleep(Duration::from_millis(300)).await;
        creating.rollback().await.unwrap();
    });
    assert!(removed.unwrap(), "what was asked for first was made first");
    assert!(matches!(store.load("r1").await, Err(StoreError::NoRun { .. })));
}
