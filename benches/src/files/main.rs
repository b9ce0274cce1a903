//! What durable runs in files cost, against what the disk can do in the same run:
//! `cargo run --release --bin files [rate | depth | parked | commits NUMBER]`.

mod depth;
mod parked;
mod rate;
#[path = "../sqlite/script.rs"]
mod script;

use std::path::{Path, PathBuf};
use std::time::Duration;

use runstate::store::{Claim, FileStore, Lease, NewRun, RunStore};
use serde_json::Value;

/// A folder of its own beside the benches, since a temporary one may be in memory.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/files-bench");
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).expect("a folder for the bench");
        Folder(folder)
    }

    fn store(&self) -> FileStore {
        FileStore::open(self.0.join("store")).expect("a folder that can be written")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

async fn new_run(store: &FileStore, run: &str, at_ms: u64) -> Lease {
    store.create(&NewRun::new(run, Value::Null, at_ms)).await.expect("a new run");
    let claim = Claim::of(run, "bench", 0, u64::MAX);
    store.claim(&claim).await.expect("a free run").expect("a lease")
}

/// The bytes of all files of a run.
fn size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).expect("a folder");
    files.map(|file| file.expect("a file").metadata().expect("its length").len()).sum()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let which = args.next().unwrap_or_default();
    let is = |name: &str| which.is_empty() || which == name;
    if is("rate") {
        rate::one_by_one().await;
    }
    // For strace: so many commits, and nothing beside.
    if which == "commits" {
        let number = args.next().and_then(|number| number.parse().ok()).expect("how many commits");
        rate::commits(number).await;
    }
    if is("depth") {
        depth::depth().await;
    }
    if is("parked") {
        parked::parked().await;
    }
}
