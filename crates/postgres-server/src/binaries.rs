//! The location of the server's binaries.

use std::path::{Path, PathBuf};

/// The folder with initdb and postgres: in `PATH`, or in Debian's folders, the newest first.
pub(crate) fn binaries() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = debian.map(|entry| entry.path().join("bin")).collect();
    debian.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_all = |bin: &Path| ["initdb", "postgres", "pg_isready"].iter().all(|it| bin.join(it).is_file());
    std::env::split_paths(&path).chain(debian.into_iter().rev()).find(|bin| has_all(bin))
}
