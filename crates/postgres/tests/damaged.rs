//! Rows that another program wrote.

use std::sync::Arc;
use std::time::Duration;

use runstate_store::{
    ApprovalFilter, ApprovalQuery, ChangeCursor, Claim, NewRun, Release, RunData, RunQuery, RunQueue,
    RunStore, StoreError,
};
use serde_json::json;

use crate::cluster::{self, Place};
use crate::runs::{More, drive, waiting};

async fn runs(store: &dyn RunStore, size: usize) -> Vec<String> {
    let mut query = RunQuery::all(size);
    let mut seen = Vec::new();
    loop {
        let page = store.runs(&query).await.unwrap();
        seen.extend(page.iter().map(|run| run.id.clone()));
        match page.last() {
            Some(last) if page.len() == size => query = query.after(last),
            _ => return seen,
        }
    }
}

#[tokio::test]
async fn unreadable_run_row_hides_no_other_and_keeps_pages_full() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn RunStore> = Arc::new(place.store().await);
    for number in 0..9 {
        store.create(&NewRun::new(format!("r{number}"), json!(0), number)).await.unwrap();
    }
    let (client, schema) = (place.client().await, &place.schema);
    let spoil = format!(
        "ALTER TABLE \"{schema}\".runs DROP CONSTRAINT runs_status_check;
         UPDATE \"{schema}\".runs SET status = 'Bogus' WHERE id IN ('r8', 'r0');
         ALTER TABLE \"{schema}\".runs ALTER COLUMN title DROP NOT NULL;
         UPDATE \"{schema}\".runs SET title = NULL WHERE id = 'r6';
         UPDATE \"{schema}\".runs SET steps = -1 WHERE id = 'r5';
         UPDATE \"{schema}\".runs SET cancel = repeat('x', 67108865) WHERE id = 'r2'"
    );
    client.batch_execute(&spoil).await.unwrap();
    for size in [1, 2, 3, 20] {
        assert_eq!(runs(&*store, size).await, ["r7", "r4", "r3", "r1"], "pages of {size}");
    }
    let damaged = store.corrupt_entries().await.unwrap();
    let told: Vec<&str> = damaged.iter().map(|damage| &*damage.what).collect();
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(told[0].contains("runs.status"), "{told:?}");
    assert!(told[1].contains("cancel has more than 67108864 bytes"), "{told:?}");
    assert!(told[2].contains("runs.steps: -1"), "{told:?}");
    assert!(told[3].contains("title is NULL"), "{told:?}");
    for run in ["r0", "r2", "r5", "r6"] {
        let refused = store.load(run).await.unwrap_err();
        assert!(matches!(refused, StoreError::Unusable { .. }), "{run}: {refused:?}");
    }
    let mend = "UPDATE {schema}.runs SET status = 'Running', title = '', steps = 0, cancel = NULL";
    client.batch_execute(&mend.replace("{schema}", &format!("\"{schema}\""))).await.unwrap();
    assert_eq!(runs(&*store, 4).await.len(), 9);
    assert_eq!(store.corrupt_entries().await.unwrap(), []);
}

#[tokio::test]
async fn unreadable_approval_hides_no_other_and_blocks_no_expiry() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn RunStore> = Arc::new(place.store().await);
    for run in ["r1", "r2", "r3"] {
        drive(Arc::clone(&store), run, 3).await;
    }
    let (client, schema) = (place.client().await, &place.schema);
    let spoil = format!(
        "UPDATE \"{schema}\".approvals SET json = '{{' WHERE run_id = 'r1' AND call = 'call_0';
         UPDATE \"{schema}\".approvals SET arguments = repeat('[', 200) WHERE run_id = 'r2';
         UPDATE \"{schema}\".approvals SET expires_at = 1 WHERE run_id < 'r3'"
    );
    client.batch_execute(&spoil).await.unwrap();
    for size in [1, 2, 20] {
        let mut query = ApprovalQuery::new(ApprovalFilter::All, size);
        let mut seen = Vec::new();
        loop {
            let page = store.approvals(&query).await.unwrap();
            seen.extend(page.iter().map(|open| format!("{} {}", open.run, open.call)));
            match page.last() {
                Some(last) if page.len() == size => query = query.after(last),
                _ => break,
            }
        }
        assert_eq!(
            seen,
            ["r1 call_1", "r1 call_2", "r3 call_0", "r3 call_1", "r3 call_2"],
            "pages of {size}"
        );
    }
    let about = ApprovalFilter::Call("call_0".to_owned());
    assert_eq!(store.approvals(&ApprovalQuery::new(about, 1)).await.unwrap()[0].run, "r3");
    let due = store.due(3).await.unwrap();
    let due: Vec<String> = due.iter().map(|timer| format!("{} {}", timer.run, timer.call)).collect();
    assert_eq!(due, ["r1 call_1", "r1 call_2", "r2 call_0"], "a lapse asks for no arguments");
    assert!(!store.corrupt_entries().await.unwrap().is_empty());
}

/// Nothing is accepted that could not be read again: the run would neither go on nor end.
#[tokio::test]
async fn a_value_that_could_not_be_read_again_is_not_written() {
    const MOST: usize = 64 << 20;
    let Some(server) = cluster::shared() else { return };
    let store = Place::on(server).store().await;
    let of = |bytes: usize| serde_json::Value::from("x".repeat(bytes));
    store.create(&NewRun::new("most", of(MOST - 2), 0)).await.unwrap();
    assert_eq!(store.load("most").await.unwrap().spec.as_str().unwrap().len(), MOST - 2);
    let refused = store.create(&NewRun::new("more", of(MOST - 1), 0)).await.unwrap_err();
    assert!(matches!(refused, StoreError::TooLarge { .. }), "{refused:?}");
    assert!(refused.to_string().contains("runs.spec would have 67108865 bytes"), "{refused}");
    let (lease, _) = waiting(&store, "r1", 1).await;
    let before = store.load("r1").await.unwrap();
    let mut more = More::of("r1", 1).await;
    let mut commit = more.next().clone();
    commit.messages[0].json = format!("{}{}", " ".repeat(MOST), commit.messages[0].json);
    let refused = store.commit(&lease, &commit).await.unwrap_err();
    assert!(matches!(refused, StoreError::TooLarge { .. }), "{refused:?}");
    assert!(refused.to_string().contains("messages.json would have "), "{refused}");
    assert_eq!(store.load("r1").await.unwrap(), before);
    assert!(store.cancel("r1", &"x".repeat(MOST + 1)).await.is_err());
    store.release(&lease, &Release::retry_after(Duration::ZERO, "é".repeat(MOST))).await.unwrap();
    let problem = store.load("r1").await.unwrap().info.problem.unwrap();
    assert_eq!(problem.len(), 1 << 20, "a release is never refused");
    assert!(store.claim(&Claim::any("x".repeat(MOST + 1), Duration::ZERO)).await.is_err());
    assert!(store.cancel("r1", "enough").await.unwrap());
}

#[tokio::test]
async fn a_number_or_an_id_in_a_row_ends_no_worker() {
    let Some(server) = cluster::shared() else { return };
    for spoilt in [
        "lost = -5",
        "lost = 9223372036854775807",
        "fence = -9223372036854775807",
        "long_id = repeat('x', 67108865)",
    ] {
        let place = Place::on(server);
        let store: Arc<dyn RunStore> = Arc::new(place.store().await);
        for run in ["r1", "r2"] {
            store.create(&NewRun::new(run, json!(0), 1)).await.unwrap();
        }
        let spoil = format!("UPDATE \"{}\".runs SET {spoilt} WHERE id = 'r1'", place.schema);
        place.client().await.batch_execute(&spoil).await.unwrap();
        let claim = Claim::any("w", Duration::from_secs(900));
        let mut claimed = Vec::new();
        while let Some(lease) = store.claim(&claim).await.unwrap() {
            store.renew(&lease, Duration::from_secs(900)).await.unwrap();
            claimed.push(lease.run);
        }
        let is_unnamed = spoilt.starts_with("long_id");
        assert_eq!(claimed, if is_unnamed { &["r2"][..] } else { &["r1", "r2"] }, "{spoilt}");
        let listed = runs(&*store, 9).await;
        assert_eq!(
            listed,
            if is_unnamed { &["r2"][..] } else { &["r2", "r1"] },
            "{spoilt}: a claim mends a number"
        );
    }
}

/// Values that this program writes in no column.
const HOSTILE_TEXTS: [&str; 9] = [
    "''",
    "'\\'",
    "repeat('[', 200)",
    "'{\"a\":1}'",
    "'null'",
    "'..'",
    "E'\\u009b\\u202e\\n'",
    "repeat('x', 100000)",
    "NULL",
];
const HOSTILE_NUMBERS: [&str; 5] =
    ["-9223372036854775808", "-1", "9223372036854775807", "4611686018427387904", "NULL"];

/// All that a store is asked for, about one run and about all.
async fn asked(store: &dyn RunStore) {
    if let Ok(loaded) = store.load("r1").await
        && let Some(stored) = loaded.stored
    {
        drop(stored.restore());
    }
    drop(store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 9)).await);
    drop(store.pending_signals("r1").await);
    drop(store.trace("r1", 0, 99).await);
    drop(store.events("r1", 0, 99).await);
    drop(store.changes(&ChangeCursor::default(), Duration::ZERO).await);
    drop(store.due(9).await);
    drop(store.corrupt_entries().await);
    for claim in [Claim::any("w", Duration::MAX), Claim::of("r1", "w", Duration::ZERO)] {
        if let Ok(Some(lease)) = store.claim(&claim).await {
            drop(store.renew(&lease, Duration::MAX).await);
            drop(store.release(&lease, &Release::retry_after(Duration::MAX, "x")).await);
        }
    }
    drop(store.cancel("r1", "enough").await);
    drop(store.remove("r1").await);
}

/// Each column of a run in turn has each hostile value that its constraints take, and then without them.
#[tokio::test]
async fn hostile_column_value_breaks_no_reader_and_hides_no_other_run() {
    let Some(server) = cluster::shared() else { return };
    let place = Place::on(server);
    let store: Arc<dyn RunStore> = Arc::new(place.store().await);
    drive(Arc::clone(&store), "r1", 3).await;
    drive(Arc::clone(&store), "r2", 1).await;
    let (client, schema) = (place.client().await, &place.schema);
    let tables =
        ["runs", "messages", "calls", "approvals", "decisions", "state", "trace", "events", "changes"];
    let columns = client
        .query(
            "SELECT c.table_name::text, c.column_name::text, c.data_type::text FROM information_schema.columns c \
             WHERE c.table_schema = $1 AND c.table_name = ANY($2) AND c.data_type IN ('text', 'bigint', 'xid8') ORDER BY 1, 2",
            &[schema, &&tables[..]],
        )
        .await
        .unwrap();
    let keep: String = tables
        .iter()
        .map(|table| format!("CREATE TABLE \"{schema}\".kept_{table} AS TABLE \"{schema}\".{table};"))
        .collect();
    // As a writer of the store that is a superuser may: without its constraints and triggers.
    let back: String = tables
        .iter()
        .map(|table| {
            format!(
                "DELETE FROM \"{schema}\".{table}; \
                 INSERT INTO \"{schema}\".{table} OVERRIDING SYSTEM VALUE SELECT * FROM \"{schema}\".kept_{table};"
            )
        })
        .collect();
    client.batch_execute(&keep).await.unwrap();
    client.batch_execute("SET session_replication_role = replica").await.unwrap();
    let mut written = 0;
    for column in &columns {
        let (table, name, kind): (String, String, String) = (column.get(0), column.get(1), column.get(2));
        let values: &[&str] = match &*kind {
            "text" => &HOSTILE_TEXTS,
            "xid8" => &[
                "'0'::xid8",
                "'1'::xid8",
                "'9223372036854775808'::xid8",
                "'18446744073709551615'::xid8",
                "NULL",
            ],
            _ => &HOSTILE_NUMBERS,
        };
        // The id of the first run is how it is found again.
        let of_r1 = match &*table {
            "runs" => "id = 'r1'".to_owned(),
            "approvals" => "run_id = 'r1'".to_owned(),
            _ => format!("run = (SELECT no FROM \"{schema}\".runs WHERE id = 'r1')"),
        };
        for value in values {
            let update = format!("UPDATE \"{schema}\".{table} SET \"{name}\" = {value} WHERE {of_r1}");
            let Ok(_) = client.batch_execute(&update).await else { continue };
            written += 1;
            // A list that begins anew behind each page has no end.
            let listed = tokio::time::timeout(Duration::from_secs(30), runs(&*store, 2)).await;
            let listed = listed.unwrap_or_default();
            assert!(listed.contains(&"r2".to_owned()), "{table}.{name} = {value}: {listed:?}");
            let all = asked(&*store);
            let all = tokio::time::timeout(Duration::from_secs(30), all).await;
            assert!(all.is_ok(), "{table}.{name} = {value}");
            let changes = store.changes(&ChangeCursor::default(), Duration::ZERO).await.unwrap();
            assert!(changes.runs.iter().any(|(run, _)| run == "r2"), "{table}.{name} = {value}: {changes:?}");
            store.load("r2").await.unwrap().stored.unwrap().restore().unwrap();
            client.batch_execute(&back).await.unwrap();
        }
    }
    assert!(written > 150, "{written} of {} columns", columns.len());
}
