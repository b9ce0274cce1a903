//! Commits in a file, one line of JSON each.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use tokio::sync::oneshot;

use super::super::state::StoredRun;
use super::run_file::{Content, FileError, RunFile, too_large};
use super::{CommitError, Delta, StateCommitter};
use crate::checkpoint::Due;

/// Appends each commit to a file, as a line of JSON behind its SHA-256, and syncs it. A step costs the same however long the
/// file is.
///
/// Writing and syncing happen on a thread of its own, so that a slow disk stops no other run. [`RunFile::keyed`] protects the
/// file against other writers.
///
/// ```
/// use runstate::agent::answer::{FinishReason, ModelEvent};
/// use runstate::agent::{
///     Agent, FileCommitter, InferenceRequest, Input, Io, Model, ModelStream, RunState, read_run, run_loop,
/// };
///
/// struct Brief;
///
/// impl Model for Brief {
///     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
///         Box::pin(futures_util::stream::iter([ModelEvent::Finish(FinishReason::Stop)]))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("runstate-example-{}.jsonl", std::process::id()));
/// # std::fs::remove_file(&path).ok();
/// let agent = Agent::builder(Brief).build()?;
/// let mut state = RunState::new("r1");
/// let mut file = FileCommitter::create(&path)?;
/// run_loop(&agent, &mut state, Input::message("hi"), Io::new().committer(&mut file)).await?;
/// drop(file);
/// assert_eq!(read_run(&path)?.restore()?.steps(), 1);
///
/// // The file of a run is not taken for that of another.
/// assert!(FileCommitter::create(&path).is_err());
///
/// // A line that a crash cut off was no commit yet; one that is whole and damaged may have been.
/// let whole = std::fs::read_to_string(&path)?;
/// std::fs::write(&path, &whole[..whole.len() - 10])?;
/// let (file, stored) = FileCommitter::open(&path)?;
/// assert!(file.cut_off() > 0 && stored.version() == 2);
/// std::fs::write(&path, whole.replace("natural_end", "cancelled"))?;
/// let error = FileCommitter::open(&path).unwrap_err();
/// assert!(error.to_string().contains("line 3: it was changed after it was written"), "{error}");
/// # drop(file);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FileCommitter {
    file: RunFile,
    lines: Option<mpsc::Sender<Line>>,
    writer: Option<JoinHandle<()>>,
    /// The number of the last commit that is known to be in the file.
    version: u64,
    /// Was the one behind it given to the writer, and its loop dropped before it said more? It may be in the file.
    is_unsure: bool,
    /// The tag of that commit, and of the one behind it; empty without keys.
    tags: [String; 2],
    /// Bytes that were removed when the file was opened.
    cut_off: usize,
}

/// A line, and who waits for it to be durable.
struct Line {
    bytes: Vec<u8>,
    /// Does it take the place of the line before it, whose loop was dropped while it was written?
    replaces: bool,
    done: oneshot::Sender<io::Result<()>>,
}

/// The file as the writer left it.
struct Written {
    file: File,
    /// The most bytes that are read of it.
    most: u64,
    /// Where the next line goes.
    end: u64,
    /// Where the last line that was tried begins, as long as it is there.
    last: Option<u64>,
    /// Is half a line there that could not be taken back?
    stuck: Option<io::Error>,
}

impl FileCommitter {
    /// Commits a new run into a file that is not there yet.
    ///
    /// # Errors
    /// [`FileError::Io`] when the file is there, or cannot be made.
    pub fn create(file: impl Into<RunFile>) -> Result<Self, FileError> {
        let file = file.into();
        let at = |error| file.io(error);
        let opened = OpenOptions::new().append(true).create_new(true).open(&file.path).map_err(at)?;
        sync_folder(&file.path).map_err(at)?;
        Self::start(file, opened)
    }

    /// Goes on with the file of a run, and says what it holds. A last line that a crash cut off, so that it does not end, is
    /// removed first: nobody was told that its commit was made. [`cut_off`](Self::cut_off) says how much that was.
    ///
    /// # Errors
    /// [`FileError`] when the file cannot be read, is that of no run, or is damaged: a line that ends, the last one too, may be a
    /// commit that was made. Nothing is removed then.
    pub fn open(file: impl Into<RunFile>) -> Result<(Self, StoredRun), FileError> {
        let file = file.into();
        let at = |error| file.io(error);
        let mut opened = OpenOptions::new();
        let mut opened = file.open(opened.read(true).write(true)).map_err(at)?;
        let bytes = file.read(&mut opened).map_err(at)?;
        let Content { stored, whole, tag } = file.fold(&bytes)?;
        if whole < bytes.len() {
            opened.set_len(whole as u64).map_err(at)?;
            opened.sync_all().map_err(at)?;
        }
        opened.seek(SeekFrom::Start(whole as u64)).map_err(at)?;
        let mut committer = Self::start(file, opened)?;
        (committer.version, committer.tags[0]) = (stored.version(), tag);
        committer.cut_off = bytes.len() - whole;
        Ok((committer, stored))
    }

    fn start(file: RunFile, mut opened: File) -> Result<Self, FileError> {
        let (lines, incoming) = mpsc::channel::<Line>();
        let end = opened.stream_position().map_err(|error| file.io(error))?;
        let mut written = Written { file: opened, most: file.most_bytes, end, last: None, stuck: None };
        let writer = thread::Builder::new().name("runstate-commit".to_owned()).spawn(move || {
            for line in incoming {
                let outcome = written.add(&line);
                // Who waited may be gone, with its run; the line is written all the same.
                line.done.send(outcome).ok();
            }
        });
        match writer {
            Ok(writer) => {
                let (lines, writer) = (Some(lines), Some(writer));
                let tags = Default::default();
                Ok(FileCommitter { file, lines, writer, version: 0, is_unsure: false, tags, cut_off: 0 })
            }
            Err(error) => Err(file.io(error)),
        }
    }

    /// Is the commit the next one, and does it take the place of one whose loop was dropped?
    fn replaces(&mut self, version: u64) -> Result<bool, CommitError> {
        if self.is_unsure && version == self.version + 2 {
            // The run was read anew, and that commit was there.
            self.is_unsure = false;
            self.advance();
        }
        if version == self.version + 1 {
            return Ok(self.is_unsure);
        }
        let (path, next) = (self.path().display(), self.version + 1);
        Err(CommitError::new(format!(
            "{path}: it is commit {version} where commit {next} is the next, so another writer was here; read the run anew"
        )))
    }

    /// The commit behind the last one is known to be in the file.
    fn advance(&mut self) {
        self.version += 1;
        self.tags[0] = std::mem::take(&mut self.tags[1]);
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// How many bytes of a last line that a crash had cut off were removed when the file was opened; 0 where it was whole.
    pub fn cut_off(&self) -> usize {
        self.cut_off
    }
}

impl Written {
    /// Adds a line. One that fails by half is taken back, so that the next does not stand behind its remains.
    fn add(&mut self, line: &Line) -> io::Result<()> {
        if let Some(error) = &self.stuck {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        if self.file.metadata()?.len() != self.end {
            return Err(io::Error::other("another writer has changed it; read the run anew"));
        }
        if let Some(at) = self.last.take().filter(|_| line.replaces) {
            self.cut(at)?;
        }
        too_large(self.end + line.bytes.len() as u64, self.most)?;
        match self.file.write_all(&line.bytes).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.last = Some(self.end);
                self.end += line.bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                if let Err(stuck) = self.cut(self.end) {
                    self.stuck = Some(stuck);
                }
                Err(error)
            }
        }
    }

    fn cut(&mut self, at: u64) -> io::Result<()> {
        self.file.set_len(at)?;
        self.file.seek(SeekFrom::Start(at))?;
        self.end = at;
        Ok(())
    }
}

impl Drop for FileCommitter {
    fn drop(&mut self) {
        // The channel is closed first: the thread writes what it has and ends.
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            writer.join().ok();
        }
    }
}

#[async_trait]
impl StateCommitter for FileCommitter {
    async fn commit(&mut self, _: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        let replaces = self.replaces(delta.version())?;
        let (bytes, tag) = self.file.line(delta.bundle().map_err(CommitError::new)?, &self.tags[0]);
        self.tags[1] = tag;
        let (done, written) = oneshot::channel();
        let line = Line { bytes, replaces, done };
        let stopped = format!("the writer of {} has stopped", self.path().display());
        let Some(Ok(())) = self.lines.as_ref().map(|lines| lines.send(line)) else {
            return Err(CommitError::new(stopped));
        };
        // Dropped here, what becomes of the line is not known.
        self.is_unsure = true;
        let written = written.await.map_err(|_| CommitError::new(stopped))?;
        self.is_unsure = false;
        written.map_err(|error| CommitError::new(format!("{}: {error}", self.path().display())))?;
        self.advance();
        Ok(())
    }
}

/// A new file is durable once its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
