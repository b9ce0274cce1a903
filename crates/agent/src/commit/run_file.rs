//! The file of a run: its lines and their tags.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::PathBuf;

use runstate::snapshot::{Bundle, Graphs, KeyError, Keyring};

use super::super::state::{Fold, StateError, StoredRun};

/// The path of a run's file, and the keys that protect the file. Any path is a `RunFile` without keys.
///
/// Without keys, each line has a checksum. A checksum detects damage only. With keys, each line begins with a tag
/// ([`Keyring`]) that covers the line and the tag of the previous line. A changed, removed, inserted or moved line is
/// refused, and so is a line without a tag. Tags do not detect a shorter file: missing lines at the end, or an older
/// copy. [`RunFile::of`] refuses the complete file of another run under the same key.
///
/// ```
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::{
///     Agent, FileCommitter, InferenceRequest, Input, RunHandles, Model, ModelStream, RunFile, RunState, read_run, run_loop,
/// };
///
/// # struct Brief;
/// # impl Model for Brief {
/// #     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
/// #         Box::pin(futures_util::stream::iter([ModelEvent::Finish(FinishReason::Stop)]))
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("runstate-keyed-{}.jsonl", std::process::id()));
/// # std::fs::remove_file(&path).ok();
/// # let agent = Agent::builder(Brief).build()?;
/// let keyed = RunFile::from(&path).keyed(format!("k1 {}", "ab".repeat(32)).parse()?);
/// let mut file = FileCommitter::create(keyed.clone())?;
/// run_loop(&agent, &mut RunState::new("r1"), Input::message("hi"), RunHandles::new().committer(&mut file)).await?;
/// drop(file);
/// assert_eq!(read_run(keyed.clone())?.status(), "Done");
///
/// // A reader without the key is refused, and so is a line without a tag.
/// let refused = read_run(&path).unwrap_err().to_string();
/// assert!(refused.contains("line 1: it is stored under the key \"k1\""), "{refused}");
/// let text = std::fs::read_to_string(&path)?;
/// std::fs::write(&path, text.replacen("k1:", "", 1))?;
/// let refused = read_run(keyed).unwrap_err().to_string();
/// assert!(refused.contains("line 1: it has no tag"), "{refused}");
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RunFile {
    pub(super) path: PathBuf,
    pub(super) keys: Option<Keyring>,
    run: Option<String>,
    pub(super) most_bytes: u64,
}

/// The default size limit of a run's file in bytes: 1 GiB.
const MOST: u64 = 1 << 30;

impl RunFile {
    /// Sets the run id that the file must have. The lines contain the id, so keys cover it.
    ///
    /// ```
    /// use runstate_agent::{FileCommitter, RunFile};
    ///
    /// let file = RunFile::from("runs/pay-1.jsonl").of("pay-1");
    /// # let _ = file;
    /// ```
    #[must_use]
    pub fn of(self, run: impl Into<String>) -> Self {
        RunFile { run: Some(run.into()), ..self }
    }

    /// Sets the keys that protect the file.
    #[must_use]
    pub fn keyed(self, keys: Keyring) -> Self {
        RunFile { keys: Some(keys), ..self }
    }

    /// Sets the size limit in bytes. Default: 1 GiB. A file is read as a whole. A larger file is refused, and so is a
    /// commit that would exceed the limit.
    ///
    /// ```
    /// use runstate_agent::{FileCommitter, RunFile, read_run};
    ///
    /// # let path = std::env::temp_dir().join(format!("runstate-large-{}.jsonl", std::process::id()));
    /// std::fs::write(&path, "x".repeat(101))?;
    /// let refused = read_run(RunFile::from(&path).most_bytes(100)).unwrap_err().to_string();
    /// assert!(refused.ends_with("it has 101 bytes, and a file of a run has at most 100"), "{refused}");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn most_bytes(self, bytes: u64) -> Self {
        RunFile { most_bytes: bytes, ..self }
    }
}

impl<P: Into<PathBuf>> From<P> for RunFile {
    fn from(path: P) -> Self {
        RunFile { path: path.into(), keys: None, run: None, most_bytes: MOST }
    }
}

/// Reads the run in a file, without changes to the file. An incomplete last line is ignored, as in
/// [`FileCommitter::open`](super::FileCommitter::open).
///
/// # Errors
/// [`FileError`] when the file cannot be read, holds no run, or is damaged.
pub fn read_run(file: impl Into<RunFile>) -> Result<StoredRun, FileError> {
    let file = file.into();
    let mut opened = file.open(OpenOptions::new().read(true)).map_err(|error| file.io(error))?;
    let bytes = file.read(&mut opened).map_err(|error| file.io(error))?;
    file.fold(&bytes).map(|content| content.stored)
}

/// Refuses a size above the limit.
pub(super) fn too_large(bytes: u64, most: u64) -> io::Result<()> {
    if bytes <= most {
        return Ok(());
    }
    let why = format!("it has {bytes} bytes, and a file of a run has at most {most}");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, why))
}

/// The content of a run's file.
pub(super) struct Content {
    pub(super) stored: StoredRun,
    /// The length of all complete lines in bytes.
    pub(super) whole: usize,
    /// The tag of the last complete line; empty without keys.
    pub(super) tag: String,
}

impl RunFile {
    pub(super) fn io(&self, error: io::Error) -> FileError {
        FileError::Io { path: self.path.clone(), error }
    }

    /// Opens the file. Only a regular file is opened: opening a pipe would block until its other end is open.
    pub(super) fn open(&self, options: &OpenOptions) -> io::Result<File> {
        if std::fs::metadata(&self.path)?.is_file() {
            return options.open(&self.path);
        }
        Err(io::Error::new(io::ErrorKind::Unsupported, "it is no file"))
    }

    /// Reads the whole file.
    pub(super) fn read(&self, opened: &mut File) -> io::Result<Vec<u8>> {
        too_large(opened.metadata()?.len(), self.most_bytes)?;
        let mut bytes = Vec::new();
        opened.take(self.most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        too_large(bytes.len() as u64, self.most_bytes).map(|()| bytes)
    }

    /// Returns the line of a bundle, and the tag of the line. `before` is the tag of the previous line.
    pub(super) fn line(&self, mut bundle: Vec<u8>, before: &str) -> (Vec<u8>, String) {
        let tag = self.keys.as_ref().map(|keys| keys.tag(&["commit", before], &bundle));
        bundle.push(b'\n');
        match tag {
            Some(tag) => ([tag.as_bytes(), b" ", &bundle].concat(), tag),
            None => (bundle, String::new()),
        }
    }

    /// Returns the bundle of a line and the tag of the line. The line has no line feed.
    ///
    /// # Errors
    /// A wrong, missing or unexpected tag.
    fn bundle<'l>(&self, line: &'l [u8], before: &str) -> Result<(&'l [u8], &'l str), KeyError> {
        let tag = tag_of(line);
        let bundle = tag.map_or(line, |tag| &line[tag.len() + 1..]);
        Keyring::admits(self.keys.as_ref(), &["commit", before], bundle, tag)?;
        Ok((bundle, tag.unwrap_or_default()))
    }

    /// Reads the lines of the file.
    pub(super) fn fold(&self, bytes: &[u8]) -> Result<Content, FileError> {
        let (mut commits, mut graphs) = (Fold::default(), Graphs::default());
        let (mut whole, mut before) = (0, "");
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let at = |what: String| FileError::Damaged { path: self.path.clone(), line: number, what };
            let Some(text) = line.strip_suffix(b"\n") else {
                // A crash cut this line off before its commit was acknowledged. If only the end of the line is
                // missing, the commit is complete.
                let (_, but_its_end) = line.split_last().unwrap_or((&0, line));
                let bundle = tag_of(line).map_or(0, |tag| tag.len() + 1);
                if but_its_end.get(bundle..).is_some_and(Bundle::is_whole) {
                    return Err(at(damage("its end is damaged, and all before that is whole", true)));
                }
                break;
            };
            let (bundle, tag) = self.bundle(text, before).map_err(|why| at(why.to_string()))?;
            let is_last = whole + line.len() == bytes.len();
            let bundle =
                Bundle::read(bundle, &mut graphs).map_err(|what| match Bundle::is_whole(bundle) {
                    // The line is as it was written, perhaps by a program of another version.
                    true => at(format!("{what}; read the file with the program that wrote it")),
                    false => at(damage(&what.to_string(), is_last)),
                })?;
            commits.add(bundle).map_err(|error| at(error.to_string()))?;
            whole += line.len();
            before = tag;
        }
        let damaged = |error: StateError| FileError::Damaged {
            path: self.path.clone(),
            line: 1,
            what: error.to_string(),
        };
        let stored = commits.into_stored().map_err(damaged)?;
        if let Some(expected) = &self.run
            && let got = stored.id()
            && got != Some(expected.as_str())
        {
            let what = format!("expected the run {expected:?}, got {:?}", got.unwrap_or_default());
            return Err(FileError::Damaged { path: self.path.clone(), line: 1, what });
        }
        Ok(Content { stored, whole, tag: before.to_owned() })
    }
}

/// The tag before a bundle: the name of a key, a colon and 64 hexadecimal digits. The start of a bundle has no colon.
fn tag_of(line: &[u8]) -> Option<&str> {
    let end = line.iter().take(130).position(|byte| *byte == b' ')?;
    std::str::from_utf8(&line[..end]).ok().filter(|tag| tag.contains(':'))
}

/// Describes a damaged line and the remedy.
fn damage(what: &str, is_last: bool) -> String {
    let advice = if is_last {
        "it may be a commit that was made, or the machine may have failed while it was written: put the line back from a copy of \
         the file, or remove it to go on from the commit before it"
    } else {
        "put the file back from a copy"
    };
    format!("{what}; {advice}")
}

/// The reason why a run's file could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system returned an error.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        error: io::Error,
    },
    /// A line is not a commit, or does not fit the previous lines.
    #[error("{}, line {line}: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem.
        what: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_run_has_1_gib_and_no_more() {
        let most = RunFile::from("r1.jsonl").most_bytes;
        too_large(1 << 30, most).unwrap();
        let refused = too_large((1 << 30) + 1, most).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
        let told = "it has 1073741825 bytes, and a file of a run has at most 1073741824";
        assert_eq!(refused.to_string(), told);
    }
}
