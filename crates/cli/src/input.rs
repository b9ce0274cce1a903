//! Files and standard input, with limits.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use runstate::diagram::{LineIndex, Span};
use runstate::trace::closest;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::meant::suggesting;
use crate::output::printable;

/// The maximum size of a text that is read as a whole: diagrams, graphs, state files. Traces are streamed and have no limit.
pub(crate) const TEXT_LIMIT: u64 = 64 << 20;

/// A complete text, with its name for display.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The name of an input in messages.
pub(crate) fn name_of(path: &str) -> String {
    if path == "-" { "<stdin>".to_owned() } else { path.to_owned() }
}

/// Reads a file, or standard input for `-`, as UTF-8 text of at most `limit` bytes.
///
/// # Errors
/// The file cannot be read, is a folder, is too large, or is no text; the latter with the place.
pub(crate) fn read_text(path: &str, limit: u64) -> Result<Text, Failure> {
    let bytes = if path == "-" { bounded(io::stdin().lock(), limit) } else { read(Path::new(path), limit) };
    text(bytes.map_err(|error| unreadable(path, &error))?, &name_of(path))
}

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// Errors of [`file`], and [`io::ErrorKind::FileTooLarge`] with the size and the limit.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    contents(file(path)?, limit)
}

/// As [`read`], for an open file.
///
/// # Errors
/// Errors of the operating system, and [`io::ErrorKind::FileTooLarge`] with the size and the limit.
pub(crate) fn contents(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let about = file.metadata()?;
    if about.is_file() && about.len() > limit {
        return Err(too_large(&about.len().to_string(), limit));
    }
    bounded(file, limit)
}

/// Reads the rest of the input, of at most `limit` bytes.
fn bounded(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large("more", limit)) } else { Ok(bytes) }
}

fn too_large(size: &str, limit: u64) -> io::Error {
    let why = format!("expected at most {limit} bytes, got {size}; split the file");
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}

/// Opens a file for reading.
///
/// # Errors
/// Errors of [`opened`].
pub(crate) fn file(path: &Path) -> io::Result<File> {
    opened(File::options().read(true), path, Links::Followed)
}

/// The treatment of a link in place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    /// Refused: another user may have chosen its target.
    Refused,
}

/// Opens a file. A pipe in its place would block the process until its other end is opened.
///
/// # Errors
/// Errors of the operating system; [`io::ErrorKind::IsADirectory`]; [`io::ErrorKind::Unsupported`] for a pipe and a device,
/// and for a link that is not followed. A file that the process already has open may be a pipe, such as `/dev/stdin` and the
/// `<(…)` of a shell.
pub(crate) fn opened(options: &mut OpenOptions, path: &Path, links: Links) -> io::Result<File> {
    const IS_OPEN: [&str; 3] = ["/dev/fd", "/dev/stdin", "/proc/self/fd"];
    if IS_OPEN.iter().any(|place| path.starts_with(place)) {
        return options.open(path);
    }
    let no_file =
        |what: &str| io::Error::new(io::ErrorKind::Unsupported, format!("expected a file, got {what}"));
    let is_link = || links == Links::Refused && fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    let file = match unblocked(options, links).open(path) {
        Ok(file) => file,
        Err(_) if is_link() => return Err(no_file("a link: links are not followed")),
        // A pipe that is opened for writing, without a reader.
        Err(_) if fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) => {
            return Err(no_file(PIPE));
        }
        Err(error) => return Err(error),
    };
    let about = file.metadata()?;
    match about.is_file() {
        true => Ok(file),
        false if about.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        false => Err(no_file(PIPE)),
    }
}

const PIPE: &str = "a pipe or a device";

#[cfg(unix)]
fn unblocked(options: &mut OpenOptions, links: Links) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;
    let links = if links == Links::Refused { OFlags::NOFOLLOW } else { OFlags::empty() };
    options.custom_flags((OFlags::NONBLOCK | links).bits().cast_signed())
}

#[cfg(not(unix))]
fn unblocked(options: &mut OpenOptions, _: Links) -> &mut OpenOptions {
    options
}

/// The failure of an unreadable file, with a similar name if there is no such file.
pub(crate) fn unreadable(path: &str, error: &io::Error) -> Failure {
    let name = name_of(path);
    let failure = Failure::io("read", Path::new(&name), error);
    if error.kind() == io::ErrorKind::Unsupported {
        return failure.with_help(format!("`-` reads standard input: `… - < {}`", printable(path)));
    }
    match error.kind() {
        io::ErrorKind::NotFound => {}
        io::ErrorKind::IsADirectory => {
            let folder = Path::new(&name).display();
            return Failure::new(format!("cannot read {folder}: expected a file, got a folder"))
                .with_help("name a file of the folder");
        }
        io::ErrorKind::PermissionDenied => {
            return failure.with_help("change the permissions, or run the command as another user");
        }
        _ => return failure,
    }
    failure.with_help(match nearest(Path::new(path)) {
        Some(near) => format!("did you mean {near}?"),
        None => "name an existing file; a relative path begins at the current folder".to_owned(),
    })
}

/// A file of this kind in the folder with a similar name, or one of this name with a similar ending.
pub(crate) fn nearest(path: &Path) -> Option<String> {
    const MOST: usize = 1_000;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).ok()?.take(MOST).flatten();
    let files: Vec<PathBuf> = entries.map(|entry| PathBuf::from(entry.file_name())).collect();
    let (stem, kind) = (path.file_stem()?, path.extension());
    let stems = files.iter().filter(|file| file.extension() == kind);
    let kinds = files.iter().filter(|file| file.file_stem() == Some(stem));
    let near_stem = closest(stem.to_str()?, stems.filter_map(|file| file.file_stem()?.to_str()));
    let name = match (near_stem, kind.and_then(|kind| kind.to_str())) {
        (Some(near), Some(kind)) => format!("{near}.{kind}"),
        (Some(near), None) => near.to_owned(),
        (None, kind) => {
            let near = closest(kind?, kinds.filter_map(|file| file.extension()?.to_str()))?;
            format!("{}.{near}", stem.to_str()?)
        }
    };
    Some(path.with_file_name(name).display().to_string())
}

/// Reads the rest of the input, as [`read_text`] does.
///
/// # Errors
/// As [`read_text`].
pub(crate) fn whole(from: impl Read, name: &str, limit: u64) -> Result<Text, Failure> {
    text(bounded(from, limit).map_err(|error| Failure::io("read", Path::new(name), &error))?, name)
}

fn text(mut bytes: Vec<u8>, name: &str) -> Result<Text, Failure> {
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
/// The invalid part, with the place.
pub(crate) fn json<T: DeserializeOwned>(source: &Text) -> Result<T, Failure> {
    if source.text.trim().is_empty() {
        return Err(Failure::new(format!("{} is empty: expected JSON", source.name)));
    }
    runstate::json::from_str(&source.text).map_err(|error| {
        let message = error.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        let start = LineIndex::new(&source.text).line_start(error.line()).unwrap_or(0);
        let at = start + error.column().saturating_sub(1);
        let failure = Failure::at(&message[..end], &source.name, &source.text, Span::new(at, at + 1));
        suggesting(failure, &message[..end])
    })
}

/// A line of a file, counted from 1; `None` if it cannot be read again, as on standard input.
pub(crate) fn line(path: &str, number: u64) -> Option<String> {
    if path == "-" {
        return None;
    }
    let mut from = open(path).ok()?;
    for _ in 1..number {
        from.skip_until(b'\n').ok()?;
    }
    let mut line = Vec::new();
    if from.take(TEXT_LIMIT).read_until(b'\n', &mut line).ok()? == 0 {
        return None;
    }
    line.pop_if(|last| *last == b'\n');
    String::from_utf8(line).ok()
}

/// Opens a file, or standard input for `-`, to be read line by line.
///
/// # Errors
/// Errors of [`file`].
pub(crate) fn open(path: &str) -> io::Result<Box<dyn BufRead>> {
    if path == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(BufReader::with_capacity(64 << 10, file(Path::new(path))?)))
}

/// Gives `read` the beginnings of a text and the text with one changed byte, for tests that none of them panics.
#[cfg(test)]
pub(crate) fn each_damage(text: &str, read: impl Fn(String)) {
    for end in (0..text.len()).step_by(7) {
        read(String::from_utf8_lossy(&text.as_bytes()[..end]).into_owned());
    }
    for at in (0..text.len()).step_by(7) {
        for byte in [b'\0', b'[', b'*', b'\n', b'9', 0xff] {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] = byte;
            read(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
