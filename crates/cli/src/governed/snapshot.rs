//! The working folder as it was before the first tool, what was changed since, and the way back.

use std::fs;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use runstate::governed::{Change, Rollback, RunView};

use super::folder::{self, Kind, Listing};
use crate::failure::Failure;

/// A copy of the working folder, beside the run's files.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    kept: PathBuf,
    work: PathBuf,
    ignore: Vec<PathBuf>,
}

impl Snapshot {
    pub(super) fn new(kept: PathBuf, work: PathBuf, ignore: Vec<PathBuf>) -> Self {
        Snapshot { kept, work, ignore }
    }

    /// Keeps the folder as it is now, unless it was kept before. It is there as a whole or not at all.
    ///
    /// # Errors
    /// What cannot be read or written.
    pub(super) fn take(&self) -> Result<(), Failure> {
        if self.kept.exists() {
            return Ok(());
        }
        let beside = self.kept.with_extension("new");
        if beside.exists() {
            fs::remove_dir_all(&beside).map_err(|error| Failure::io("remove", &beside, &error))?;
        }
        folder::copy(&self.work, &beside, &folder::list(&self.work, &self.ignore)?)?;
        fs::rename(&beside, &self.kept).map_err(|error| Failure::io("rename", &beside, &error))
    }

    /// Every name that differs from the snapshot, in order.
    ///
    /// # Errors
    /// What cannot be read.
    pub(super) fn changes(&self) -> Result<Vec<(PathBuf, &'static str)>, Failure> {
        let (was, is) = self.listings()?;
        let mut changes = Vec::new();
        for (name, kind) in &is {
            match was.get(name) {
                None => changes.push((name.clone(), "created")),
                Some(before) if before != kind => changes.push((name.clone(), "modified")),
                Some(_) if *kind == Kind::File && !self.is_same(name)? || !self.has_mode(name, *kind)? => {
                    changes.push((name.clone(), "modified"))
                }
                Some(_) => {}
            }
        }
        if !self.has_mode(Path::new(""), Kind::Folder)? {
            changes.push((PathBuf::from("."), "modified"));
        }
        changes.extend(was.into_keys().filter(|name| !is.contains_key(name)).map(|name| (name, "removed")));
        Ok(changes)
    }

    /// The changes, for a report.
    ///
    /// # Errors
    /// As [`changes`](Self::changes).
    pub(super) fn told(&self) -> Result<Vec<Change>, Failure> {
        let told = self.changes()?;
        Ok(told.into_iter().map(|(name, kind)| Change::new(kind, name.to_string_lossy())).collect())
    }

    /// The digest of all that is kept: names, kinds, modes and contents.
    ///
    /// # Errors
    /// A file or folder that cannot be read.
    pub(super) fn digest(&self) -> Result<String, Failure> {
        folder::check_own(&self.kept).map_err(|error| Failure::io("use", &self.kept, &error))?;
        let mut all = vec![(PathBuf::new(), Kind::Folder)];
        all.extend(folder::list(&self.kept, &[])?);
        let mut told = Vec::with_capacity(all.len());
        for (name, kind) in all {
            let path = self.kept.join(&name);
            let read = || -> std::io::Result<serde_json::Value> {
                let content = if kind == Kind::File { Some(folder::digest(&path)?) } else { None };
                // A name need not be text.
                Ok(serde_json::json!([
                    name.as_os_str().as_encoded_bytes(),
                    format!("{kind:?}"),
                    folder::mode(&path)?,
                    content
                ]))
            };
            told.push(read().map_err(|error| Failure::io("read", &path, &error))?);
        }
        Ok(runstate::decision::digest(&told.into()))
    }

    /// Fails where the snapshot is not the one that was taken: nothing may be put back out of it, nor held against it.
    pub(super) fn check_is(&self, taken: &str) -> Result<(), Failure> {
        let found = self.digest()?;
        if found == taken {
            return Ok(());
        }
        let what = format!(
            "the snapshot {} was changed since it was taken: its digest was {taken}, and is {found}",
            self.kept.display()
        );
        Err(Failure::new(what))
    }

    fn is_same(&self, name: &Path) -> Result<bool, Failure> {
        let (kept, work) = (self.kept.join(name), self.work.join(name));
        folder::same(&kept, &work).map_err(|error| Failure::io("compare", &work, &error))
    }

    /// Has it the mode that it had? That of a link is no one's.
    fn has_mode(&self, name: &Path, kind: Kind) -> Result<bool, Failure> {
        let (kept, work) = (self.kept.join(name), self.work.join(name));
        let same =
            || Ok(matches!(kind, Kind::Other | Kind::Runs) || folder::mode(&kept)? == folder::mode(&work)?);
        same().map_err(|error: std::io::Error| Failure::io("compare", &work, &error))
    }

    fn listings(&self) -> Result<(Listing, Listing), Failure> {
        if !self.kept.is_dir() {
            return Err(Failure::new(format!("the snapshot {} is not there", self.kept.display())));
        }
        for own in [&self.kept, &self.work] {
            folder::check_own(own).map_err(|error| Failure::io("use", own, &error))?;
        }
        Ok((folder::list(&self.kept, &[])?, folder::list(&self.work, &self.ignore)?))
    }

    /// Brings the folder back, touching what differs alone. Doing it again does nothing.
    fn restore(&self) -> Vec<String> {
        let (was, is) = match self.listings() {
            Ok(listings) => listings,
            Err(failure) => return vec![failure.to_string()],
        };
        let mut errors = Vec::new();
        let mut note = |what: &str, path: &Path, done: std::io::Result<()>| {
            if let Err(error) = done {
                errors.push(format!("cannot {what} {}: {error}", path.display()));
            }
        };
        // From the innermost out: what was not there, or was something else. So no link is left to write through.
        for (name, kind) in is.iter().rev().filter(|(name, kind)| was.get(*name) != Some(kind)) {
            let path = self.work.join(name);
            match kind {
                // It may hold what is ignored, and then it stays.
                Kind::Folder if self.ignore.iter().any(|ignored| ignored.starts_with(name)) => {}
                Kind::Folder => note("remove", &path, fs::remove_dir(&path)),
                Kind::File | Kind::Other => note("remove", &path, fs::remove_file(&path)),
                Kind::Runs => {
                    let why = "runs are kept in it, or it looks like that";
                    note("remove", &path, Err(std::io::Error::other(why)));
                }
            }
        }
        for (name, kind) in &was {
            let (kept, work) = (self.kept.join(name), self.work.join(name));
            let is_there = is.get(name) == Some(kind);
            match kind {
                Kind::Folder if !is_there => note("make the folder", &work, fs::create_dir(&work)),
                Kind::File if !is_there || !folder::same(&kept, &work).unwrap_or(false) => {
                    note("restore", &work, fs::copy(&kept, &work).map(drop));
                }
                _ => {}
            }
        }
        // Modes last, from the innermost out: nothing can be restored in a folder that may not be written.
        for (name, kind) in was.iter().rev() {
            let (kept, work) = (self.kept.join(name), self.work.join(name));
            if *kind != Kind::Other {
                note("set the mode of", &work, folder::copy_mode(&kept, &work));
            }
        }
        note("set the mode of", &self.work, folder::copy_mode(&self.kept, &self.work));
        errors
    }
}

/// Reverts a run by its snapshot.
pub(super) struct FolderRollback(pub(super) Snapshot);

#[async_trait]
impl Rollback for FolderRollback {
    async fn roll_back(&self, run: &RunView<'_>, _: &str) -> Result<(), Vec<String>> {
        // A run that began before snapshots had digests has none.
        if let Some(taken) = run.baseline {
            self.0.check_is(taken).map_err(|failure| vec![failure.to_string()])?;
        }
        match self.0.restore() {
            errors if errors.is_empty() => Ok(()),
            errors => Err(errors),
        }
    }
}
