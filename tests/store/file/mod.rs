//! Runs in a folder: the suite holds on the disk of this machine and on a simulated one, each handle with an instance of its
//! own.

mod folder;

use std::path::Path;
use std::sync::Arc;

use runstate::agent::async_trait;
use runstate::files::SimDisk;
use runstate::store::{FileStore, RunStore};
use runstate::testing::store::Bench;

pub use folder::Folder;

#[async_trait]
impl Bench for Folder {
    async fn store(&self) -> Arc<dyn RunStore> {
        Arc::new(FileStore::open(&**self).unwrap())
    }
}

struct Simulated(SimDisk);

#[async_trait]
impl Bench for Simulated {
    async fn store(&self) -> Arc<dyn RunStore> {
        Arc::new(FileStore::on(Arc::new(self.0.clone()), Path::new("/store")).unwrap())
    }
}

mod on_this_machine {
    runstate::store_conformance!(async { super::Folder::new() });
}

mod on_a_simulated_disk {
    runstate::store_conformance!(async { super::Simulated(runstate::files::SimDisk::new()) });
}
