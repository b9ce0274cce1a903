//! What a commit costs does not depend on how long the run is.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use runstate::turn::{CallRequest, Turn};
use runstate_runtime::files::{Disk, DiskFile, Open, SimDisk};
use runstate_store::{ApprovalFilter, ApprovalQuery, FileStore, NewRun, RunData, RunLists, RunQueue};
use runstate_store_conformance::Played;
use serde_json::json;

use super::super::times::{clock, of};

#[derive(Debug, Default)]
struct Counts {
    syncs: AtomicU64,
    written: AtomicU64,
    read: AtomicU64,
}

impl Counts {
    fn now(&self) -> [u64; 3] {
        [self.syncs.load(Relaxed), self.written.load(Relaxed), self.read.load(Relaxed)]
    }
}

/// Counts what is done to a disk.
#[derive(Debug)]
struct Counting(SimDisk, Arc<Counts>);

#[derive(Debug)]
struct CountingFile(Box<dyn DiskFile>, Arc<Counts>);

impl Disk for Counting {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(CountingFile(self.0.open(path, how)?, Arc::clone(&self.1))))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.0.create_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.1.syncs.fetch_add(1, Relaxed);
        self.0.sync_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.0.list(path)
    }
}

impl DiskFile for CountingFile {
    fn len(&mut self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_from(&mut self, offset: u64, most: u64) -> io::Result<Vec<u8>> {
        let bytes = self.0.read_from(offset, most)?;
        self.1.read.fetch_add(bytes.len() as u64, Relaxed);
        Ok(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.1.written.fetch_add(bytes.len() as u64, Relaxed);
        self.0.write(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.cut(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.1.syncs.fetch_add(1, Relaxed);
        self.0.sync()
    }

    fn lock(&mut self) -> io::Result<()> {
        self.0.lock()
    }

    fn try_lock(&mut self) -> io::Result<()> {
        self.0.try_lock()
    }
}

#[tokio::test]
async fn a_commit_costs_the_same_however_long_the_run_is() {
    const STEPS: usize = 300;
    let step = |number: usize| {
        let arguments = json!({ "path": format!("notes-{number:05}.md") });
        Turn {
            text: "let me see".to_owned(),
            calls: vec![CallRequest::new("c", "say", arguments)],
            ..Turn::default()
        }
    };
    let played = Played::new("r1", &(0..STEPS).map(step).collect::<Vec<_>>()).await;
    let counts = Arc::new(Counts::default());
    let store = FileStore::on(Arc::new(Counting(SimDisk::new(), Arc::clone(&counts))), "/store")
        .unwrap()
        .with_clock(clock());
    store.create(&NewRun::new("r1", json!(0), 0)).await.unwrap();
    let lease = store.claim(&of("r1", "w", 0, 10)).await.unwrap().unwrap();
    let mut of_step = vec![[0; 3]; STEPS + 2];
    for commit in played.commits() {
        let before = counts.now();
        store.commit(&lease, commit).await.unwrap();
        for (total, (now, before)) in
            of_step[commit.run.steps as usize].iter_mut().zip(counts.now().iter().zip(before))
        {
            *total += now - before;
        }
    }
    // Lines go into the logs every few commits.
    let of_steps = |steps: &[[u64; 3]]| {
        steps.iter().fold([0; 3], |sum: [u64; 3], step| std::array::from_fn(|at| sum[at] + step[at]))
    };
    let (early, late) = (of_steps(&of_step[5..105]), of_steps(&of_step[STEPS - 100..STEPS]));
    println!(
        "{} commits; steps 5 to 105: {early:?}, the last 100: {late:?} (syncs, bytes written, bytes read)",
        played.commits().len()
    );
    for (what, number) in [("syncs", 0), ("bytes written", 1), ("bytes read", 2)] {
        // Numbers have more digits, and that is all.
        assert!(late[number] < early[number] + early[number] / 20, "{what}: {early:?} and {late:?}");
    }
    // A commit is the state and its name; four logs are synced every few commits.
    assert!(late[0] < 2 * 100 * 5 / 2, "{} syncs of 200 commits", late[0]);
}

/// The id of a suspension names its run: no other is read for it.
#[tokio::test]
async fn a_question_is_found_without_the_other_runs() {
    const RUNS: usize = 40;
    let counts = Arc::new(Counts::default());
    let disk: Arc<dyn Disk> = Arc::new(Counting(SimDisk::new(), Arc::clone(&counts)));
    let on = || FileStore::on(Arc::clone(&disk), "/store").unwrap().with_clock(clock());
    let store = on();
    let asks = Turn { calls: vec![CallRequest::new("c0", "ask", json!({}))], ..Turn::default() };
    for number in 0..RUNS {
        let run = format!("r{number}");
        store.create(&NewRun::new(&*run, json!(0), 0)).await.unwrap();
        let lease = store.claim(&of(&run, "w", 0, 10)).await.unwrap().unwrap();
        for commit in Played::new(&run, std::slice::from_ref(&asks)).await.commits() {
            store.commit(&lease, commit).await.unwrap();
        }
    }
    // Each command has a handle of its own, which knows nothing.
    let read = async |about: ApprovalFilter| {
        let before = counts.now()[2];
        let found = on().approvals(&ApprovalQuery::new(about, 100)).await.unwrap();
        (found, counts.now()[2] - before)
    };
    let (all, of_all) = read(ApprovalFilter::All).await;
    assert_eq!(all.len(), RUNS);
    let (one, of_one) = read(ApprovalFilter::Suspension(all[7].suspension.id.clone())).await;
    assert_eq!(one, all[7..8]);
    assert!(of_one * 20 < of_all, "{of_one} bytes of {of_all}");
    // An id that no run waits for may be any run's.
    let (none, _) = read(ApprovalFilter::Suspension("r7/c0/9".to_owned())).await;
    assert_eq!(none, []);
}
