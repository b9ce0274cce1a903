//! What is done to files, noted down, and done again by `std::fs` alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use runstate_runtime::files::{Disk, DiskFile, Open, RealDisk};

/// One operation. Open files are numbered in the order in which they were opened.
#[derive(Debug, Clone)]
pub enum Operation {
    /// A file was opened, or was not there.
    Open(PathBuf, Open),
    /// It was closed.
    Close(usize),
    /// Its length was asked for.
    Length(usize),
    /// A part was read.
    Read(usize, u64, u64),
    /// It was written to.
    Write(usize, Vec<u8>),
    /// It was cut.
    Cut(usize, u64),
    /// It was synced.
    Sync(usize),
    /// It was locked.
    Lock(usize),
    /// A name was changed.
    Rename(PathBuf, PathBuf),
    /// A name was removed.
    Remove(PathBuf),
    /// A folder was made, or was there.
    CreateFolder(PathBuf),
    /// A folder was synced.
    SyncFolder(PathBuf),
    /// A folder was listed.
    List(PathBuf),
}

type Tape = Arc<Mutex<Vec<Operation>>>;

/// The machine's disk, with a note of each operation.
#[derive(Debug)]
pub struct Recording {
    tape: Tape,
    opened: Arc<Mutex<usize>>,
}

impl Recording {
    /// Notes are added to `tape`.
    pub fn new(tape: Tape) -> Self {
        Recording { tape, opened: Arc::default() }
    }
}

fn note(tape: &Tape, operation: Operation) {
    tape.lock().unwrap_or_else(PoisonError::into_inner).push(operation);
}

#[derive(Debug)]
struct RecordingFile {
    tape: Tape,
    number: usize,
    file: Box<dyn DiskFile>,
}

impl Disk for Recording {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        note(&self.tape, Operation::Open(path.to_path_buf(), how));
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *opened;
        *opened += 1;
        Ok(Box::new(RecordingFile { tape: Arc::clone(&self.tape), number, file: RealDisk.open(path, how)? }))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        note(&self.tape, Operation::Rename(from.to_path_buf(), to.to_path_buf()));
        RealDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        note(&self.tape, Operation::Remove(path.to_path_buf()));
        RealDisk.remove(path)
    }
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        note(&self.tape, Operation::CreateFolder(path.to_path_buf()));
        RealDisk.create_folder(path)
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        note(&self.tape, Operation::SyncFolder(path.to_path_buf()));
        RealDisk.sync_folder(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        note(&self.tape, Operation::List(path.to_path_buf()));
        RealDisk.list(path)
    }
}

impl DiskFile for RecordingFile {
    fn len(&mut self) -> io::Result<u64> {
        note(&self.tape, Operation::Length(self.number));
        self.file.len()
    }
    fn read_from(&mut self, offset: u64, most: u64) -> io::Result<Vec<u8>> {
        note(&self.tape, Operation::Read(self.number, offset, most));
        self.file.read_from(offset, most)
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        note(&self.tape, Operation::Write(self.number, bytes.to_vec()));
        self.file.write(bytes)
    }
    fn cut(&mut self, length: u64) -> io::Result<()> {
        note(&self.tape, Operation::Cut(self.number, length));
        self.file.cut(length)
    }
    fn sync(&mut self) -> io::Result<()> {
        note(&self.tape, Operation::Sync(self.number));
        self.file.sync()
    }
    fn lock(&mut self) -> io::Result<()> {
        note(&self.tape, Operation::Lock(self.number));
        self.file.lock()
    }
    fn try_lock(&mut self) -> io::Result<()> {
        note(&self.tape, Operation::Lock(self.number));
        self.file.try_lock()
    }
}

impl Drop for RecordingFile {
    fn drop(&mut self) {
        note(&self.tape, Operation::Close(self.number));
    }
}

/// Does the same below `to` that was done below `from`. What failed then may fail now.
///
/// # Errors
/// What failed on an open file.
pub fn replay(operations: &[Operation], from: &Path, to: &Path) -> io::Result<()> {
    let here =
        |path: &Path| path.strip_prefix(from).map_or_else(|_| path.to_path_buf(), |rest| to.join(rest));
    let mut files: Vec<Option<File>> = Vec::new();
    for operation in operations {
        match operation {
            Operation::Open(path, how) => {
                let mut options = OpenOptions::new();
                match how {
                    Open::Read => options.read(true),
                    Open::Write => options.write(true).create(true).truncate(true),
                    Open::New => options.write(true).create_new(true),
                    Open::Append => options.read(true).append(true).create(true),
                };
                files.push(options.open(here(path)).ok());
            }
            Operation::Close(number) => files[*number] = None,
            Operation::Rename(a, b) => fs::rename(here(a), here(b))?,
            Operation::Remove(path) => fs::remove_file(here(path))?,
            Operation::CreateFolder(path) => drop(fs::create_dir(here(path))),
            Operation::SyncFolder(path) => File::open(here(path))?.sync_all()?,
            Operation::List(path) => drop(fs::read_dir(here(path))?.count()),
            Operation::Length(number)
            | Operation::Read(number, ..)
            | Operation::Write(number, _)
            | Operation::Cut(number, _)
            | Operation::Sync(number)
            | Operation::Lock(number) => {
                if let Some(file) = &mut files[*number] {
                    on_open(file, operation)?;
                }
            }
        }
    }
    Ok(())
}

fn on_open(file: &mut File, operation: &Operation) -> io::Result<()> {
    match operation {
        Operation::Length(_) => file.metadata().map(drop),
        Operation::Read(_, offset, most) => {
            file.seek(SeekFrom::Start(*offset))?;
            let mut bytes = Vec::new();
            file.take(*most).read_to_end(&mut bytes).map(drop)
        }
        Operation::Write(_, bytes) => file.write_all(bytes),
        Operation::Cut(_, length) => file.set_len(*length),
        Operation::Sync(_) => file.sync_all(),
        _ => file.lock(),
    }
}
