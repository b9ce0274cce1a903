//! The ledger's chain: each line has the digest of the one before and its own, so that a changed line is found.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead};

use sha2::{Digest, Sha256};

use super::lines::Line;

const DIGITS: usize = 64;
const OWN: &str = ",\"hash\":\"";
const PREVIOUS: &str = ",\"prev\":\"";

/// What the first line of a chain follows.
pub(super) const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A line, chained to the one with the digest `previous`; and its own digest.
pub(super) fn chained(line: &str, previous: &str) -> (String, String) {
    let body = format!("{}{PREVIOUS}{previous}\"", line.strip_suffix('}').unwrap_or(line));
    let own = hex(body.as_bytes());
    (format!("{body}{OWN}{own}\"}}"), own)
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(DIGITS);
    for byte in Sha256::digest(bytes) {
        text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('?'));
        text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('?'));
    }
    text
}

/// A line's part that its digest is over, and the digest; none when it has none.
fn own(line: &[u8]) -> Option<(&[u8], &str)> {
    let tail = OWN.len() + DIGITS + 2;
    let (body, tail) = line.split_at_checked(line.len().checked_sub(tail)?)?;
    let digest = tail.strip_prefix(OWN.as_bytes())?.strip_suffix(b"\"}")?;
    Some((body, std::str::from_utf8(digest).ok()?))
}

fn previous(body: &[u8]) -> Option<&str> {
    let (_, tail) = body.split_at_checked(body.len().checked_sub(PREVIOUS.len() + DIGITS + 1)?)?;
    let digest = tail.strip_prefix(PREVIOUS.as_bytes())?.strip_suffix(b"\"")?;
    std::str::from_utf8(digest).ok()
}

/// The digest that a line ends with, if it is chained: unchecked, for the line to follow it.
pub(super) fn digest_of(line: &[u8]) -> Option<String> {
    own(line).map(|(_, digest)| digest.to_owned())
}

/// What a sound ledger holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerReport {
    /// Its lines.
    pub lines: u64,
    /// Those in the chain: all from the first chained one on.
    pub chained: u64,
}

/// The first line of a ledger that is not as it should be.
#[derive(Debug)]
#[non_exhaustive]
pub struct LedgerFault {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: LedgerFaultKind,
}

/// What is wrong with a line of a ledger.
#[derive(Debug)]
#[non_exhaustive]
pub enum LedgerFaultKind {
    /// The ledger cannot be read on.
    Io(io::Error),
    /// It is longer than any line that is written: more than a mebibyte.
    TooLong,
    /// It ends without a line feed: the end was torn off.
    Torn,
    /// It is no event.
    Garbage(String),
    /// It has no digest, after lines that have one.
    Unchained,
    /// Its digest is not that of its content: it was changed.
    Changed,
    /// It does not follow the line before: one was changed, taken out or put in between.
    Unlinked,
}

impl fmt::Display for LedgerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.why {
            LedgerFaultKind::Io(error) => write!(f, "it cannot be read: {error}"),
            LedgerFaultKind::TooLong => write!(f, "it is longer than {MOST_LINE} bytes"),
            LedgerFaultKind::Torn => f.write_str("it ends without a line feed; its end is missing"),
            LedgerFaultKind::Garbage(why) => write!(f, "it is no event: {why}"),
            LedgerFaultKind::Unchained => f.write_str("it has no digest, and the lines before it have one"),
            LedgerFaultKind::Changed => f.write_str("its digest is not that of its content; it was changed"),
            LedgerFaultKind::Unlinked => {
                f.write_str("it does not follow the line before; a line was changed, taken out or put in")
            }
        }
    }
}

impl Error for LedgerFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.why {
            LedgerFaultKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// The most bytes of a line that are read.
pub(super) const MOST_LINE: u64 = 1 << 20;

/// Reads a ledger from its beginning and holds each line against the one before. However long it is, a line at a time is
/// in memory.
///
/// A chain shows changes, not that the end is missing: for that the ledger is held against the runs, by
/// [`Governor::resume`](super::Governor::resume).
///
/// ```
/// use runstate::governed::verify_ledger;
///
/// let ledger = b"{\"run\":\"RUN-A-20260131-120000\"}\nnot an event\n";
/// let fault = verify_ledger(&ledger[..]).unwrap_err();
/// assert_eq!(fault.line, 2);
/// ```
///
/// # Errors
/// [`LedgerFault`] with the first line that is not as it should be.
pub fn verify_ledger(mut ledger: impl BufRead) -> Result<LedgerReport, LedgerFault> {
    let mut report = LedgerReport::default();
    let mut digest: Option<String> = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        let number = report.lines + 1;
        let fault = |why| LedgerFault { line: number, why };
        let mut limited = io::Read::take(&mut ledger, MOST_LINE + 1);
        let read = limited.read_until(b'\n', &mut line).map_err(|error| fault(LedgerFaultKind::Io(error)))?;
        if read == 0 {
            return Ok(report);
        }
        if line.pop_if(|last| *last == b'\n').is_none() {
            let too_long = read as u64 > MOST_LINE;
            return Err(fault(if too_long { LedgerFaultKind::TooLong } else { LedgerFaultKind::Torn }));
        }
        report.lines = number;
        Line::read(&line).map_err(|why| fault(LedgerFaultKind::Garbage(why)))?;
        match (own(&line), &digest) {
            (None, Some(_)) => return Err(fault(LedgerFaultKind::Unchained)),
            (None, None) => {}
            (Some((body, said)), before) => {
                if hex(body) != said {
                    return Err(fault(LedgerFaultKind::Changed));
                }
                if previous(body) != Some(before.as_deref().unwrap_or(NOTHING)) {
                    return Err(fault(LedgerFaultKind::Unlinked));
                }
                digest = Some(said.to_owned());
                report.chained += 1;
            }
        }
    }
}
