//! Files of a run at their limit, and above it.

use std::path::Path;

use runstate::run::RunStatus;
use runstate_runtime::files::{Disk, Open, SimDisk};
use runstate_store::{FileStore, NewRun, Release, RunData, RunLists, RunQueue, StoreError, TraceRow};
use runstate_store_conformance::Played;
use serde_json::json;

use super::super::times::{any, of};
use super::on;

const MOST: usize = 64 << 20;

fn unusable(error: StoreError) -> String {
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    error.to_string()
}

fn too_large(error: StoreError) -> String {
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn a_specification_has_64_mib_and_no_more() {
    let store = on(&SimDisk::new());
    // Two quotes and a line feed.
    let of = |bytes: usize| json!("x".repeat(bytes - 3));
    store.create(&NewRun::new("most", of(MOST), 0)).await.unwrap();
    assert_eq!(store.load("most").await.unwrap().spec.as_str().unwrap().len(), MOST - 3);
    let refused = too_large(store.create(&NewRun::new("more", of(MOST + 1), 0)).await.unwrap_err());
    assert!(
        refused.contains("it would have 67108865 bytes, and a file of a run has at most 67108864"),
        "{refused}"
    );
    assert!(matches!(store.load("more").await, Err(StoreError::NoRun { .. })));
}

/// One that was committed can be read, and a run with a full log can be ended.
#[tokio::test]
async fn a_log_has_64_mib_and_no_more() {
    let disk = SimDisk::new();
    let store = on(&disk);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let played = Played::new("r1", &[]).await;
    let mut commits: Vec<_> = played.commits().cloned().collect();
    let last = commits.len() - 1;
    assert_eq!(commits[last].run.status, RunStatus::Done);
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    let row = |bytes: usize| {
        // With its line feed.
        let empty = json!({ "seq": 1, "x": "" }).to_string().len() + 1;
        vec![TraceRow { seq: 1, json: json!({ "seq": 1, "x": "x".repeat(bytes - empty) }).to_string() }]
    };
    commits[0].trace = row(MOST + 1);
    let refused = too_large(store.commit(&lease, &commits[0]).await.unwrap_err());
    assert!(refused.contains("trace.jsonl: it would have 67108865 bytes"), "{refused}");
    commits[0].trace = row(MOST);
    // They are in the log, and not in the state.
    store.commit(&lease, &commits[0]).await.unwrap();
    assert_eq!(store.trace("r1", 0, 9).await.unwrap().len(), 1);
    commits[last].version = 2;
    commits[last].trace = vec![TraceRow { seq: 2, json: json!({ "seq": 2 }).to_string() }];
    let mut going_on = commits[last].clone();
    going_on.run.status = RunStatus::Running;
    too_large(store.commit(&lease, &going_on).await.unwrap_err());
    store.commit(&lease, &commits[last]).await.unwrap();
    store.release(&lease, &Release::clean()).await.unwrap();
    assert_eq!(on(&disk).trace("r1", 0, 9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn commit_that_ends_a_run_leaves_a_log_of_at_most_65_mib() {
    let store = on(&SimDisk::new());
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let played = Played::new("r1", &[]).await;
    let mut commits: Vec<_> = played.commits().cloned().collect();
    let last = commits.len() - 1;
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    let row = |seq: u64, bytes: usize| {
        let of = |text: &str| json!({ "seq": seq, "x": text }).to_string();
        // With its line feed.
        vec![TraceRow { seq, json: of(&"x".repeat(bytes - of("").len() - 1)) }]
    };
    commits[0].trace = row(1, MOST);
    store.commit(&lease, &commits[0]).await.unwrap();
    commits[last].version = 2;
    commits[last].trace = row(2, (1 << 20) + 1);
    let refused = too_large(store.commit(&lease, &commits[last]).await.unwrap_err());
    assert!(refused.contains("trace.jsonl: it would have 68157441 bytes"), "{refused}");
    commits[last].trace = row(2, 1 << 20);
    store.commit(&lease, &commits[last]).await.unwrap();
    assert_eq!(store.trace("r1", 0, 9).await.unwrap().len(), 2);
}

/// 1 MiB more than is committed, for what ends a run.
#[tokio::test]
async fn a_state_of_65_mib_is_read_and_a_larger_one_is_not() {
    let disk = SimDisk::new();
    let store: FileStore = on(&disk);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let path = store.folder_of("r1").join("state.json");
    let state = disk.read(&path, 1_000_000).unwrap();
    let put = |path: &Path, bytes: usize| {
        let mut file = disk.open(path, Open::Write).unwrap();
        file.write(&[&*state, " ".repeat(bytes - state.len()).as_bytes()].concat()).unwrap();
    };
    put(&path, 65 << 20);
    assert_eq!(store.load("r1").await.unwrap().info.id, "r1");
    put(&path, (65 << 20) + 1);
    let refused = unusable(store.load("r1").await.unwrap_err());
    assert!(refused.contains("has 68157441 bytes, more than the 68157440"), "{refused}");
    assert_eq!(store.corrupt_entries().await.unwrap().len(), 1);
}

/// A version before a field refuses the runs that have it, and changes nothing.
#[tokio::test]
async fn a_field_of_a_later_version_is_refused_and_kept() {
    let disk = SimDisk::new();
    let store = on(&disk);
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let path = store.folder_of("r1").join("state.json");
    let state = String::from_utf8(disk.read(&path, 1_000_000).unwrap()).unwrap();
    let state = state.replacen("\"title\"", "\"later\": 1,\n  \"title\"", 1);
    disk.open(&path, Open::Write).unwrap().write(state.as_bytes()).unwrap();
    for refused in [
        store.load("r1").await.unwrap_err(),
        store.claim(&of("r1", "w", 0, 10)).await.unwrap_err(),
        store.cancel("r1", "enough").await.unwrap_err(),
    ] {
        let refused = unusable(refused);
        assert!(refused.contains("unknown field `later`") && refused.contains("a later one"), "{refused}");
    }
    assert_eq!(store.claim(&any("w", 0, 10)).await.unwrap(), None);
    assert_eq!(disk.read(&path, 1_000_000).unwrap(), state.as_bytes());
}
