//! Files and standard input, with limits.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use runstate::diagram::{LineIndex, Span};
use runstate::trace::closest;
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// The largest text that is read as a whole: diagrams, graphs, state files. Traces are streamed and have no limit.
pub(crate) const TEXT_LIMIT: u64 = 64 << 20;

/// A text that was read whole, and the name to show for it.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// What to call an input in messages.
pub(crate) fn name_of(path: &str) -> String {
    if path == "-" { "<stdin>".to_owned() } else { path.to_owned() }
}

/// Reads a file, or standard input for `-`, as UTF-8 text of at most `limit` bytes.
///
/// # Errors
/// A file that cannot be read, is a folder, is larger, or is no text; the latter with the place.
pub(crate) fn read_text(path: &str, limit: u64) -> Result<Text, Failure> {
    let name = name_of(path);
    let from = open(path).map_err(|error| unreadable(path, &error))?;
    whole(from, &name, limit)
}

/// The failure of a file that cannot be read, with the name that may be meant where there is no such file.
pub(crate) fn unreadable(path: &str, error: &io::Error) -> Failure {
    let name = name_of(path);
    let failure = Failure::io("read", Path::new(&name), error);
    match nearest(Path::new(path)).filter(|_| error.kind() == io::ErrorKind::NotFound) {
        Some(near) => failure.with_help(format!("did you mean {near}?")),
        None => failure,
    }
}

/// A file of the same kind in the same folder, with a name that is near.
fn nearest(path: &Path) -> Option<String> {
    const MOST: usize = 1_000;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = fs::read_dir(folder).ok()?.take(MOST).flatten().map(|entry| PathBuf::from(entry.file_name()));
    let stems = files.filter(|file| file.extension() == path.extension());
    let stems: Vec<String> = stems.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect();
    let near = closest(path.file_stem()?.to_str()?, stems.iter().map(String::as_str))?;
    let name = match path.extension() {
        Some(kind) => format!("{near}.{}", kind.to_str()?),
        None => near.to_owned(),
    };
    Some(path.with_file_name(name).display().to_string())
}

/// Reads all that is left, as [`read_text`] does.
///
/// # Errors
/// As [`read_text`].
pub(crate) fn whole(from: impl Read, name: &str, limit: u64) -> Result<Text, Failure> {
    let mut bytes = Vec::new();
    from.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io("read", Path::new(name), &error))?;
    if bytes.len() as u64 > limit {
        return Err(Failure::new(format!(
            "{name} has more than the {limit} bytes that are read of such a file"
        )));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Text { name: name.to_owned(), text }),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes());
            Err(Failure::at("expected UTF-8 text, got another byte", name, &text, Span::new(at, at + 1)))
        }
    }
}

/// Reads JSON.
///
/// # Errors
/// What is not as it should be, with the place.
pub(crate) fn json<T: DeserializeOwned>(source: &Text) -> Result<T, Failure> {
    if source.text.trim().is_empty() {
        return Err(Failure::new(format!("{} is empty: expected JSON", source.name)));
    }
    runstate::json::from_str(&source.text).map_err(|error| {
        let message = error.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        let start = LineIndex::new(&source.text).line_start(error.line()).unwrap_or(0);
        let at = start + error.column().saturating_sub(1);
        Failure::at(&message[..end], &source.name, &source.text, Span::new(at, at + 1))
    })
}

/// A line of a file, counted from 1; none where it cannot be read again, as with standard input.
pub(crate) fn line(path: &str, number: u64) -> Option<String> {
    if path == "-" {
        return None;
    }
    let mut lines = open(path).ok()?.split(b'\n');
    let line = lines.nth(usize::try_from(number.checked_sub(1)?).ok()?)?.ok()?;
    String::from_utf8(line).ok()
}

/// Opens a file, or standard input for `-`, to be read line by line.
///
/// # Errors
/// Those of the operating system.
pub(crate) fn open(path: &str) -> io::Result<Box<dyn BufRead>> {
    if path == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    Ok(Box::new(BufReader::with_capacity(64 << 10, file)))
}
