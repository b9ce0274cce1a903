//! What a person sees who looks into the folder of a run.

use runstate_runtime::files::{Disk, SimDisk};
use runstate_store::{NewRun, RunData, RunQueue};

use super::super::times::of;
use super::on;
use super::story::{Known, Story};

#[tokio::test]
async fn the_files_of_a_run_can_be_read() {
    let (story, disk) = (Story::new().await, SimDisk::new());
    let store = on(&disk);
    story.live(&store, &mut Known::default(), false).await.unwrap();
    let mut seen = String::new();
    for (path, content) in disk.files() {
        if ![".lock", "trace.jsonl", "events.jsonl"].iter().any(|end| path.ends_with(end)) {
            seen += &format!("== {path}\n{}", String::from_utf8(content).unwrap());
        }
    }
    insta::assert_snapshot!(seen);
}

/// What is given again is there already: it is not written a second time, where a reader of traces would stumble over it.
#[tokio::test]
async fn logs_have_what_is_given_again_once() {
    let (story, disk) = (Story::new().await, SimDisk::new());
    let store = on(&disk);
    store.create(&NewRun::new("r1", serde_json::json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    for commit in &story.commits {
        store.commit(&lease, commit).await.unwrap();
        let mut again = commit.clone();
        again.again = true;
        store.commit(&lease, &again).await.unwrap();
    }
    let trace = disk.read(&store.folder_of("r1").join("trace.jsonl"), u64::MAX).unwrap();
    let lines = std::str::from_utf8(&trace).unwrap().lines();
    assert!(lines.eq(story.trace.iter().map(|row| &*row.json)));
}
