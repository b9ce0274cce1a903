//! Current and durable state of files and folders, and the changes between them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::super::ChangeToken;
use super::Crash;
use super::survive::{Coin, Survives};

/// The number of a file. It does not change when the file is renamed.
pub(super) type Inode = usize;

/// A change of a file's content that is not synced yet.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Cut { length: usize },
}

#[derive(Debug, Clone, Default)]
struct File {
    now: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
    /// The time of the last change.
    changed: Moment,
}

/// An unsynced change of the names in a folder. It refers to the file by number, so that it is valid even if earlier
/// changes are lost.
#[derive(Debug, Clone)]
enum Named {
    Link {
        name: String,
        file: Inode,
    },
    Unlink {
        name: String,
        file: Inode,
    },
    /// A rename within one folder. Both names change, or neither does.
    Rename {
        from: String,
        to: String,
        file: Inode,
    },
}

#[derive(Debug, Clone, Default)]
struct Folder {
    now: BTreeMap<String, Inode>,
    durable: BTreeMap<String, Inode>,
    pending: Vec<Named>,
    /// The time of the last change of its names.
    changed: Moment,
}

/// The number of the boot, and the number of the operation. It is unique for each operation.
type Moment = (u64, usize);

#[derive(Debug, Clone)]
pub(super) struct State {
    files: Vec<File>,
    folders: BTreeMap<PathBuf, Folder>,
    locked: BTreeSet<Inode>,
    operations: usize,
    crash: Option<Crash>,
    failure: Option<(usize, io::ErrorKind)>,
    is_crashed: bool,
    /// The number of boots. Files opened before the last boot are closed.
    boot: u64,
}

impl State {
    pub(super) fn new() -> Self {
        State {
            files: Vec::new(),
            folders: BTreeMap::from([(PathBuf::from("/"), Folder::default())]),
            locked: BTreeSet::new(),
            operations: 0,
            crash: None,
            failure: None,
            is_crashed: false,
            boot: 0,
        }
    }

    pub(super) fn operations(&self) -> usize {
        self.operations
    }

    pub(super) fn crash_at(&mut self, crash: Crash) {
        self.crash = Some(crash);
    }

    pub(super) fn fail_at(&mut self, operation: usize, kind: io::ErrorKind) {
        self.failure = Some((operation, kind));
    }

    pub(super) fn is_crashed(&self) -> bool {
        self.is_crashed
    }

    fn up(&self) -> io::Result<()> {
        if self.is_crashed { Err(io::Error::other("the simulated machine has crashed")) } else { Ok(()) }
    }

    fn up_since(&self, boot: u64) -> io::Result<()> {
        self.up()?;
        if boot == self.boot {
            Ok(())
        } else {
            Err(io::Error::other("the file was opened before the last start"))
        }
    }

    /// Performs one changing operation, unless the crash comes first. The crash may also come right after it.
    fn operation<T>(&mut self, work: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        self.up()?;
        let number = self.operations;
        self.operations += 1;
        if self.crash == Some(Crash::Before(number)) {
            self.is_crashed = true;
            return Err(self.up().err().unwrap_or_else(|| io::ErrorKind::Other.into()));
        }
        if self.failure.is_some_and(|(at, _)| at == number)
            && let Some((_, kind)) = self.failure.take()
        {
            return Err(kind.into());
        }
        let done = work(self);
        if self.crash == Some(Crash::After(number)) {
            self.is_crashed = true;
            self.up()?;
        }
        done
    }

    /// The time of the current operation.
    fn moment(&self) -> Moment {
        (self.boot, self.operations)
    }

    fn folder(&mut self, path: &Path) -> io::Result<(&mut Folder, String)> {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or(io::ErrorKind::InvalidFilename)?;
        let parent = path.parent().unwrap_or(Path::new("/"));
        let folder = self.folders.get_mut(parent).ok_or(io::ErrorKind::NotFound)?;
        Ok((folder, name.to_owned()))
    }

    pub(super) fn open(&mut self, path: &Path, how: super::Open) -> io::Result<(Inode, u64)> {
        use super::Open;
        self.up()?;
        if self.folders.contains_key(path) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let boot = self.boot;
        let (folder, name) = self.folder(path)?;
        let found = folder.now.get(&name).copied();
        match (found, how) {
            (None, Open::Read) => Err(io::ErrorKind::NotFound.into()),
            (Some(_), Open::New) => Err(io::ErrorKind::AlreadyExists.into()),
            (Some(file), Open::Read | Open::Append) => Ok((file, boot)),
            (Some(file), Open::Write) => self.operation(|state| {
                state.change(file, Change::Cut { length: 0 });
                Ok((file, boot))
            }),
            (None, Open::Write | Open::New | Open::Append) => self.operation(|state| {
                let (file, changed) = (state.files.len(), state.moment());
                state.files.push(File { changed, ..File::default() });
                let (folder, name) = state.folder(path)?;
                folder.changed = changed;
                folder.now.insert(name.clone(), file);
                folder.pending.push(Named::Link { name, file });
                Ok((file, boot))
            }),
        }
    }

    pub(super) fn content(&self, file: Inode, boot: u64) -> io::Result<&[u8]> {
        self.up_since(boot)?;
        self.files.get(file).map(|file| file.now.as_slice()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn change(&mut self, file: Inode, change: Change) {
        let changed = self.moment();
        if let Some(file) = self.files.get_mut(file) {
            file.changed = changed;
            apply(&mut file.now, &change);
            file.pending.push(change);
        }
    }

    pub(super) fn write(&mut self, file: Inode, boot: u64, at: usize, bytes: &[u8]) -> io::Result<()> {
        self.up_since(boot)?;
        self.operation(|state| {
            state.change(file, Change::Write { at, bytes: bytes.to_vec() });
            Ok(())
        })
    }

    pub(super) fn cut(&mut self, file: Inode, boot: u64, length: usize) -> io::Result<()> {
        self.up_since(boot)?;
        self.operation(|state| {
            state.change(file, Change::Cut { length });
            Ok(())
        })
    }

    pub(super) fn sync(&mut self, file: Inode, boot: u64) -> io::Result<()> {
        self.up_since(boot)?;
        self.operation(|state| {
            if let Some(file) = state.files.get_mut(file) {
                file.durable.clone_from(&file.now);
                file.pending.clear();
            }
            Ok(())
        })
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation(|state| {
            let (source, name) = state.folder(from)?;
            let file = *source.now.get(&name).ok_or(io::ErrorKind::NotFound)?;
            let changed = state.moment();
            state.folder(to)?.0.changed = changed;
            let (source, name) = state.folder(from)?;
            source.changed = changed;
            source.now.remove(&name);
            if from.parent() == to.parent() {
                let to = to.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
                source.now.insert(to.clone(), file);
                source.pending.push(Named::Rename { from: name, to, file });
                return Ok(());
            }
            source.pending.push(Named::Unlink { name, file });
            let (target, name) = state.folder(to)?;
            target.now.insert(name.clone(), file);
            target.pending.push(Named::Link { name, file });
            Ok(())
        })
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.operation(|state| {
            let changed = state.moment();
            let (folder, name) = state.folder(path)?;
            let file = folder.now.remove(&name).ok_or(io::ErrorKind::NotFound)?;
            folder.changed = changed;
            folder.pending.push(Named::Unlink { name, file });
            Ok(())
        })
    }

    /// Creates a folder that is durable immediately. The loss of folders would test little: a missing run is not a
    /// damaged run.
    pub(super) fn create_folder(&mut self, path: &Path) -> io::Result<()> {
        self.operation(|state| {
            let parent = path.parent().unwrap_or(Path::new("/"));
            if !state.folders.contains_key(parent) {
                return Err(io::ErrorKind::NotFound.into());
            }
            if state.folders.contains_key(path)
                || state.folder(path).is_ok_and(|(f, n)| f.now.contains_key(&n))
            {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            let changed = state.moment();
            state.folders.insert(path.to_path_buf(), Folder { changed, ..Folder::default() });
            state.folder(path)?.0.changed = changed;
            Ok(())
        })
    }

    /// Removes a folder. The removal is durable immediately, as the creation is.
    pub(super) fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        self.operation(|state| {
            let folder = state.folders.get(path).ok_or(io::ErrorKind::NotFound)?;
            if !folder.now.is_empty() || state.folders.keys().any(|other| other.parent() == Some(path)) {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            state.folders.remove(path);
            let changed = state.moment();
            if let Ok((parent, _)) = state.folder(path) {
                parent.changed = changed;
            }
            Ok(())
        })
    }

    pub(super) fn sync_folder(&mut self, path: &Path) -> io::Result<()> {
        self.operation(|state| {
            let folder = state.folders.get_mut(path).ok_or(io::ErrorKind::NotFound)?;
            folder.durable.clone_from(&folder.now);
            folder.pending.clear();
            Ok(())
        })
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.up()?;
        let folder = self.folders.get(path).ok_or(io::ErrorKind::NotFound)?;
        let below = self.folders.keys().filter(|folder| folder.parent() == Some(path) && *folder != path);
        let below = below.filter_map(|folder| folder.file_name()?.to_str().map(str::to_owned));
        let names: BTreeSet<String> = folder.now.keys().cloned().chain(below).collect();
        Ok(names.into_iter().collect())
    }

    /// The token is exact, because each operation has a unique time.
    pub(super) fn change_token(&self, path: &Path) -> io::Result<ChangeToken> {
        self.up()?;
        let of = |file: Inode, length: usize, (boot, operation): Moment| ChangeToken {
            file: file as u64,
            length: length as u64,
            changed: (i128::from(boot) << 64) + operation as i128,
        };
        if let Some(folder) = self.folders.get(path) {
            return Ok(of(0, folder.now.len(), folder.changed));
        }
        let folder = path.parent().and_then(|parent| self.folders.get(parent));
        let name = path.file_name().and_then(|name| name.to_str());
        let file = folder.zip(name).and_then(|(folder, name)| folder.now.get(name));
        let file = *file.ok_or(io::ErrorKind::NotFound)?;
        let found = self.files.get(file).ok_or(io::ErrorKind::NotFound)?;
        Ok(of(file, found.now.len(), found.changed))
    }

    pub(super) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        for (path, folder) in &self.folders {
            for (name, file) in &folder.now {
                let content = self.files.get(*file).map(|file| file.now.clone()).unwrap_or_default();
                files.push((path.join(name).display().to_string(), content));
            }
        }
        files.sort();
        files
    }

    pub(super) fn take_lock(&mut self, file: Inode, boot: u64) -> io::Result<bool> {
        self.up_since(boot)?;
        Ok(self.locked.insert(file))
    }

    pub(super) fn release(&mut self, file: Inode, boot: u64) {
        if boot == self.boot {
            self.locked.remove(&file);
        }
    }

    pub(super) fn restart(&mut self, survives: Survives) {
        let mut coin = Coin::new(survives);
        self.boot += 1;
        let changed = self.moment();
        for file in &mut self.files {
            file.changed = changed;
            for change in std::mem::take(&mut file.pending) {
                if let Some(change) = coin.content(change) {
                    apply(&mut file.durable, &change);
                }
            }
            file.now.clone_from(&file.durable);
        }
        for folder in self.folders.values_mut() {
            folder.changed = changed;
            for named in std::mem::take(&mut folder.pending) {
                if coin.name() {
                    rename(&mut folder.durable, named);
                }
            }
            folder.now.clone_from(&folder.durable);
        }
        self.locked.clear();
        self.crash = None;
        self.failure = None;
        self.is_crashed = false;
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { at, bytes } => {
            let end = at + bytes.len();
            if content.len() < end {
                // If an earlier write was lost, its bytes are zeros.
                content.resize(end, 0);
            }
            content[*at..end].copy_from_slice(bytes);
        }
        Change::Cut { length } => content.resize(*length, 0),
    }
}

fn rename(names: &mut BTreeMap<String, Inode>, change: Named) {
    let mut unlink = |name: &str, file: Inode| {
        if names.get(name) == Some(&file) {
            names.remove(name);
        }
    };
    match change {
        Named::Link { name, file } => drop(names.insert(name, file)),
        Named::Unlink { name, file } => unlink(&name, file),
        Named::Rename { from, to, file } => {
            unlink(&from, file);
            names.insert(to, file);
        }
    }
}
