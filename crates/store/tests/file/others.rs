//! A run that is damaged hides no other.

use std::path::{Path, PathBuf};

use runstate::turn::{CallRequest, Turn};
use runstate_runtime::files::{Disk, Open, SimDisk};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Commit, CorruptEntry, FileStore, NewRun, Release, RunData, RunLists,
    RunQuery, RunQueue, StoreError,
};
use runstate_store_conformance::Played;
use serde_json::json;

use super::super::times::{any, at, clock, of};
use super::folder::Folder;
use super::on;

/// The commits of a run up to where it waits, with a time at which that lapses.
pub(super) async fn parked(run: &str) -> Vec<Commit> {
    let calls = ["a", "b"].map(|id| CallRequest::new(id, "ask", json!({ "path": id }))).into();
    let played = Played::new(run, &[Turn { text: String::new(), calls, ..Turn::default() }]).await;
    let mut commits: Vec<Commit> = played.commits().cloned().collect();
    commits.iter_mut().for_each(|commit| commit.at_ms = 0);
    for waits in
        commits.iter_mut().flat_map(|commit| &mut commit.calls).filter_map(|call| call.waits.as_mut())
    {
        waits.suspension.expires_at_ms = Some(70);
    }
    commits
}

/// Three runs that wait for two calls each, and one that can go on.
pub(super) async fn fill(store: &FileStore) {
    for (run, at_ms) in [("r1", 1), ("r2", 2), ("r3", 3)] {
        store.create(&NewRun::new(run, json!(0), at_ms)).await.unwrap();
        let lease = store.claim(&of(run, "w", 0, 10)).await.unwrap().unwrap();
        for commit in parked(run).await {
            store.commit(&lease, &commit).await.unwrap();
        }
        store.release(&lease, &Release::clean()).await.unwrap();
    }
    store.create(&NewRun::new("new", json!(0), 4)).await.unwrap();
}

/// What the lists say, and what is told of damage.
pub(super) async fn listed(store: &FileStore) -> (Vec<String>, Vec<CorruptEntry>) {
    let runs = store.runs(&RunQuery::all(10)).await.unwrap();
    let approvals = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 10)).await.unwrap();
    at(70);
    let due = store.due(10).await.unwrap();
    let one = store.approvals(&ApprovalQuery::new(ApprovalFilter::Call("a".to_owned()), 10)).await.unwrap();
    let names = runs.iter().map(|run| run.id.clone());
    let names = names.chain(approvals.iter().map(|waits| format!("{}/{}", waits.run, waits.call)));
    let names = names.chain(due.iter().map(|timer| format!("due {}/{}", timer.run, timer.call)));
    let names = names.chain(one.iter().map(|waits| format!("a of {}", waits.run)));
    (names.collect(), store.corrupt_entries().await.unwrap())
}

const ALL: [&str; 19] = [
    "new", "r3", "r2", "r1", "r1/a", "r1/b", "r2/a", "r2/b", "r3/a", "r3/b", "due r1/a", "due r1/b",
    "due r2/a", "due r2/b", "due r3/a", "due r3/b", "a of r1", "a of r2", "a of r3",
];

fn without_r2() -> Vec<&'static str> {
    ALL.into_iter().filter(|name| !name.contains("r2")).collect()
}

fn put(disk: &SimDisk, path: &Path, content: &[u8]) {
    disk.open(path, Open::Write).unwrap().write(content).unwrap();
}

async fn filled() -> (SimDisk, FileStore, PathBuf) {
    let disk = SimDisk::new();
    let store = on(&disk);
    fill(&store).await;
    assert_eq!(listed(&store).await, (ALL.map(str::to_owned).into(), vec![]));
    let r2 = store.folder_of("r2");
    (disk, store, r2)
}

#[tokio::test]
async fn unreadable_state_is_reported_and_other_runs_are_listed() {
    let (disk, store, r2) = filled().await;
    let state = r2.join("state.json");
    let whole = disk.read(&state, u64::MAX).unwrap();
    // The handle that has listed it before, and one that has not.
    for (damage, said) in [(&b"{"[..], "EOF"), (b"", "EOF"), (b"{\"format\":2}", "knows format 1")] {
        put(&disk, &state, damage);
        for store in [&store, &on(&disk)] {
            let (names, told) = listed(store).await;
            assert_eq!(names, without_r2(), "{said}");
            let [CorruptEntry { what, help, .. }] = &told[..] else { panic!("{told:?}") };
            assert!(what.contains(state.to_str().unwrap()) && what.contains(said), "{what}");
            assert!(help.contains("backup") || help.contains("version"), "{help}");
            // Who asks for the run is refused with the same words.
            let Err(StoreError::Unusable { what: refused, .. }) = store.load("r2").await else { panic!() };
            assert_eq!(refused, *what);
        }
    }
    // Who can go on is claimed.
    let lease = store.claim(&any("w", 0, 10)).await.unwrap().unwrap();
    assert_eq!(lease.run, "new");
    assert_eq!(store.claim(&any("w", 0, 10)).await.unwrap(), None);
    store.release(&lease, &Release::clean()).await.unwrap();
    // Restored, it is as it was.
    put(&disk, &state, &whole);
    assert_eq!(listed(&store).await, (ALL.map(str::to_owned).into(), vec![]));
}

/// Lists need the state alone: a run with a torn line in one of its logs is in them, and is refused where it is read.
#[tokio::test]
async fn torn_line_within_a_log_is_reported_by_every_reader() {
    let (disk, store, r2) = filled().await;
    let path = r2.join("messages.jsonl");
    let mut torn = disk.read(&path, u64::MAX).unwrap();
    let middle = torn.iter().position(|byte| *byte == b'\n').unwrap() / 2;
    torn[middle] = b'\n';
    put(&disk, &path, &torn);
    let Err(StoreError::Unusable { what, .. }) = store.load("r2").await else { panic!() };
    assert!(what.contains("messages.jsonl: line 1"), "{what}");
    assert_eq!(listed(&store).await, (ALL.map(str::to_owned).into(), vec![]));
    store.load("r1").await.unwrap();
}

#[tokio::test]
async fn foreign_entries_are_skipped_and_lost_runs_reported() {
    let (disk, store, r2) = filled().await;
    let runs = r2.parent().unwrap();
    put(&disk, &runs.join("notes.txt"), b"mine");
    disk.create_folder(&runs.join("photos")).unwrap();
    put(&disk, &runs.join("photos/cat.png"), b"mine");
    // One whose creation a crash cut off.
    disk.create_folder(&runs.join("begun.00")).unwrap();
    put(&disk, &runs.join("begun.00/messages.jsonl"), b"");
    let files = disk.files();
    assert_eq!(listed(&store).await, (ALL.map(str::to_owned).into(), vec![]));
    assert_eq!(disk.files(), files);

    disk.remove(&r2.join("state.json")).unwrap();
    for store in [&store, &on(&disk)] {
        let (names, told) = listed(store).await;
        assert_eq!(names, without_r2());
        let [CorruptEntry { what, help, .. }] = &told[..] else { panic!("{told:?}") };
        assert!(
            what.ends_with("state.json: it is not there, and messages or events of its run are"),
            "{what}"
        );
        assert!(help.contains("backup") && help.contains(r2.to_str().unwrap()), "{help}");
        assert!(matches!(store.load("r2").await, Err(StoreError::NoRun { .. })));
    }
}

/// A copy of a run's folder, made by a person, is no second run, and takes nothing from the first.
#[tokio::test]
async fn a_copy_of_a_folder_is_told() {
    let (disk, store, r2) = filled().await;
    let copy = r2.with_extension("copy");
    disk.create_folder(&copy).unwrap();
    for name in disk.list(&r2).unwrap() {
        put(&disk, &copy.join(&name), &disk.read(&r2.join(&name), u64::MAX).unwrap());
    }
    let (names, told) = listed(&store).await;
    assert_eq!(names, ALL);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].what.contains("copy/state.json: it is that of the run \"r2\", in another folder"),
        "{told:?}"
    );
}

/// On the disk of this machine, where reading a file fails rather than what it says.
#[tokio::test]
async fn a_state_that_the_system_does_not_read_is_told() {
    let folder = Folder::new();
    let store = FileStore::open(&*folder).unwrap().with_clock(clock());
    fill(&store).await;
    let state = store.folder_of("r2").join("state.json");
    std::fs::remove_file(&state).unwrap();
    std::fs::create_dir(&state).unwrap();
    let (names, told) = listed(&store).await;
    assert_eq!(names, without_r2());
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].to_string().contains("state.json: ") && told[0].help.contains("can read and write it"),
        "{told:?}"
    );
    assert!(matches!(store.load("r2").await, Err(StoreError::Failed(_))));
}

/// A disk that fails as a whole is no damage of a run: an empty list would be a lie.
#[tokio::test]
async fn a_disk_that_fails_is_no_damaged_run() {
    let (disk, store, _) = filled().await;
    disk.crash_at(runstate_runtime::files::Crash::Before(disk.operations()));
    assert!(disk.create_folder(Path::new("/any")).is_err());
    assert!(matches!(store.runs(&RunQuery::all(10)).await, Err(StoreError::Failed(_))));
    assert!(matches!(store.corrupt_entries().await, Err(StoreError::Failed(_))));
}
