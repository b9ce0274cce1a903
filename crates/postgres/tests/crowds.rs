//! Many at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use runstate_store::{Posted, RunData};

use crate::cluster::{self, Place};
use crate::runs::{decision, waiting};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_deciders_get_one_accepted_decision_per_call() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store = place.store().await;
    let mut approvals = Vec::new();
    for run in 0..10 {
        approvals.extend(waiting(&store, &format!("r{run}"), 20).await.1);
    }
    assert_eq!(approvals.len(), 200);
    let approvals = Arc::new(approvals);

    let clients = (0..16).map(|client| {
        let (approvals, options) = (Arc::clone(&approvals), place.options().connections(2));
        tokio::spawn(async move {
            let store = runstate_postgres::PostgresStore::connect(options).await.unwrap();
            let mut accepted = Vec::new();
            // Each begins elsewhere, and all meet.
            for at in 0..200 {
                let approval = &approvals[(at + client * 3) % 200];
                let id = format!("{client} on {}", approval.suspension.id);
                match store.post(&decision(&id, approval)).await.unwrap() {
                    Posted::Accepted => accepted.push((approval.suspension.id.clone(), id)),
                    Posted::Conflict => {}
                    other => panic!("{other:?}"),
                }
            }
            accepted
        })
    });
    let mut accepted = BTreeMap::new();
    for client in clients.collect::<Vec<_>>() {
        for (suspension, id) in client.await.unwrap() {
            assert_eq!(accepted.insert(suspension, id), None, "two were told that theirs counts");
        }
    }
    assert_eq!(accepted.len(), 200);

    let mut kept = BTreeMap::new();
    for run in approvals.iter().map(|approval| &approval.run).collect::<BTreeSet<_>>() {
        let mail = store.pending_signals(run).await.unwrap();
        kept.extend(mail.decisions.into_iter().map(|kept| (kept.suspension_id, kept.decision_id)));
    }
    assert_eq!(kept, accepted);
}
