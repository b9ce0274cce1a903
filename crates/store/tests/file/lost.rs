//! A run that has lost its state: nobody writes over what is left of it.

use std::path::Path;

use runstate_runtime::files::{Crash, Disk, SimDisk, Survives};
use runstate_store::{NewRun, RunData, RunLists, RunQuery, StoreError};
use serde_json::json;

use super::on;
use super::story::{Known, Story};

async fn lived() -> (Story, SimDisk, Known) {
    let (story, disk, mut known) = (Story::long().await, SimDisk::new(), Known::default());
    story.live(&on(&disk), &mut known, false).await.unwrap();
    (story, disk, known)
}

#[tokio::test]
async fn a_run_that_has_lost_its_state_is_not_created_anew() {
    let (story, disk, known) = lived().await;
    let store = on(&disk);
    let state = store.folder_of("r1").join("state.json");
    disk.rename(&state, Path::new("/state.json")).unwrap();
    let told = store.corrupt_entries().await.unwrap();
    let files = disk.files();
    let refused = store.create(&NewRun::new("r1", json!("another"), 9)).await;
    let Err(StoreError::Unusable { what, help }) = refused else { panic!("{refused:?}") };
    assert!(what.contains("state.json: it is not there, and messages or events of its run are"), "{what}");
    assert!(help.contains("backup"), "{help}");
    assert_eq!((&what, &help), (&told[0].what, &told[0].help), "lists say the same");
    assert_eq!(disk.files(), files);

    // Nobody knows what is in a log that cannot be read.
    let unread = disk.fork();
    for name in ["messages", "calls", "decisions", "trace", "events"] {
        unread.remove(&state.with_file_name(format!("{name}.jsonl"))).unwrap();
    }
    let log = state.with_file_name("trace.jsonl");
    unread.create_folder(&log).unwrap();
    let refused = on(&unread).create(&NewRun::new("r1", json!("another"), 9)).await;
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
    assert_eq!(on(&unread).corrupt_entries().await.unwrap().len(), 1);
    unread.remove_folder(&log).unwrap();
    // What has no rows was never driven.
    on(&unread).create(&NewRun::new("r1", json!("another"), 9)).await.unwrap();

    disk.rename(Path::new("/state.json"), &state).unwrap();
    story.judge(&store, &known).await;
}

/// A removal whose rest cannot be taken away, because a person has put a folder there, is in the way of no other run, and what is
/// left is never taken for a run that has lost its state.
#[tokio::test]
async fn unremovable_rest_of_a_removed_run_blocks_no_other_run() {
    let (_, disk, _) = lived().await;
    let folder = on(&disk).folder_of("r1");
    disk.create_folder(&folder.join("notes")).unwrap();
    // It was killed before the first row was taken away.
    let mut number = 0;
    let begun = loop {
        let disk = disk.fork();
        let store = on(&disk);
        disk.crash_at(Crash::After(disk.operations() + number));
        store.remove("r1").await.unwrap_err();
        disk.restart(Survives::Everything);
        if disk.read(&folder.join("state.json.removed"), u64::MAX).is_ok() {
            break disk;
        }
        number += 1;
    };
    assert!(!disk.read(&folder.join("trace.jsonl"), u64::MAX).unwrap().is_empty());
    let store = on(&begun);
    assert!(store.is_given("r1").await.unwrap());
    assert_eq!(store.corrupt_entries().await.unwrap(), []);
    store.create(&NewRun::new("r2", json!({ "model": "m" }), 5).titled("tidy up")).await.unwrap();
    assert_eq!(store.runs(&RunQuery::all(9)).await.unwrap().len(), 1);
    assert_eq!(store.corrupt_entries().await.unwrap(), []);
}
