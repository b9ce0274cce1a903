//! The stores that are measured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use runstate_sqlite::SqliteStore;
use runstate_store::{FileStore, RunStore};

/// Which store is measured.
#[derive(Debug, Clone, Copy)]
pub enum Subject {
    Sqlite,
    Files,
}

impl Subject {
    pub fn named(name: &str) -> Option<Subject> {
        match name {
            "sqlite" => Some(Subject::Sqlite),
            "files" => Some(Subject::Files),
            _ => None,
        }
    }

    /// The store in that folder, opened anew.
    pub fn open(self, folder: &Folder) -> Arc<dyn RunStore> {
        let place = folder.0.join("store");
        match self {
            Subject::Sqlite => Arc::new(SqliteStore::open(place).expect("a file that can be written")),
            Subject::Files => Arc::new(FileStore::open(place).expect("a folder that can be written")),
        }
    }

    /// How many runs of it one looks through.
    pub fn parked(self) -> usize {
        match self {
            Subject::Sqlite => 100_000,
            Subject::Files => 10_000,
        }
    }
}

/// A folder of its own beside the benches, since a temporary one may be in memory.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/stores-bench");
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).expect("a folder for the bench");
        Folder(folder)
    }

    /// The bytes of all that is in it, but for SQLite's log, which comes and goes.
    pub fn size(&self) -> u64 {
        size(&self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let kept = entries.filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        !name.ends_with("-wal") && !name.ends_with("-shm")
    });
    kept.map(|entry| {
        let about = entry.metadata().expect("what it is");
        if about.is_dir() { size(&entry.path()) } else { about.len() }
    })
    .sum()
}
