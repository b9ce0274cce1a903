//! The two append-only files: RUN_LOG.jsonl of a run, and RUN_LEDGER.jsonl of all runs.
//!
//! Both are derived from RUN_STATE.json, so a fault in them stops no run. A file that cannot be continued is set
//! aside under another name, and a new one is begun.

use std::io::{self, BufReader, Read};
use std::path::Path;

use runstate::governed_run::RunId;
use runstate_runtime::files::{Disk, DiskFile, Open, append};
use serde::{Deserialize, Serialize};

use super::aside::{self, Aside, AsideReason};
use super::chain::{Chain, LedgerFaultKind, NOTHING, continuation, digest};
use super::lines::{Ends, LineReader, MOST_LINE, Transition};
use super::lock::{self, Lock};
use super::log_line;
use super::open::Place;

/// The size limit of a file of lines in bytes. A larger file is set aside unread: a sparse file costs its writer
/// nothing, and its reader hours.
const MOST_FILE: u64 = 1 << 30;

/// The size of one read of a file in bytes.
const PIECE: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Mended {
    pub(super) appended: usize,
    pub(super) cut: u64,
    /// The new path of a file that could not be continued.
    pub(super) set_aside: Option<Aside>,
}

/// A position at the end of a line in the ledger, and the number of the run's transitions before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mark {
    at: u64,
    told: usize,
    /// The digest of that line. In another ledger, or in a truncated one, no such line ends there.
    line: String,
}

/// A file of lines, opened for appending.
pub(super) struct Lines<'a> {
    disk: &'a dyn Disk,
    path: &'a Path,
    file: Box<dyn DiskFile>,
    length: u64,
}

/// The rest of a file, as a reader.
struct Rest<'f> {
    file: &'f mut dyn DiskFile,
    at: u64,
}

impl Read for Rest<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read_from(self.at, into.len() as u64)?;
        into[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

impl<'a> Lines<'a> {
    pub(super) fn open(disk: &'a dyn Disk, path: &'a Path, how: Open) -> io::Result<Self> {
        let mut file = disk.open(path, how)?;
        let length = file.len()?;
        Ok(Lines { disk, path, file, length })
    }

    /// Opens a file for appending. A non-file, and a file that is too large, is set aside first.
    fn open_anyhow(disk: &'a dyn Disk, path: &'a Path) -> io::Result<(Self, Option<Aside>)> {
        match Lines::open(disk, path, Open::Append) {
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                let kept = (aside::keep(disk, path)?, AsideReason::NoFile);
                Lines::open(disk, path, Open::Append).map(|lines| (lines, Some(kept)))
            }
            Ok(mut lines) if lines.length > MOST_FILE => {
                let kept = lines.set_aside(AsideReason::TooLarge)?;
                Ok((lines, Some(kept)))
            }
            lines => lines.map(|lines| (lines, None)),
        }
    }

    pub(super) fn append(&mut self, text: &str) -> io::Result<()> {
        append(self.file.as_mut(), text.as_bytes())?;
        if self.length == 0 {
            // For a new file, the name is not durable together with the content.
            self.disk.sync_folder(aside::folder(self.path))?;
        }
        self.length += text.len() as u64;
        Ok(())
    }

    pub(super) fn cut(&mut self, length: u64) -> io::Result<u64> {
        let torn = self.length.saturating_sub(length);
        if torn > 0 {
            self.file.cut(length)?;
            self.file.sync()?;
            self.length = length;
        }
        Ok(torn)
    }

    /// Sets the file aside, and begins a new one.
    fn set_aside(&mut self, why: AsideReason) -> io::Result<Aside> {
        let to = aside::keep(self.disk, self.path)?;
        self.file = self.disk.open(self.path, Open::Append)?;
        self.length = 0;
        Ok((to, why))
    }

    fn from(&mut self, at: u64) -> LineReader<BufReader<Rest<'_>>> {
        LineReader::new(BufReader::with_capacity(PIECE, Rest { file: self.file.as_mut(), at }))
    }

    /// The last line that ends at `limit` or before, without its line feed, and the position of its end. The position
    /// is 0 if there is no line. Returns `None` if the line is too long.
    fn last(&mut self, limit: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
        // Most lines are short. The second read is for a line of the maximum length.
        for most in [4096, 2 * MOST_LINE] {
            let start = limit.saturating_sub(most);
            let tail = self.file.read_from(start, limit - start)?;
            let end = tail.iter().rposition(|byte| *byte == b'\n');
            let begin = end.and_then(|end| tail[..end].iter().rposition(|byte| *byte == b'\n'));
            match (end, begin) {
                (Some(end), begin) if begin.is_some() || start == 0 => {
                    let last = tail[begin.map_or(0, |at| at + 1)..end].to_vec();
                    return Ok(Some((last, start + end as u64 + 1)));
                }
                (None, _) if start == 0 => return Ok(Some((Vec::new(), 0))),
                _ => {}
            }
        }
        Ok(None)
    }

    /// The digest of the last line, if it has one, and the position of its end. The next line follows it.
    fn followed(&mut self, chain: Chain<'_>) -> io::Result<Result<(Option<String>, u64), LedgerFaultKind>> {
        let Some((last, end)) = self.last(self.length)? else { return Ok(Err(LedgerFaultKind::TooLong)) };
        if !is_torn(&self.file.read_from(end, 16)?) {
            return Ok(Err(LedgerFaultKind::Torn));
        }
        if end == 0 {
            return Ok(Ok((None, 0)));
        }
        Ok(chain.followed(&last).map(|digest| (digest.map(str::to_owned), end)))
    }

    /// Returns whether this is the ledger that the mark refers to.
    fn has(&mut self, mark: &Mark) -> io::Result<bool> {
        if mark.at == 0 || mark.at > self.length {
            return Ok(mark.at == 0 && mark.told == 0);
        }
        let last = self.last(mark.at)?;
        Ok(last.is_some_and(|(line, end)| end == mark.at && digest(line) == mark.line))
    }

    /// Creates a mark at the end of the last line; `None` if that line is too long.
    fn mark(&mut self, told: usize) -> io::Result<Option<Mark>> {
        let last = self.last(self.length)?;
        Ok(last.map(|(line, at)| Mark { at, told, line: digest(line) }))
    }

    /// The indexes of the run's transitions without a line in the ledger. A line that cannot be read, is not under
    /// the keys or reports something else is ignored. Reading stops once all transitions are found.
    fn missing(
        &mut self,
        run: &RunId,
        all: &[Transition],
        chain: Chain<'_>,
        mark: Option<&Mark>,
    ) -> io::Result<Vec<usize>> {
        let mark = match mark {
            Some(mark) if self.has(mark)? => mark.clone(),
            _ => Mark::default(),
        };
        let mut told = vec![false; all.len()];
        told.iter_mut().take(mark.told).for_each(|told| *told = true);
        let mut left = told.iter().filter(|told| !**told).count();
        let mut lines = self.from(mark.at);
        while left > 0
            && let Some(ends) = lines.next()?
        {
            // In a long ledger, only the lines of this run are parsed.
            let names_run = || std::str::from_utf8(&lines.line).is_ok_and(|line| line.contains(run.as_str()));
            if ends == Ends::Whole
                && names_run()
                && let Ok(Some(read)) = log_line::read(&lines.line)
                && let Some(at) = read.seq.and_then(|seq| usize::try_from(seq).ok()?.checked_sub(1))
                && all.get(at).is_some_and(|transition| read.tells(run, transition))
                && !told[at]
                && chain.followed(&lines.line).is_ok()
            {
                told[at] = true;
                left -= 1;
            }
        }
        Ok((0..all.len()).filter(|at| !told[*at]).collect())
    }

    /// The number of the run's transitions in its log, and the end of its last complete line. `None` if the log
    /// cannot be read, or differs from RUN_STATE.json.
    fn told(&mut self, run: &RunId, all: &[Transition]) -> io::Result<Option<(usize, u64)>> {
        let (mut told, mut end, mut lines) = (0, 0, self.from(0));
        while let Some(ends) = lines.next()? {
            match ends {
                Ends::Torn => return Ok(is_torn(&lines.line).then_some((told, end))),
                Ends::TooLong => return Ok(None),
                Ends::Whole => end = lines.end,
            }
            match log_line::read(&lines.line) {
                Ok(Some(read)) if read.is_of_trace && !read.faults.is_empty() => return Ok(None),
                Ok(Some(read)) if read.is_of_trace && read.run.as_deref() == Some(run.as_str()) => {
                    if !all.get(told).is_some_and(|transition| read.tells(run, transition)) {
                        return Ok(None);
                    }
                    told += 1;
                }
                // Other programs may write lines of their own.
                Ok(_) => {}
                Err(_) => return Ok(None),
            }
        }
        Ok(Some((told, end)))
    }
}

/// The beginnings of lines from this library: an event, and a reference to the previous ledger.
const BEGINNINGS: [&[u8]; 2] = [b"{\"seq\":", b"{\"bytes\":"];

/// Returns whether this is the beginning of a line from this library that a crash cut off. Such a line is written
/// again, so its bytes can be removed. A line of another program would be lost.
fn is_torn(end: &[u8]) -> bool {
    BEGINNINGS.iter().any(|begin| end.starts_with(begin) || begin.starts_with(end))
}

/// Opens a file for reading; `None` for a missing file, for a non-file, or for a file that is too large. The next
/// append sets such a file aside.
fn opened<'a>(disk: &'a dyn Disk, path: &'a Path) -> io::Result<Option<Lines<'a>>> {
    match Lines::open(disk, path, Open::Read) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => {
            Ok(None)
        }
        lines => lines.map(|lines| Some(lines).filter(|lines| lines.length <= MOST_FILE)),
    }
}

/// Appends the last transition to the log of its run. `all` has at least one transition. If something else has the
/// name of the log, it is set aside and all transitions are written. Returns its new path.
pub(super) fn log(
    disk: &dyn Disk,
    path: &Path,
    run: &RunId,
    all: &[Transition],
) -> io::Result<Option<Aside>> {
    let (mut lines, set_aside) = Lines::open_anyhow(disk, path)?;
    let last = all.len() - 1;
    let first = if set_aside.is_some() { 0 } else { last };
    let text: String = (first..=last).map(|at| all[at].line(run, at < last) + "\n").collect();
    lines.append(&text)?;
    Ok(set_aside)
}

/// Appends the missing lines to the log of a run. A damaged log is set aside as a whole, and written again.
pub(super) fn mend_log(disk: &dyn Disk, path: &Path, run: &RunId, all: &[Transition]) -> io::Result<Mended> {
    let (mut lines, set_aside) = Lines::open_anyhow(disk, path)?;
    let mut mended = Mended { set_aside, ..Mended::default() };
    let told = match lines.told(run, all)? {
        Some((told, end)) => {
            mended.cut = lines.cut(end)?;
            told
        }
        None => {
            mended.set_aside = Some(lines.set_aside(AsideReason::Unreadable)?);
            0
        }
    };
    let missing = &all[told..];
    let text: String = missing.iter().map(|missing| missing.line(run, true) + "\n").collect();
    if !text.is_empty() {
        lines.append(&text)?;
    }
    mended.appended = missing.len();
    Ok(mended)
}

/// Fails if the ledger is under other keys than a new run. That is a configuration error. A damaged ledger is not an
/// error here: the next append sets it aside.
pub(super) fn can_follow(disk: &dyn Disk, path: &Path, chain: Chain<'_>) -> io::Result<()> {
    let Some(mut ledger) = opened(disk, path)? else { return Ok(()) };
    match ledger.followed(chain)? {
        Err(why @ LedgerFaultKind::Key(_)) => {
            let help = "move the ledger aside to begin a new one";
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("its last line: {why}; {help}")))
        }
        _ => Ok(()),
    }
}

/// The mark at the current end of the ledger, to be written before the next line is appended. `None` if the ledger is
/// not the one of the previous mark.
pub(super) fn mark(place: Place<'_>, before: Option<&Mark>) -> io::Result<Option<Mark>> {
    let path = place.folders.ledger();
    let Some(before) = before else { return Ok(None) };
    let Some(mut lines) = opened(place.disk, &path)? else {
        return Ok((before.told == 0).then(Mark::default));
    };
    if lines.has(before)? { lines.mark(before.told) } else { Ok(None) }
}

/// Returns whether this is the ledger that the mark refers to. Then only its end must be read.
pub(super) fn is_known(place: Place<'_>, mark: Option<&Mark>) -> io::Result<bool> {
    let Some(mark) = mark else { return Ok(false) };
    opened(place.disk, &place.folders.ledger())?.map_or(Ok(true), |mut lines| lines.has(mark))
}

/// Appends the missing lines of a run to the ledger, under a lock, because several processes append. If `new` is set,
/// the last transition is new, and all earlier missing ones are recovered. If the ledger has an unusable last line, it
/// is renamed, and a new ledger begins with all transitions of this run. Each other run adds its transitions at its
/// next lock.
pub(super) fn ledger(
    place: Place<'_>,
    run: &RunId,
    all: &[Transition],
    new: bool,
    mark: &mut Option<Mark>,
) -> io::Result<Mended> {
    let Place { disk, folders, chain, setting_aside, .. } = place;
    let path = folders.ledger();
    // The lock is a separate file. A lock on the ledger itself could belong to a ledger that was set aside meanwhile.
    // A stopped process keeps the lock. A blocking wait in the system would ignore signals.
    let _lock = Lock::wait(disk, &folders.ledger_lock(), setting_aside, lock::LONG)?;
    let (mut lines, set_aside) = Lines::open_anyhow(disk, &path)?;
    let mut mended = Mended { set_aside, ..Mended::default() };
    let mut missing = lines.missing(run, all, chain, mark.as_ref())?;
    if !missing.is_empty() {
        let before = match lines.followed(chain)? {
            Ok((before, end)) => {
                mended.cut = lines.cut(end)?;
                before
            }
            Err(_) => {
                mended.set_aside = Some(lines.set_aside(AsideReason::Unreadable)?);
                missing = (0..all.len()).collect();
                None
            }
        };
        mended.appended = missing.len();
        let recovered = |at: usize| !(new && at + 1 == all.len());
        let mut texts: Vec<String> = missing.iter().map(|at| all[*at].line(run, recovered(*at))).collect();
        if lines.length == 0
            && let Some((_, name)) = aside::last(disk, &path)?
        {
            let bytes = match disk.open(&path.with_file_name(&name), Open::Read) {
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => 0,
                before => before?.len()?,
            };
            texts.insert(0, continuation(&name, bytes));
        }
        lines.append(&chained(texts, before, chain))?;
    }
    *mark = lines.mark(all.len())?;
    Ok(mended)
}

/// Chains the lines to the previous line. An existing chain is continued under any configuration.
fn chained(lines: Vec<String>, before: Option<String>, chain: Chain<'_>) -> String {
    let mut digest = match (before, chain) {
        (Some(digest), _) => Some(digest),
        (None, Chain::Digests | Chain::Keyed(_)) => Some(NOTHING.to_owned()),
        (None, Chain::Loose) => None,
    };
    let mut text = String::new();
    for line in lines {
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
    text
}

#[cfg(test)]
mod tests {
    use runstate_runtime::files::RealDisk;

    use super::*;

    /// The files are sparse, and nothing is read from them.
    #[test]
    fn a_file_of_lines_has_1_gib_and_no_more() {
        let folder = std::env::temp_dir().join(format!("runstate-lines-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("LEDGER.jsonl");
        for (length, is_kept) in [(1 << 30, true), ((1 << 30) + 1, false)] {
            std::fs::File::create(&path).unwrap().set_len(length).unwrap();
            let (lines, aside) = Lines::open_anyhow(&RealDisk, &path).unwrap();
            assert_eq!((lines.length, aside.is_none()), if is_kept { (length, true) } else { (0, false) });
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
