//! Locks that somebody keeps, as a process does that was stopped in the midst of an operation: they hold up nobody else.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use runstate_runtime::files::{Disk, DiskFile, Open, SimDisk};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, Claim, FileStore, NewRun, Release, RunData, RunLists, RunQuery, RunQueue,
    StoreError, expire_due, expire_run,
};
use serde_json::json;

use super::super::times::{any, at, clock, of, span};
use super::on;
use super::others::parked;

/// A disk on which somebody has one lock: so many looks find it taken.
#[derive(Debug, Clone)]
struct Shared {
    disk: SimDisk,
    lock: PathBuf,
    taken: Arc<AtomicUsize>,
    looks: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct SharedFile(Box<dyn DiskFile>, Option<Shared>);

const FOR_EVER: usize = usize::MAX;
const HOURS: Duration = Duration::from_secs(10_000);

impl Shared {
    /// It has the lock of that run.
    fn of(disk: &SimDisk, run: &str) -> Self {
        let lock = lock_of(&on(disk), run);
        Shared { disk: disk.clone(), lock, taken: Arc::default(), looks: Arc::default() }
    }

    fn store(&self, patience: Duration) -> FileStore {
        FileStore::on(Arc::new(self.clone()), "/store").unwrap().with_clock(clock()).patience(patience)
    }

    /// From now on so many looks find the lock taken.
    fn take(&self, looks: usize) {
        self.looks.store(0, SeqCst);
        self.taken.store(looks, SeqCst);
    }

    fn looks(&self) -> usize {
        self.looks.load(SeqCst)
    }
}

fn lock_of(store: &FileStore, run: &str) -> PathBuf {
    let folder = store.folder_of(run);
    let name = folder.file_name().unwrap().to_str().unwrap();
    Path::new("/store/locks").join(format!("{name}.lock"))
}

impl Disk for Shared {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let is_shared = path == self.lock;
        Ok(Box::new(SharedFile(self.disk.open(path, how)?, is_shared.then(|| self.clone()))))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.disk.create_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.disk.list(path)
    }
}

impl DiskFile for SharedFile {
    fn len(&mut self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_from(&mut self, offset: u64, most: u64) -> io::Result<Vec<u8>> {
        self.0.read_from(offset, most)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.cut(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn lock(&mut self) -> io::Result<()> {
        assert!(self.1.is_none(), "a lock that is kept for ever is waited for as long");
        self.0.lock()
    }

    fn try_lock(&mut self) -> io::Result<()> {
        if let Some(shared) = &self.1 {
            shared.looks.fetch_add(1, SeqCst);
            let is_taken = |left: usize| if left == FOR_EVER { Some(left) } else { left.checked_sub(1) };
            if shared.taken.fetch_update(SeqCst, SeqCst, is_taken).is_ok() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        self.0.try_lock()
    }
}

async fn create(store: &FileStore, run: &str, at_ms: u64) {
    store.create(&NewRun::new(run, json!(0), at_ms)).await.unwrap();
}

/// A run whose two calls lapse at 70.
async fn park(store: &FileStore, run: &str) {
    create(store, run, 0).await;
    let lease = store.claim(&of(run, "w", 0, 10)).await.unwrap().unwrap();
    for commit in parked(run).await {
        store.commit(&lease, &commit).await.unwrap();
    }
    store.release(&lease, &Release::clean()).await.unwrap();
}

fn wish() -> Claim {
    any("w", 50, 60)
}

#[tokio::test]
async fn run_with_a_held_lock_is_reported_and_others_continue() {
    let disk = SimDisk::new();
    for (run, at_ms) in [("kept", 1), ("r2", 2), ("r3", 3)] {
        create(&on(&disk), run, at_ms).await;
    }
    let shared = Shared::of(&disk, "kept");
    let store = shared.store(Duration::from_millis(3));
    shared.take(FOR_EVER);
    assert_eq!(store.claim(&wish()).await.unwrap().unwrap().run, "r2", "the oldest of the others");
    assert_eq!(store.claim(&wish()).await.unwrap().unwrap().run, "r3");
    assert_eq!(store.claim(&wish()).await.unwrap(), None);

    let claim = of("kept", "w", 50, 60);
    let lease = runstate_store::Lease::new("kept", 1);
    for (what, refused) in [
        ("claim", store.claim(&claim).await.map(drop)),
        ("cancel", store.cancel("kept", "why").await.map(drop)),
        ("renew", store.renew(&lease, span(9)).await),
        ("release", store.release(&lease, &Release::clean()).await),
        ("remove", store.remove("kept").await.map(drop)),
        ("create", store.create(&NewRun::new("kept", json!(0), 0)).await),
    ] {
        let Err(StoreError::Unavailable(error)) = refused else { panic!("{what}: {refused:?}") };
        let said = error.to_string();
        assert!(said.contains(shared.lock.to_str().unwrap()), "{what}: {said}");
        assert!(said.contains("does not release it") && said.contains("or end it"), "{what}: {said}");
    }

    // What reads needs no lock.
    assert_eq!(store.load("kept").await.unwrap().info.id, "kept");
    assert_eq!(store.trace("kept", 0, 10).await.unwrap(), []);
    assert_eq!(store.runs(&RunQuery::all(10)).await.unwrap().len(), 3);
    store.pending_signals("kept").await.unwrap();
    store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 10)).await.unwrap();
    store.due(10).await.unwrap();
    let told = store.corrupt_entries().await.unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].what.starts_with(shared.lock.to_str().unwrap()), "{told:?}");

    // Its holder goes on.
    shared.take(0);
    assert_eq!(store.corrupt_entries().await.unwrap(), []);
    assert_eq!(store.claim(&wish()).await.unwrap().unwrap().run, "kept");
    assert!(store.cancel("kept", "why").await.unwrap());
}

#[tokio::test]
async fn lock_is_waited_for_but_not_again_after_a_timeout() {
    let disk = SimDisk::new();
    create(&on(&disk), "r1", 1).await;
    let shared = Shared::of(&disk, "r1");
    let store = shared.store(HOURS);
    shared.take(3);
    assert!(store.cancel("r1", "why").await.unwrap());
    assert_eq!(shared.looks(), 4);
    // It is passed over, and looked at again since there is no other.
    shared.take(3);
    assert_eq!(store.claim(&wish()).await.unwrap().unwrap().run, "r1");
    assert_eq!(shared.looks(), 4);

    let store = store.patience(Duration::from_millis(7));
    let looks = async || {
        shared.take(FOR_EVER);
        assert!(matches!(store.cancel("r1", "why").await, Err(StoreError::Unavailable(_))));
        shared.looks()
    };
    assert!(looks().await > 2);
    assert_eq!((looks().await, looks().await), (1, 1), "a second one has nothing to hope for");
    shared.take(0);
    store.cancel("r1", "why").await.unwrap();
    assert!(looks().await > 2, "it was free in between");
}

/// Who does not wait any more leaves no thread behind that does.
#[test]
fn an_operation_that_is_dropped_waits_for_no_lock() {
    let runtime = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let disk = SimDisk::new();
    runtime().block_on(create(&on(&disk), "r1", 1));
    let shared = Shared::of(&disk, "r1");
    let store = shared.store(HOURS);
    let claim = of("r1", "w", 0, 10);
    for by_name in [true, false] {
        shared.take(FOR_EVER);
        let runtime = runtime();
        runtime.block_on(async {
            let (claim, any) = (claim.clone(), wish());
            tokio::select! {
                claimed = store.claim(if by_name { &claim } else { &any }) => panic!("{claimed:?}"),
                () = async {
                    while shared.looks() < 3 {
                        tokio::task::yield_now().await;
                    }
                } => {}
            }
        });
        // It waits for its threads.
        drop(runtime);
        let looks = shared.looks();
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(shared.looks(), looks, "nobody looks any more");
        shared.take(0);
    }
}

#[tokio::test]
async fn run_with_a_held_lock_does_not_delay_expiry_of_others() {
    let disk = SimDisk::new();
    for run in ["kept", "r2"] {
        park(&on(&disk), run).await;
    }
    let shared = Shared::of(&disk, "kept");
    let store = shared.store(Duration::from_secs(1));
    shared.take(FOR_EVER);
    at(70);
    let lapsed = expire_due(&store, 70, 10).await.unwrap();
    assert_eq!(lapsed.damaged.len(), 1, "told once: {lapsed:?}");
    assert!(lapsed.damaged[0].what.starts_with(shared.lock.to_str().unwrap()), "{lapsed:?}");
    assert_eq!(store.pending_signals("r2").await.unwrap().decisions.len(), 2);
    // Who asks for that run is told.
    let refused = expire_run(&store, "kept", 70).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    shared.take(0);
    // Its two calls are given up at once, and one waits for the other, though both find that it was waited for in vain.
    let lapsed = expire_due(&store, 70, 10).await.unwrap();
    assert_eq!(lapsed.damaged, []);
    assert_eq!(store.pending_signals("kept").await.unwrap().decisions.len(), 2);
}
