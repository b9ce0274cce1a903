//! Files that may be read and not written: what reads them works, and what writes says what to do.

use std::io;
use std::path::Path;
use std::sync::Arc;

use runstate::decision::{Decision, DecisionAction};
use runstate_runtime::files::{ChangeToken, Disk, DiskFile, Open, SimDisk};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, CorruptEntry, FileStore, NewRun, Release, RunData, RunLists, RunQuery,
    RunQueue, StoreError, expire_due, expire_run,
};
use serde_json::json;

use super::super::times::{any, at, clock, of};
use super::on;
use super::others::{fill, listed};
use super::story::{Known, Story};

/// A disk on which nothing can be changed, for that reason.
#[derive(Debug)]
struct ReadOnly(SimDisk, io::ErrorKind);

impl Disk for ReadOnly {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        if how == Open::Read { self.0.open(path, how) } else { Err(self.1.into()) }
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(self.1.into())
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Err(self.1.into())
    }

    fn create_folder(&self, _: &Path) -> io::Result<()> {
        Err(self.1.into())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Err(self.1.into())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.0.list(path)
    }

    fn change_token(&self, path: &Path) -> io::Result<Option<ChangeToken>> {
        self.0.change_token(path)
    }
}

#[tokio::test]
async fn a_store_that_may_not_be_written_can_be_read() {
    for kind in [io::ErrorKind::ReadOnlyFilesystem, io::ErrorKind::PermissionDenied] {
        let (story, disk) = (Story::long().await, SimDisk::new());
        let mut known = Known::default();
        story.live(&on(&disk), &mut known, false).await.unwrap();
        let store =
            FileStore::on(Arc::new(ReadOnly(disk.clone(), kind)), "/store").unwrap().with_clock(clock());
        story.judge(&store, &known).await;

        let disk = SimDisk::new();
        fill(&on(&disk)).await;
        let store =
            FileStore::on(Arc::new(ReadOnly(disk.clone(), kind)), "/store").unwrap().with_clock(clock());
        let (names, told) = listed(&store).await;
        assert!(names.contains(&"r2/a".to_owned()) && names.contains(&"due r3/b".to_owned()), "{names:?}");
        assert_eq!(told, []);
        let approvals = ApprovalQuery::new(ApprovalFilter::Run("r2".to_owned()), 10);
        assert_eq!(store.approvals(&approvals).await.unwrap().len(), 2);

        let files = disk.files();
        let waits = store.approvals(&approvals).await.unwrap().remove(0);
        let mut decision = Decision::new("d", waits.suspension.id, DecisionAction::Resume);
        (decision.run_id, decision.call) = (waits.run, waits.call);
        at(70);
        for (what, refused) in [
            ("create", store.create(&NewRun::new("other", json!(0), 0)).await),
            ("claim", store.claim(&of("r2", "w", 70, 70)).await.map(drop)),
            ("post", store.post(&decision).await.map(drop)),
            ("cancel", store.cancel("r2", "why").await.map(drop)),
            ("remove", store.remove("r2").await.map(drop)),
            ("lapse", expire_run(&store, "r2", 70).await),
        ] {
            let Err(StoreError::Failed(error)) = refused else { panic!("{what}: {refused:?}") };
            assert!(error.to_string().contains("let this process write there"), "{what}: {error}");
        }
        assert_eq!(disk.files(), files);
    }
}

#[test]
fn a_store_is_not_made_where_nothing_may_be_written() {
    let disk = ReadOnly(SimDisk::new(), io::ErrorKind::ReadOnlyFilesystem);
    let refused = FileStore::on(Arc::new(disk), "/store");
    let Err(StoreError::Failed(error)) = refused else { panic!("{refused:?}") };
    assert!(
        error.to_string().starts_with("/store: ") && error.to_string().contains("write there"),
        "{error}"
    );
}

/// One run that may not be written: its lock cannot be opened, or its state cannot be replaced.
#[tokio::test]
async fn a_run_that_may_not_be_written_is_told_and_the_others_go_on() {
    for is_lock in [true, false] {
        let disk = SimDisk::new();
        let store = on(&disk);
        // The first of all to be claimed, and to be given up.
        fill(&store).await;
        store.create(&NewRun::new("last", json!(0), 5)).await.unwrap();
        store.cancel("r1", "why").await.unwrap();
        let folder = store.folder_of("r1");
        let forbidden = if is_lock {
            let lock = format!("/store/locks/{}.lock", folder.file_name().unwrap().to_str().unwrap());
            disk.remove(Path::new(&lock)).unwrap();
            lock.into()
        } else {
            folder.join("state.json.new")
        };
        disk.create_folder(&forbidden).unwrap();

        let tells = |damage: &[CorruptEntry]| {
            let [CorruptEntry { what, help, .. }] = damage else { panic!("{damage:?}") };
            assert!(what.contains(folder.file_name().unwrap().to_str().unwrap()), "{what}");
            assert!(help.contains("can read and write it"), "{help}");
        };
        at(70);
        let lapsed = expire_due(&store, 70, 10).await.unwrap();
        tells(&lapsed.damaged);
        assert_eq!(
            store.pending_signals("r3").await.unwrap().decisions.len(),
            2,
            "the calls of others lapse"
        );

        let mut claimed = Vec::new();
        while let Some(lease) = store.claim(&any("w", 80, 90)).await.unwrap() {
            claimed.push(lease.run);
        }
        assert_eq!(claimed, ["r2", "r3", "new", "last"]);
        tells(&store.corrupt_entries().await.unwrap());
        let refused = store.claim(&of("r1", "w", 80, 90)).await;
        assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");

        disk.remove_folder(&forbidden).unwrap();
        let lease = store.claim(&any("w", 80, 90)).await.unwrap().unwrap();
        assert_eq!(lease.run, "r1");
        store.release(&lease, &Release::clean()).await.unwrap();
        assert_eq!(store.corrupt_entries().await.unwrap(), []);
        assert_eq!(store.runs(&RunQuery::all(10)).await.unwrap().len(), 5);
    }
}
