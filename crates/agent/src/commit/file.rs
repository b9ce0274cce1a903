//! A committer that writes to a file, one line of JSON per commit.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use runstate::checkpoint::Due;
use tokio::sync::oneshot;

use super::super::state::StoredRun;
use super::run_file::{Content, FileError, RunFile, too_large};
use super::{CommitError, Delta, StateCommitter};

/// Committer that appends each commit to a file and syncs it. A line is the SHA-256 of the commit followed by its
/// JSON. The cost of a commit does not depend on the length of the file.
///
/// A separate thread writes and syncs, so a slow disk blocks no other run. [`RunFile::keyed`] protects the file
/// against other writers.
///
/// ```
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::{
///     Agent, FileCommitter, InferenceRequest, Input, RunHandles, Model, ModelStream, RunState, read_run, run_loop,
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
/// run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new().committer(&mut file)).await?;
/// drop(file);
/// assert_eq!(read_run(&path)?.restore()?.steps(), 1);
///
/// // `create` refuses an existing file.
/// assert!(FileCommitter::create(&path).is_err());
///
/// // A crash may cut the last line off before its commit is acknowledged. A complete but damaged line is an error.
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
    /// The number of the last commit known to be in the file.
    version: u64,
    /// Whether the loop was dropped while the writer had the next commit. That commit may be in the file.
    is_unsure: bool,
    /// The tags of the last commit and of the next one; empty without keys.
    tags: [String; 2],
    /// Bytes removed when the file was opened.
    cut_off: usize,
}

/// A line, and the sender that reports when it is durable.
struct Line {
    bytes: Vec<u8>,
    /// Whether the line replaces the previous line. The loop of the previous line was dropped during its write.
    replaces: bool,
    done: oneshot::Sender<io::Result<()>>,
}

/// The writer's view of the file.
struct Written {
    file: File,
    /// The size limit of the file in bytes.
    most: u64,
    /// The position of the next line.
    end: u64,
    /// The position of the last line that was written, if it is still there.
    last: Option<u64>,
    /// The error that left a partial line in the file.
    stuck: Option<io::Error>,
}

impl FileCommitter {
    /// Creates the file of a new run.
    ///
    /// # Errors
    /// [`FileError::Io`] when the file exists already or cannot be created.
    pub fn create(file: impl Into<RunFile>) -> Result<Self, FileError> {
        let file = file.into();
        let at = |error| file.io(error);
        let opened = OpenOptions::new().append(true).create_new(true).open(&file.path).map_err(at)?;
        sync_folder(&file.path).map_err(at)?;
        Self::start(file, opened)
    }

    /// Opens the file of a run, and returns its content. An incomplete last line was cut off by a crash before its
    /// commit was acknowledged; it is removed first. [`cut_off`](Self::cut_off) gives the number of removed bytes.
    ///
    /// # Errors
    /// [`FileError`] when the file cannot be read, holds no run, or is damaged. A complete line, the last one
    /// included, may be an acknowledged commit, so a damaged file is left unchanged.
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
                // The receiver may be gone, with its run. The line is written anyway.
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

    /// Checks that the commit is the next one. Returns whether it replaces a commit whose loop was dropped.
    fn replaces(&mut self, version: u64) -> Result<bool, CommitError> {
        if self.is_unsure && version == self.version + 2 {
            // The run was read again, and that commit was in the file.
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

    /// Records that the commit after the last one is in the file.
    fn advance(&mut self) {
        self.version += 1;
        self.tags[0] = std::mem::take(&mut self.tags[1]);
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// The number of bytes removed from the end when the file was opened. A crash had cut the last line off. 0 for a
    /// complete file.
    pub fn cut_off(&self) -> usize {
        self.cut_off
    }
}

impl Written {
    /// Appends a line. A failed partial write is removed, so that the next line does not follow its remains.
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
        // The channel is closed first: the thread writes its remaining lines and ends.
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
        // If this future is dropped here, the fate of the line is unknown.
        self.is_unsure = true;
        let written = written.await.map_err(|_| CommitError::new(stopped))?;
        self.is_unsure = false;
        written.map_err(|error| CommitError::new(format!("{}: {error}", self.path().display())))?;
        self.advance();
        Ok(())
    }
}

/// Syncs the folder of a file. A new file is durable once its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
