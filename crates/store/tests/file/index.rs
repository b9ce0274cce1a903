//! Lists read again what changed, and nothing else; and they say what a handle says that has never listed before.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use runstate_runtime::files::{ChangeToken, Disk, DiskFile, Open, SimDisk};
use runstate_store::{
    ApprovalFilter, ApprovalQuery, FileStore, Lease, NewRun, Release, RunData, RunLists, RunQuery, RunQueue,
};
use serde_json::json;

use super::super::times::{any, at, clock, of};
use super::on;
use super::others::parked;

/// A disk whose stamps are to be trusted or are not there at all. Counts what is read of states, and how often folders are
/// listed.
#[derive(Debug)]
struct Watched {
    disk: SimDisk,
    has_stamps: bool,
    states: Arc<AtomicUsize>,
    listings: Arc<AtomicUsize>,
}

impl Disk for Watched {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        if how == Open::Read && path.ends_with("state.json") {
            self.states.fetch_add(1, Relaxed);
        }
        self.disk.open(path, how)
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
        self.listings.fetch_add(1, Relaxed);
        self.disk.list(path)
    }

    fn change_token(&self, path: &Path) -> io::Result<Option<ChangeToken>> {
        if self.has_stamps { self.disk.change_token(path) } else { Ok(None) }
    }
}

/// A handle on the store, with what it reads of states and how often it lists.
fn watched(disk: &SimDisk, has_stamps: bool) -> (FileStore, [Arc<AtomicUsize>; 2]) {
    let (states, listings) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let counts = [Arc::clone(&states), Arc::clone(&listings)];
    let disk = Watched { disk: disk.clone(), has_stamps, states, listings };
    (FileStore::on(Arc::new(disk), "/store").unwrap().with_clock(clock()), counts)
}

async fn park(store: &FileStore, run: &str) -> Lease {
    store.create(&NewRun::new(run, json!(0), 0)).await.unwrap();
    let lease = store.claim(&of(run, "w", 0, 10)).await.unwrap().unwrap();
    for commit in parked(run).await {
        store.commit(&lease, &commit).await.unwrap();
    }
    store.release(&lease, &Release::clean()).await.unwrap();
    lease
}

#[tokio::test]
async fn a_list_reads_what_changed_since_the_last_one() {
    let disk = SimDisk::new();
    let other = on(&disk);
    for number in 0..20 {
        park(&other, &format!("r{number}")).await;
    }
    for (has_stamps, again) in [(true, 0), (false, 20)] {
        let (store, [states, listings]) = watched(&disk, has_stamps);
        let list = async || {
            states.store(0, Relaxed);
            listings.store(0, Relaxed);
            assert_eq!(store.runs(&RunQuery::all(5)).await.unwrap().len(), 5);
            (states.load(Relaxed), listings.load(Relaxed))
        };
        assert_eq!(list().await, (20, 1), "at first all are read");
        assert_eq!(list().await, (again, usize::from(!has_stamps)));
        other.cancel("r7", &format!("stamps: {has_stamps}")).await.unwrap();
        other.claim(&of("r7", "x", 20, 20)).await.unwrap();
        assert_eq!(list().await.0, if has_stamps { 1 } else { 20 }, "one was changed by another handle");
        if has_stamps {
            other.remove("r0").await.unwrap();
            park(&other, "n0").await;
            assert_eq!(list().await, (1, 1), "one is new");
            assert_eq!(list().await, (0, 0));
        }
    }
}

/// Whatever is done to runs, by this handle, another one, or by hand: a handle that has listed all along says what one says
/// that is opened now.
#[tokio::test]
async fn a_handle_that_remembers_says_what_one_says_that_does_not() {
    async fn all(store: &FileStore) -> String {
        at(200);
        let runs = store.runs(&RunQuery::all(100)).await.unwrap();
        let approvals = store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 100)).await.unwrap();
        let due = store.due(100).await.unwrap();
        format!("{runs:#?} {approvals:#?} {due:#?} {:#?}", store.corrupt_entries().await.unwrap())
    }
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..=12_u64 {
        let disk = SimDisk::new();
        let handles = [watched(&disk, true).0, watched(&disk, true).0];
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut draw = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 11) % below
        };
        // How many runs were removed of each four: the next one has an id of its own.
        let mut removed = [0; 4];
        for _ in 0..60 {
            let store = &handles[usize::try_from(draw(2)).unwrap()];
            let place = usize::try_from(draw(4)).unwrap();
            let run = format!("r{place}-{}", removed[place]);
            let what = draw(9);
            // What is refused changes nothing, and that is as good.
            match what {
                0 | 1 => drop(store.create(&NewRun::new(&*run, json!(0), draw(5))).await),
                2 | 3 => {
                    if let Ok(Some(lease)) = store.claim(&of(&*run, "w", 100, 100)).await {
                        let made = store.load(&run).await.map(|loaded| loaded.info.version);
                        let next = usize::try_from(made.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
                        if let Some(commit) = parked(&run).await.get(next) {
                            store.commit(&lease, commit).await.unwrap();
                        }
                    }
                }
                4 => drop(store.claim(&any("v", 70, draw(200))).await),
                5 => drop(store.cancel(&run, "why").await),
                6 => removed[place] += usize::from(matches!(store.remove(&run).await, Ok(true))),
                // By hand: damaged, mended, gone.
                7 => {
                    let path = store.folder_of(&run).join("state.json");
                    if let Ok(state) = disk.read(&path, u64::MAX) {
                        let copy = path.with_file_name("kept");
                        let (from, to) = if disk.remove(&copy).is_ok() { (b'!', b'{') } else { (b'{', b'!') };
                        if to == b'!' {
                            disk.open(&copy, Open::Write).unwrap();
                        }
                        let mut state = state;
                        if state.first() == Some(&from) {
                            state[0] = to;
                        }
                        disk.open(&path, Open::Write).unwrap().write(&state).unwrap();
                    }
                }
                _ => drop(disk.remove(&store.folder_of(&run).join("state.json"))),
            }
            let fresh = all(&on(&disk)).await;
            if fresh.contains("CorruptEntry {") {
                seen.insert("damaged");
            }
            if fresh.contains("Timer {") {
                seen.insert("due");
            }
            for handle in &handles {
                assert_eq!(all(handle).await, fresh, "seed {seed}, behind {what} on {run}");
            }
        }
    }
    assert_eq!(seen.len(), 2, "{seen:?}");
}
