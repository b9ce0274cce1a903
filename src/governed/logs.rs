//! The two files that are appended to: RUN_LOG.jsonl of a run, RUN_LEDGER.jsonl of all runs (B9).

use std::io;
use std::path::Path;

use super::chain::{Chain, MOST_LINE, NOTHING};
use super::lines::{Line, Transition};
use crate::files::{Disk, DiskFile, Open, append};
use crate::governed_run::RunId;

/// How much of a file is read at once.
const PIECE: u64 = 1 << 20;

/// Why a file of lines could not be brought in line.
pub(super) enum LogError {
    Io(io::Error),
    /// A line that must not be there; nothing was written.
    Damaged(String),
}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> Self {
        LogError::Io(error)
    }
}

/// What was done to a file of lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mended {
    pub(super) appended: usize,
    pub(super) cut: u64,
}

/// A file of lines, open to be appended to, and locked if it is shared.
struct Lines<'a> {
    disk: &'a dyn Disk,
    path: &'a Path,
    file: Box<dyn DiskFile>,
    length: u64,
}

impl<'a> Lines<'a> {
    fn open(disk: &'a dyn Disk, path: &'a Path, shared: bool) -> io::Result<Self> {
        let mut file = disk.open(path, Open::Append)?;
        if shared {
            file.lock()?;
        }
        let length = file.len()?;
        Ok(Lines { disk, path, file, length })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        append(self.file.as_mut(), bytes)?;
        if self.length == 0
            && let Some(folder) = self.path.parent()
        {
            // The name of a file that was just made is not durable with its content.
            self.disk.sync_folder(folder)?;
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The last line, without its line feed. What follows the last line feed was torn by a crash, and is cut first.
    fn last(&mut self) -> io::Result<Option<Vec<u8>>> {
        let (last, end) = self.find_last()?;
        self.cut(end)?;
        Ok(last)
    }

    /// The last line, without its line feed, and where it ends.
    fn find_last(&mut self) -> io::Result<(Option<Vec<u8>>, u64)> {
        // Most lines are short; the second look is for one that is as long as a line may be.
        for most in [4096, 2 * MOST_LINE] {
            let start = self.length.saturating_sub(most);
            let tail = self.file.read_from(start, self.length - start)?;
            let end = tail.iter().rposition(|byte| *byte == b'\n');
            let begin = end.and_then(|end| tail[..end].iter().rposition(|byte| *byte == b'\n'));
            match (end, begin) {
                (Some(end), begin) if begin.is_some() || start == 0 => {
                    let last = tail[begin.map_or(0, |at| at + 1)..end].to_vec();
                    return Ok((Some(last), start + end as u64 + 1));
                }
                (None, _) if start == 0 => {
                    return Ok((None, 0));
                }
                _ => {}
            }
        }
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("its last line is longer than {MOST_LINE} bytes"),
        ))
    }

    fn cut(&mut self, length: u64) -> io::Result<u64> {
        let torn = self.length - length;
        if torn > 0 {
            self.file.cut(length)?;
            self.file.sync()?;
            self.length = length;
        }
        Ok(torn)
    }

    /// Each whole line with its number, from 1, until `each` fails; and where the last of them ends.
    fn each(&mut self, mut each: impl FnMut(u64, &[u8]) -> Result<(), String>) -> Result<u64, LogError> {
        let (mut offset, mut number, mut rest) = (0, 0, Vec::new());
        while offset < self.length {
            let piece = self.file.read_from(offset, PIECE.min(self.length - offset))?;
            if piece.is_empty() {
                break;
            }
            offset += piece.len() as u64;
            rest.extend_from_slice(&piece);
            let mut begin = 0;
            while let Some(length) = rest[begin..].iter().position(|byte| *byte == b'\n') {
                number += 1;
                each(number, &rest[begin..begin + length])
                    .map_err(|why| LogError::Damaged(format!("line {number}: {why}")))?;
                begin += length + 1;
            }
            rest.drain(..begin);
            if rest.len() as u64 > MOST_LINE {
                let why = format!("line {}: it is longer than {MOST_LINE} bytes", number + 1);
                return Err(LogError::Damaged(why));
            }
        }
        Ok(self.length - rest.len() as u64)
    }

    /// How many of the run's transitions the file tells of, and where its last whole line ends. The lines of a ledger have a
    /// `chain`.
    ///
    /// # Errors
    /// A line that is no event; one of this run that tells of another transition than RUN_STATE.json, or of one more. In a
    /// ledger any line that is not under the keys, or is under some where there are none.
    fn told(
        &mut self,
        run: &RunId,
        all: &[Transition],
        chain: Option<Chain<'_>>,
    ) -> Result<(usize, u64), LogError> {
        let mut told = 0;
        let end = self.each(|_, line| {
            if let Some(chain) = chain {
                chain.followed(line).map_err(|why| why.to_string())?;
            }
            let read = match Line::read(line)? {
                Some(read) if read.run.as_deref() == Some(run.as_str()) => read,
                _ => return Ok(()),
            };
            match all.get(told) {
                Some(expected) => read.tells(expected)?,
                None => {
                    return Err(format!("it is ahead of RUN_STATE.json, which ends with transition {told}"));
                }
            }
            told += 1;
            Ok(())
        })?;
        Ok((told, end))
    }
}

/// Appends one transition to the log of its run.
pub(super) fn log(disk: &dyn Disk, path: &Path, run: &RunId, transition: &Transition) -> io::Result<()> {
    let mut lines = Lines::open(disk, path, false)?;
    lines.append(format!("{}\n", transition.line(run, false)).as_bytes())
}

/// Appends one transition to the ledger, under its lock: several processes do.
pub(super) fn ledger(
    disk: &dyn Disk,
    path: &Path,
    run: &RunId,
    transition: &Transition,
    chain: Chain<'_>,
) -> io::Result<()> {
    let mut lines = Lines::open(disk, path, true)?;
    write_chained(&mut lines, [transition.line(run, false)], chain)
}

/// Fails where no line can be appended to the ledger: it is under other keys, or under none.
pub(super) fn can_follow(disk: &dyn Disk, path: &Path, chain: Chain<'_>) -> io::Result<()> {
    let mut file = match disk.open(path, Open::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let length = file.len()?;
    let (last, _) = Lines { disk, path, file, length }.find_last()?;
    last.map_or(Ok(()), |last| followed(chain, &last).map(drop))
}

fn followed(chain: Chain<'_>, last: &[u8]) -> io::Result<Option<String>> {
    let followed = chain.followed(last).map(|digest| digest.map(str::to_owned));
    followed.map_err(|why| {
        let help = "move the ledger aside to begin a new one";
        io::Error::new(io::ErrorKind::InvalidData, format!("its last line: {why}; {help}"))
    })
}

fn write_chained(
    lines: &mut Lines<'_>,
    new: impl IntoIterator<Item = String>,
    chain: Chain<'_>,
) -> io::Result<()> {
    let last = lines.last()?;
    // Once there is a chain it is not broken, whatever is configured.
    let before = last.map_or(Ok(None), |last| followed(chain, &last))?;
    let mut digest = match (before, chain) {
        (Some(digest), _) => Some(digest),
        (None, Chain::Digests | Chain::Keyed(_)) => Some(NOTHING.to_owned()),
        (None, Chain::Loose) => None,
    };
    let mut text = String::new();
    for line in new {
        match &mut digest {
            Some(digest) => {
                let (line, own) = chain.link(&line, digest);
                text.push_str(&line);
                *digest = own;
            }
            None => text.push_str(&line),
        }
        text.push('\n');
    }
    lines.append(text.as_bytes())
}

/// Appends what the log of a run lacks.
pub(super) fn mend_log(
    disk: &dyn Disk,
    path: &Path,
    run: &RunId,
    all: &[Transition],
) -> Result<Mended, LogError> {
    let mut lines = Lines::open(disk, path, false)?;
    let (told, end) = lines.told(run, all, None)?;
    let cut = lines.cut(end)?;
    let missing = &all[told..];
    let text: String = missing.iter().map(|missing| missing.line(run, true) + "\n").collect();
    if !text.is_empty() {
        lines.append(text.as_bytes())?;
    }
    Ok(Mended { appended: missing.len(), cut })
}

/// Appends what the ledger lacks of a run.
pub(super) fn mend_ledger(
    disk: &dyn Disk,
    path: &Path,
    run: &RunId,
    all: &[Transition],
    chain: Chain<'_>,
) -> Result<Mended, LogError> {
    let mut lines = Lines::open(disk, path, true)?;
    let (told, end) = lines.told(run, all, Some(chain))?;
    let cut = lines.cut(end)?;
    let missing = &all[told..];
    if !missing.is_empty() {
        write_chained(&mut lines, missing.iter().map(|missing| missing.line(run, true)), chain)?;
    }
    Ok(Mended { appended: missing.len(), cut })
}

/// How many of the run's transitions a file tells of. It is only read; a file that is not there tells of none.
pub(super) fn told(
    disk: &dyn Disk,
    path: &Path,
    run: &RunId,
    all: &[Transition],
    chain: Option<Chain<'_>>,
) -> Result<usize, LogError> {
    let mut file = match disk.open(path, Open::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        file => file?,
    };
    let length = file.len()?;
    let (told, _) = Lines { disk, path, file, length }.told(run, all, chain)?;
    Ok(told)
}
