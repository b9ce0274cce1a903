//! Disks that are full, files that may not be written, other processes that do not finish: what is not durable is not
//! acknowledged, and can be done again.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use runstate_sqlite::{Options, SqliteStore};
use runstate_store::{Claim, Commit, Lease, MemoryStore, NewRun, Release, RunData, RunStore, StoreError};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::child::polled;
use crate::drive::{Plot, commits, create};
use crate::skipped;

async fn claim(store: &dyn RunStore, run: &str) -> Lease {
    store.claim(&Claim::of(run, "me", Duration::MAX)).await.unwrap().unwrap()
}

/// Makes commits until one is refused: how many were made, and why no more.
async fn until_refused(store: &dyn RunStore, lease: &Lease, commits: &[Commit]) -> (usize, StoreError) {
    for (made, commit) in commits.iter().enumerate() {
        if let Err(error) = store.commit(lease, commit).await {
            return (made, error);
        }
    }
    panic!("{} commits found room", commits.len());
}

/// What the store of reference has after all of them.
async fn reference(commits: &[Commit]) -> String {
    let store: Arc<dyn RunStore> = Arc::new(MemoryStore::default());
    create(&store, "r1").await;
    let lease = claim(&*store, "r1").await;
    for commit in commits {
        store.commit(&lease, commit).await.unwrap();
    }
    format!("{:?}", store.load("r1").await.unwrap())
}

#[tokio::test]
async fn write_to_a_full_store_is_refused_and_can_be_retried() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let options = Options::default().largest(900 << 10);
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open_with(&path, options).unwrap());
    store.create(&NewRun::new("big", json!("x".repeat(600 << 10)), 0)).await.unwrap();
    full_and_again(&store, &path).await;
}

async fn full_and_again(store: &Arc<dyn RunStore>, path: &Path) {
    create(store, "r1").await;
    let all = commits(Plot::of(60, 2)).await;
    let lease = claim(&**store, "r1").await;
    let (made, error) = until_refused(&**store, &lease, &all).await;
    assert!(made > 3, "{made}");
    let told = error.to_string();
    assert!(matches!(error, StoreError::Failed(_)), "{error:?}");
    assert!(told.contains("runs.db") && told.contains("full") && told.contains("make room"), "{told}");

    // What was acknowledged is there, for whoever opens the file, and no more.
    let other = SqliteStore::open(path).unwrap();
    for store in [&**store, &other as &dyn RunStore] {
        assert_eq!(store.load("r1").await.unwrap().info.version, made as u64);
    }
    // It is full still.
    let refused = store.commit(&lease, &all[made]).await.unwrap_err();
    assert!(matches!(refused, StoreError::Failed(_)), "{refused:?}");
    // There is room again: the same commit, given again as one that may be there, and all that follow.
    assert!(store.remove("big").await.unwrap());
    let mut again = all[made].clone();
    again.again = true;
    store.commit(&lease, &again).await.unwrap();
    for commit in &all[made + 1..] {
        store.commit(&lease, commit).await.unwrap();
    }
    assert_eq!(format!("{:?}", other.load("r1").await.unwrap()), reference(&all).await);
}

/// Set where tests must be able to mount one.
const MOUNTS: &str = "RUNSTATE_REQUIRE_MOUNTS";

/// A file system of its own, where this user may mount one.
struct Mounted(PathBuf);

impl Mounted {
    fn tmpfs(at: &Path, size: &str) -> Option<Mounted> {
        fs::create_dir_all(at).unwrap();
        let size = format!("size={size}");
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output();
        mount.is_ok_and(|said| said.status.success()).then(|| Mounted(at.to_owned()))
    }

    fn read_only(&self) {
        // A process that another test is just starting has our files open for a moment.
        for _ in 0..100 {
            let said = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).output().unwrap();
            if said.status.success() {
                return;
            }
            assert!(String::from_utf8_lossy(&said.stderr).contains("busy"), "{said:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{} stays busy", self.0.display());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).output());
    }
}

#[tokio::test]
async fn a_full_disk_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Mounted::tmpfs(&folder.path().join("disk"), "1500k") else {
        return skipped(MOUNTS, "this user may not mount a file system");
    };
    let path = disk.0.join("runs.db");
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(&path).unwrap());
    let ballast = disk.0.join("ballast");
    fs::write(&ballast, vec![1; 900 << 10]).unwrap();
    create(&store, "r1").await;
    let all = commits(Plot::of(60, 2)).await;
    let lease = claim(&*store, "r1").await;
    let (made, error) = until_refused(&*store, &lease, &all).await;
    assert!(matches!(error, StoreError::Failed(_)), "{error:?}");
    assert!(error.to_string().contains("full"), "{error}");
    let other = SqliteStore::open(&path).unwrap();
    assert_eq!(other.load("r1").await.unwrap().info.version, made as u64);
    fs::remove_file(&ballast).unwrap();
    let mut left = all[made..].to_vec();
    left[0].again = true;
    // The log may need more than there is, before it is written back: so much as there is room for.
    let mut version = made;
    for commit in &left {
        match store.commit(&lease, commit).await {
            Ok(()) => version += 1,
            Err(error) => {
                assert!(error.to_string().contains("full"), "{error}");
                break;
            }
        }
    }
    assert!(version > made + 3, "{version} behind {made}");
    drop(store);
    assert_eq!(other.load("r1").await.unwrap().info.version, version as u64);
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk/runs.db");
    let disk = Mounted::tmpfs(&folder.path().join("disk"), "4m");
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(&path).unwrap());
    create(&store, "r1").await;
    drop(store);
    match &disk {
        Some(disk) => disk.read_only(),
        None => {
            let mut only = fs::metadata(&path).unwrap().permissions();
            only.set_readonly(true);
            fs::set_permissions(&path, only).unwrap();
        }
    }
    if OpenOptions::new().write(true).open(&path).is_ok() {
        return skipped(MOUNTS, "this user may write every file, and mount none");
    }
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Failed(_)), "{error:?}");
    let told = error.to_string();
    assert!(told.contains("runs.db may not be written") && told.contains("must be allowed"), "{told}");
}

/// Another process that writes and does not finish.
fn lock(path: &Path) -> Connection {
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

#[tokio::test]
async fn file_locked_by_another_process_is_unavailable_until_freed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let options = Options::default().busy_timeout(Duration::from_millis(20));
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open_with(&path, options).unwrap());
    create(&store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let all = commits(Plot::of(1, 1)).await;

    let other = lock(&path);
    let error = store.commit(&lease, &all[0]).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    let holder = if cfg!(target_os = "linux") {
        format!("runs.db: the process {} (", std::process::id())
    } else {
        "runs.db: another process".to_owned()
    };
    assert!(error.to_string().contains(&holder) && error.to_string().contains(" writes,"), "{error}");
    // Who reads does not wait.
    assert_eq!(store.load("r1").await.unwrap().info.version, 0);
    other.execute_batch("ROLLBACK").unwrap();
    store.commit(&lease, &all[0]).await.unwrap();
    assert_eq!(store.load("r1").await.unwrap().info.version, 1);
}

/// Asks for all of them while nobody can write, so that they wait together.
async fn together<T: Send + 'static>(
    path: &Path,
    asked: Vec<impl Future<Output = Result<T, StoreError>> + Send + 'static>,
) -> Vec<Result<T, StoreError>> {
    let other = lock(path);
    let asked: Vec<_> = asked.into_iter().map(tokio::spawn).collect();
    polled().await;
    other.execute_batch("ROLLBACK").unwrap();
    let mut said = Vec::new();
    for asked in asked {
        said.push(asked.await.unwrap());
    }
    said
}

#[tokio::test]
async fn one_that_is_refused_fails_no_other_of_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let options = Options::default().largest(400 << 10);
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open_with(&path, options).unwrap());
    create(&store, "r0").await;
    // The third is taken, and the fifth has no room: for that one, SQLite takes the whole transaction back.
    let new = |id: &str, spec: Value| (Arc::clone(&store), NewRun::new(id, spec, 0));
    let asked = vec![
        new("r1", Value::Null),
        new("r2", Value::Null),
        new("r0", Value::Null),
        new("r3", Value::Null),
        new("r4", json!("x".repeat(500 << 10))),
        new("r5", Value::Null),
        new("r1", Value::Null),
    ];
    let asked = asked.into_iter().map(|(store, run)| async move { store.create(&run).await }).collect();
    let said = together(&path, asked).await;
    let said: Vec<_> = said
        .into_iter()
        .map(|said| match said {
            Ok(()) => "made",
            Err(StoreError::Taken { .. }) => "taken",
            Err(StoreError::Failed(_)) => "failed",
            Err(other) => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(said, ["made", "made", "taken", "made", "failed", "made", "taken"]);
    for (run, is_there) in [("r1", true), ("r2", true), ("r3", true), ("r4", false), ("r5", true)] {
        assert_eq!(store.load(run).await.is_ok(), is_there, "{run}");
    }
}

#[tokio::test]
async fn a_request_that_is_given_up_is_made_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(&path).unwrap());
    create(&store, "r1").await;
    let lease = claim(&*store, "r1").await;
    let all = commits(Plot::of(3, 2)).await;
    for commit in &all {
        let other = lock(&path);
        {
            let dropped = store.commit(&lease, commit);
            tokio::select! {
                biased;
                made = dropped => panic!("{made:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
        other.execute_batch("ROLLBACK").unwrap();
        let mut again = commit.clone();
        again.again = true;
        store.commit(&lease, &again).await.unwrap();
    }
    assert_eq!(format!("{:?}", store.load("r1").await.unwrap()), reference(&all).await);
    store.release(&lease, &Release::clean()).await.unwrap();
}
