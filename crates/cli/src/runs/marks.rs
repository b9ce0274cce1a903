//! The number of the last commit of a run, in a file beside its folder: a store with fewer commits is an older copy, or
//! incomplete.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};

use super::open::{below, is_a_name};
use super::owner::{Owner, Token, owner};
use super::unblocked;
use crate::failure::Failure;
use crate::output::{complain, printable};

/// The file with the number and the token of the run.
const FILE: &str = "committed";
/// The maximum size of the file, in bytes. It is written with 54.
const MOST_BYTES: u64 = 128;

/// The folder of a run that this process drives, and its token.
pub(crate) type Driven = (Arc<Dir>, Token);

/// The numbers of the last commits of the runs of this machine.
///
/// A number is written without a sync: after a power cut the file may have an older one, and a check then detects less.
#[derive(Debug)]
pub(crate) struct Marks {
    state_dir: Option<PathBuf>,
    /// The runs that this process drives, each with its folder and its token. Locked for a few steps.
    runs: Mutex<HashMap<String, Driven>>,
    /// Was a warning given that a number cannot be written or read?
    is_warned: AtomicBool,
}

impl Marks {
    pub(crate) fn of(state_dir: Option<PathBuf>) -> Self {
        Marks { state_dir, runs: Mutex::default(), is_warned: AtomicBool::new(false) }
    }

    /// Compares the stored commits of a run with the recorded number, before the run is driven.
    ///
    /// # Errors
    /// The store has fewer commits.
    pub(crate) fn check(&self, run: &str, token: Option<&Token>, version: u64) -> Result<(), String> {
        let Some(token) = token else { return Ok(()) };
        let Some(folder) = self.place(run, token) else { return Ok(()) };
        match read(&folder).filter(|(of, _)| of == token) {
            Some((_, made)) if made > version => Err(format!(
                "this machine made commit {made} of the run, and the store has commit {version}; the store may \
                 be an older copy, or a SQLite file without its -wal"
            )),
            found => {
                if found.is_none() && folder.symlink_metadata(FILE).is_ok() {
                    self.warn(run, "it has no number of a commit of this run");
                }
                self.lock().insert(run.to_owned(), (Arc::new(folder), token.clone()));
                Ok(())
            }
        }
    }

    /// Accepts the store unchanged, although it has fewer commits than were made.
    ///
    /// # Errors
    /// The number cannot be written.
    pub(crate) fn accept(&self, run: &str, token: Option<&Token>, version: u64) -> Result<(), Failure> {
        let Some(token) = token else { return Ok(()) };
        let Some(folder) = self.place(run, token) else { return Ok(()) };
        write(&folder, token, version).map_err(|error| Failure::io("write", &self.path(run), &error))
    }

    /// Returns the folder of a run that is driven here.
    pub(crate) fn driven(&self, run: &str) -> Option<Driven> {
        self.lock().get(run).cloned()
    }

    /// A run is not driven here any more, unless it was claimed again.
    pub(crate) fn forget(&self, run: &str, driven: &Driven) {
        let mut runs = self.lock();
        if runs.get(run).is_some_and(|(folder, _)| Arc::ptr_eq(folder, &driven.0)) {
            runs.remove(run);
        }
    }

    /// Records a commit of a run. Without a record, a later check detects less.
    pub(crate) fn note(&self, run: &str, (folder, token): &Driven, version: u64) {
        if let Err(error) = write(folder, token, version) {
            self.warn(run, &error.to_string());
        }
    }

    /// Warns once that an older copy of the store would not be noticed.
    fn warn(&self, run: &str, why: &str) {
        if !self.is_warned.swap(true, Ordering::Relaxed) {
            complain(&printable(&format!(
                "warning: {}: {why}; an older copy of the store would not be noticed; remove the file, or make it this user's",
                self.path(run).display()
            )));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Driven>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open folder of a run on this machine, with the token of that run in it. No link is followed below the folder of
    /// all runs.
    fn place(&self, run: &str, token: &Token) -> Option<Dir> {
        let state_dir = self.state_dir.as_ref().filter(|_| is_a_name(run))?;
        let all = Dir::open_ambient_dir(state_dir, ambient_authority()).ok()?;
        let folder = below(&all, run).ok()?;
        (owner(&folder, token).ok()? == Owner::This).then_some(folder)
    }

    /// The name of the file, for messages.
    fn path(&self, run: &str) -> PathBuf {
        self.state_dir.as_deref().unwrap_or(Path::new("")).join(run).join(FILE)
    }
}

/// Opens the file in the folder of a run: no link, no pipe, and no second name of another file.
fn open(folder: &Dir, options: &mut OpenOptions) -> io::Result<File> {
    let file = folder.open_with(FILE, unblocked(options.follow(FollowSymlinks::No)))?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    #[cfg(unix)]
    if cap_std::fs::MetadataExt::nlink(&about) > 1 {
        return Err(io::Error::other("it has a second name"));
    }
    Ok(file)
}

fn read(folder: &Dir) -> Option<(Token, u64)> {
    let mut text = String::new();
    let file = open(folder, OpenOptions::new().read(true)).ok()?;
    file.take(MOST_BYTES + 1).read_to_string(&mut text).ok()?;
    if text.len() as u64 > MOST_BYTES {
        return None;
    }
    let (token, version) = text.trim_end().split_once(' ')?;
    Some((Token::try_from(token.to_owned()).ok()?, version.parse().ok()?))
}

/// One write of constant length over the old line: a killed process leaves the old number or the new one.
fn write(folder: &Dir, token: &Token, version: u64) -> io::Result<()> {
    let line = format!("{} {version:020}\n", String::from(token.clone()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    open(folder, &mut options)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::owner::mark_of;
    use super::*;

    #[test]
    fn a_store_with_fewer_commits_is_refused_until_it_is_accepted() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a-1");
        fs::create_dir(&folder).unwrap();
        let (token, other) = (Token::fresh().unwrap(), Token::fresh().unwrap());
        token.write(&mark_of(&folder)).unwrap();
        let marks = Marks::of(Some(place.path().to_owned()));
        let (own, foreign) = (Some(&token), Some(&other));
        let note = |version| marks.note("a-1", &marks.driven("a-1").unwrap(), version);
        marks.check("a-1", own, 0).unwrap();
        note(12);
        let opened = || Dir::open_ambient_dir(&folder, ambient_authority()).unwrap();
        assert_eq!(read(&opened()), Some((token.clone(), 12)));
        let refused = marks.check("a-1", own, 11).unwrap_err();
        assert!(
            refused.contains("this machine made commit 12 of the run, and the store has commit 11"),
            "{refused}"
        );
        marks.check("a-1", own, 12).unwrap();
        // The folder belongs to another run, or is missing.
        marks.check("a-1", foreign, 1).unwrap();
        marks.check("a-1", None, 1).unwrap();
        marks.check("b-1", own, 1).unwrap();
        marks.check("../a-1", own, 1).unwrap();
        note(13);
        marks.accept("a-1", own, 3).unwrap();
        marks.check("a-1", own, 3).unwrap();
        // A file of the most bytes, and one of a byte more.
        let line = format!("{} {:020}", String::from(token.clone()), 12);
        for (bytes, is_read) in [(128, true), (129, false)] {
            fs::write(folder.join(FILE), format!("{line}{}", " ".repeat(bytes - line.len()))).unwrap();
            assert_eq!(read(&opened()).is_some(), is_read, "{bytes}");
            assert_eq!(marks.check("a-1", own, 11).is_err(), is_read, "{bytes}");
        }
        // An unreadable file proves nothing.
        fs::write(folder.join(FILE), [0xff; 500]).unwrap();
        marks.check("a-1", own, 1).unwrap();
        #[cfg(unix)]
        {
            fs::remove_file(folder.join(FILE)).unwrap();
            fs::write(place.path().join("elsewhere"), "stays").unwrap();
            std::os::unix::fs::symlink(place.path().join("elsewhere"), folder.join(FILE)).unwrap();
            note(20);
            assert_eq!(fs::read_to_string(place.path().join("elsewhere")).unwrap(), "stays");
            fs::remove_file(folder.join(FILE)).unwrap();
            fs::hard_link(place.path().join("elsewhere"), folder.join(FILE)).unwrap();
            note(20);
            assert_eq!(fs::read_to_string(place.path().join("elsewhere")).unwrap(), "stays");
            fs::remove_file(folder.join(FILE)).unwrap();
            // The folder is swapped for a link after it was checked.
            let victim = place.path().join("victim");
            fs::create_dir(&victim).unwrap();
            token.write(&mark_of(&victim)).unwrap();
            fs::rename(&folder, place.path().join("moved")).unwrap();
            std::os::unix::fs::symlink(&victim, &folder).unwrap();
            note(21);
            marks.check("a-1", own, 1).unwrap();
            note(22);
            assert_eq!(fs::read_dir(&victim).unwrap().count(), 1, "nothing but its mark");
        }
    }

    #[test]
    fn release_of_a_run_keeps_the_folder_of_its_next_claim() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a-1");
        fs::create_dir(&folder).unwrap();
        let token = Token::fresh().unwrap();
        token.write(&mark_of(&folder)).unwrap();
        let marks = Marks::of(Some(place.path().to_owned()));
        marks.check("a-1", Some(&token), 0).unwrap();
        let released = marks.driven("a-1").unwrap();
        // Another task of this process claims the run before the first one has forgotten it.
        marks.check("a-1", Some(&token), 1).unwrap();
        marks.forget("a-1", &released);
        let claimed = marks.driven("a-1").unwrap();
        marks.forget("a-1", &claimed);
        assert!(marks.driven("a-1").is_none());
    }
}
