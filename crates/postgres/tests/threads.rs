//! Messages that come while a commit of the run is under way, on another connection.

use runstate_store::{ApprovalFilter, ApprovalQuery, RunData, RunLists, StoreError};

use crate::cluster::{self, Place};
use crate::creates::until_waiting;
use crate::runs::{More, waiting};

/// A commit that waits for the transaction of a message sees the message.
#[tokio::test]
async fn a_commit_behind_a_message_under_way_is_refused() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    let (lease, _) = waiting(&store, "r1", 1).await;
    let (mut other, look) = (place.client().await, place.client().await);
    let sending = other.transaction().await.unwrap();
    let message = r#"{"id":"m1","text":"more","at_ms":0}"#;
    let supersede = format!("SELECT outcome FROM \"{}\".supersede('r1', 'm1', '{message}')", place.schema);
    assert_eq!(sending.query_one(&supersede, &[]).await.unwrap().get::<_, &str>(0), "accepted");
    let mut more = More::of("r1", 1).await;
    let next = more.next();
    let (committed, ()) = tokio::join!(store.commit(&lease, next), async {
        until_waiting(&look, &place.schema, 1).await;
        sending.commit().await.unwrap();
    });
    assert!(
        matches!(&committed, Err(StoreError::Superseded { message, .. }) if message == "m1"),
        "{committed:?}"
    );
    assert!(store.pending_signals("r1").await.unwrap().message.is_some());
}

/// The last commit is given again, and waits for the transaction of a message: its questions stay closed.
#[tokio::test]
async fn a_repeated_commit_behind_a_message_keeps_it() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    let (lease, _) = waiting(&store, "r1", 1).await;
    let mut again = crate::runs::commits("r1", 1).await.pop().unwrap();
    again.again = true;
    let (mut other, look) = (place.client().await, place.client().await);
    let sending = other.transaction().await.unwrap();
    let message = r#"{"id":"m1","text":"more","at_ms":0}"#;
    let supersede = format!("SELECT outcome FROM \"{}\".supersede('r1', 'm1', '{message}')", place.schema);
    sending.query_one(&supersede, &[]).await.unwrap();
    let (committed, ()) = tokio::join!(store.commit(&lease, &again), async {
        until_waiting(&look, &place.schema, 1).await;
        sending.commit().await.unwrap();
    });
    committed.unwrap();
    assert!(store.pending_signals("r1").await.unwrap().message.is_some());
    let open = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 10)).await.unwrap();
    assert_eq!(open, [], "its questions");
}
