//! Files of threads that were put back from an older copy, or taken away.

use std::fs;
use std::time::Duration;

use runstate_store::{Claim, NewRun, Release, StoreError};
use runstate_store_conformance::{Bench, Played};
use serde_json::json;

use super::Folder;

/// Each run says which one is behind it, so that the thread has one end.
#[tokio::test]
async fn a_lost_file_of_a_thread_makes_no_second_end() {
    let folder = Folder::new();
    let store = folder.store().await;
    store.create(&NewRun::new("r1", json!(null), 0)).await.unwrap();
    let claim = Claim::of("r1", "me", Duration::from_secs(60));
    let lease = store.claim(&claim).await.unwrap().unwrap();
    for commit in Played::new("r1", &[]).await.commits() {
        store.commit(&lease, commit).await.unwrap();
    }
    store.release(&lease, &Release::clean()).await.unwrap();
    let second = NewRun::new("r2", json!(null), 0).following("r1", Some("r1".to_owned()));
    store.create(&second).await.unwrap();
    let threads = folder.join("threads");
    let file = fs::read_dir(&threads).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|of| of == "json")).unwrap();
    for content in [Some(r#"{"thread":"r1","runs":["r1"]}"#), Some(r#"{"thread":"r1","runs":[]}"#), None] {
        match content {
            Some(content) => fs::write(&file, content).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        assert_eq!(store.last_of_thread("r1").await.unwrap().as_deref(), Some("r2"), "{content:?}");
        let new = NewRun::new("r3", json!(null), 0).following("r1", Some("r1".to_owned()));
        let refused = store.create(&new).await;
        assert!(
            matches!(&refused, Err(StoreError::Busy { run, .. }) if run == "r2"),
            "{content:?}: {refused:?}"
        );
        let refused = store.remove("r1").await;
        assert!(
            matches!(&refused, Err(StoreError::Continued { by, .. }) if by == "r2"),
            "{content:?}: {refused:?}"
        );
    }
}
