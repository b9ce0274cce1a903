//! What durable runs in SQLite cost, against what the disk can do in the same run:
//! `cargo run --release --bin sqlite [rate | group | depth | parked | commits]`.

mod depth;
mod parked;
mod rate;
mod script;

use std::path::PathBuf;
use std::time::Duration;

use runstate::store::{Claim, Lease, NewRun, RunStore};
use runstate_sqlite::SqliteStore;
use serde_json::Value;

/// A folder of its own beside the benches, since a temporary one may be in memory.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/sqlite-bench");
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).expect("a folder for the bench");
        Folder(folder)
    }

    fn store(&self, name: &str) -> SqliteStore {
        SqliteStore::open(self.0.join(name)).expect("a file that can be written")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

async fn new_run(store: &SqliteStore, run: &str, at_ms: u64) -> Lease {
    store.create(&NewRun::new(run, Value::Null, at_ms)).await.expect("a new run");
    claim(store, run).await
}

async fn claim(store: &SqliteStore, run: &str) -> Lease {
    let claim = Claim::of(run, "bench", 0, u64::MAX);
    store.claim(&claim).await.expect("a free run").expect("a lease")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let which = std::env::args().nth(1).unwrap_or_default();
    let is = |name: &str| which.is_empty() || which == name;
    if is("rate") {
        rate::one_by_one().await;
    }
    if is("group") {
        rate::in_groups().await;
    }
    // For strace: so many commits, and nothing beside.
    if which == "commits" {
        rate::commits(2_000).await;
    }
    if is("depth") {
        depth::depth().await;
    }
    if is("parked") {
        parked::parked().await;
    }
}
