//! Runs in a folder: the suite holds on the disk of this machine and on a simulated one, each handle with an instance of its
//! own.

mod boots;
mod cost;
mod crashes;
mod damage;
mod doubt;
mod eyes;
mod folder;
mod forbidden;
mod index;
mod limits;
mod locks;
mod lost;
#[cfg(unix)]
mod modes;
mod others;
mod processes;
mod story;
mod threads;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(super) use folder::Folder;
use runstate_agent::async_trait;
use runstate_runtime::clock::SetClock;
use runstate_runtime::files::SimDisk;
use runstate_store::{FileStore, RunStore};
use runstate_store_conformance::Bench;

use super::times::clock;

/// A store whose lock many want: on a slow disk one may have to wait for long.
fn patient(folder: &Path) -> FileStore {
    FileStore::open(folder).unwrap().with_clock(clock()).patience(Duration::from_secs(60))
}

#[async_trait]
impl Bench for Folder {
    async fn store(&self) -> Arc<dyn RunStore> {
        Arc::new(patient(self).with_clock(self.clock().clone()))
    }

    fn clock(&self) -> &SetClock {
        &self.clock
    }
}

struct Simulated(SimDisk, SetClock);

#[async_trait]
impl Bench for Simulated {
    async fn store(&self) -> Arc<dyn RunStore> {
        Arc::new(on(&self.0).with_clock(self.1.clone()))
    }

    fn clock(&self) -> &SetClock {
        &self.1
    }
}

/// The store on a simulated disk, as it is opened each time.
fn on(disk: &SimDisk) -> FileStore {
    FileStore::on(Arc::new(disk.clone()), Path::new("/store")).unwrap().with_clock(clock())
}

mod on_this_machine {
    runstate_store_conformance::store_conformance!(async { super::Folder::new() });
}

mod on_a_simulated_disk {
    runstate_store_conformance::store_conformance!(async {
        super::Simulated(
            runstate_runtime::files::SimDisk::new(),
            runstate_runtime::clock::SetClock::default(),
        )
    });
}
