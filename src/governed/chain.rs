//! The ledger's chain: each line has the digest of the one before and its own, so that a changed line is found. Under a key
//! each digest is a tag.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead};

use sha2::{Digest, Sha256};

use super::lines::{Ends, LineReader, MOST_LINE};
use super::log_line::{self, Told};
use crate::json::hex;
use crate::snapshot::{KeyError, Keyring};

const DIGITS: usize = 64;
const OWN: &str = ",\"hash\":\"";
const PREVIOUS: &str = ",\"prev\":\"";

/// The digest that the first line of a chain follows.
pub(super) const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// How the lines of a ledger are held together.
#[derive(Debug, Clone, Copy)]
pub(super) enum Chain<'a> {
    /// Not at all, unless there is a chain already.
    Loose,
    /// By digests.
    Digests,
    /// By tags under a key.
    Keyed(&'a Keyring),
}

impl<'a> Chain<'a> {
    pub(super) fn keys(self) -> Option<&'a Keyring> {
        match self {
            Chain::Keyed(keys) => Some(keys),
            Chain::Loose | Chain::Digests => None,
        }
    }

    /// A line, chained to the one with the digest `previous`; and its own digest.
    pub(super) fn link(self, line: &str, previous: &str) -> (String, String) {
        let body = format!("{}{PREVIOUS}{previous}\"", line.strip_suffix('}').unwrap_or(line));
        let own = self.keys().map_or_else(|| digest(&body), |keys| keys.tag(PLACE, body.as_bytes()));
        (format!("{body}{OWN}{own}\"}}"), own)
    }

    /// The digest that a new line follows, of a line that is there. Without a key it is not checked.
    ///
    /// # Errors
    /// A line that is none, or has a digest in another form; a key without a line under it, or a line under a key that is not
    /// there.
    pub(super) fn followed(self, line: &[u8]) -> Result<Option<&str>, LedgerFaultKind> {
        is_sound(event(line)?)?;
        let linked = linked(line);
        admitted(linked, self.keys())?;
        match linked {
            None if has_link(line) => Err(LedgerFaultKind::Rewritten),
            linked => Ok(linked.map(|(_, digest)| digest)),
        }
    }
}

/// The first line of a ledger that is begun in the place of one that was set aside, without a line feed.
pub(super) fn continuation(file: &str, bytes: u64) -> String {
    serde_json::json!({"bytes": bytes, "continues": file}).to_string()
}

/// The place of a ledger's tags. Each tag is of the line before too, so that it names the place in the ledger.
const PLACE: &[&str] = &["ledger"];

/// The event that a line tells of, if it is an event of a governed run. Other programs may write lines of their own.
fn event(line: &[u8]) -> Result<Option<Told>, LedgerFaultKind> {
    log_line::read(line).map_err(LedgerFaultKind::Garbage)
}

/// Checks a line for an event that no writer of this library tells.
fn is_sound(told: Option<Told>) -> Result<(), LedgerFaultKind> {
    match told {
        Some(Told { faults, is_of_trace: true, .. }) if !faults.is_empty() => {
            Err(LedgerFaultKind::Garbage(faults.join("; ")))
        }
        _ => Ok(()),
    }
}

pub(super) fn digest(body: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(body))
}

/// A line's part that its digest is over, and the digest; none when it has none.
fn linked(line: &[u8]) -> Option<(&str, &str)> {
    // A text in JSON has no quotation mark of its own, so that these are the last fields.
    let (body, digest) = std::str::from_utf8(line).ok()?.strip_suffix("\"}")?.rsplit_once(OWN)?;
    let digits = digest.rsplit_once(':').map_or(digest, |(_, digits)| digits);
    (digits.len() == DIGITS).then_some((body, digest))
}

/// Has the line the fields of a chain, wherever they stand?
fn has_link(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Link {
        hash: Option<serde::de::IgnoredAny>,
        prev: Option<serde::de::IgnoredAny>,
    }
    crate::json::from_slice::<Link>(line).is_ok_and(|link| link.hash.is_some() || link.prev.is_some())
}

fn previous(body: &str) -> Option<&str> {
    body.strip_suffix('"')?.rsplit_once(PREVIOUS).map(|(_, digest)| digest)
}

/// Checks a line against the keys. Its digest is a tag if it has the name of a key.
fn admitted(linked: Option<(&str, &str)>, keys: Option<&Keyring>) -> Result<(), LedgerFaultKind> {
    let (body, tag) = linked.unwrap_or_default();
    let tag = Some(tag).filter(|tag| tag.contains(':'));
    Keyring::admits(keys, PLACE, body.as_bytes(), tag).map_err(LedgerFaultKind::Key)
}

/// The content of a sound ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerReport {
    /// Its lines.
    pub lines: u64,
    /// Those in the chain: all from the first chained one on.
    pub chained: u64,
    /// The ledger before, which could not be followed and was set aside; none for one that nothing was taken out of.
    pub continues: Option<SetAside>,
}

/// A ledger that was set aside, as the first line of the next one tells.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[non_exhaustive]
pub struct SetAside {
    /// The name of its file, in the folder of the ledger.
    #[serde(rename = "continues")]
    pub file: String,
    /// How many bytes it had.
    pub bytes: u64,
}

/// The first line of a ledger that is not as it should be.
#[derive(Debug)]
#[non_exhaustive]
pub struct LedgerFault {
    /// The line, from 1.
    pub line: u64,
    /// The fault.
    pub why: LedgerFaultKind,
}

/// A fault of a line of a ledger.
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
    /// It has the fields of a chain in another form than they are written in: with other white space, or in another order.
    Rewritten,
    /// It does not follow the line before: one was changed, taken out or put in between.
    Unlinked,
    /// A holder of the keys did not write it, or it is under a key and there are none.
    Key(KeyError),
}

impl fmt::Display for LedgerFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerFaultKind::Io(error) => write!(f, "it cannot be read: {error}"),
            LedgerFaultKind::TooLong => write!(f, "it is longer than {MOST_LINE} bytes"),
            LedgerFaultKind::Torn => f.write_str("it ends without a line feed; its end is missing"),
            LedgerFaultKind::Garbage(why) => write!(f, "it is no event: {why}"),
            LedgerFaultKind::Unchained => f.write_str("it has no digest, and the lines before it have one"),
            LedgerFaultKind::Changed => f.write_str("its digest is not that of its content; it was changed"),
            LedgerFaultKind::Rewritten => f.write_str(
                "it has a digest in another form than it is written in: it was written anew, and may have been changed",
            ),
            LedgerFaultKind::Unlinked => {
                f.write_str("it does not follow the line before; a line was changed, taken out or put in")
            }
            LedgerFaultKind::Key(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for LedgerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl Error for LedgerFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.why {
            LedgerFaultKind::Io(error) => Some(error),
            LedgerFaultKind::Key(error) => Some(error),
            _ => None,
        }
    }
}

/// Reads a ledger from its beginning and holds each line against the one before. However long it is, a line at a time is
/// in memory.
///
/// A chain shows changes, not that the end is missing: for that the ledger is held against the runs, by
/// [`Governor::resume`](super::Governor::resume).
///
/// With `keys` each line must be under one of them ([`Governor::keyed`](super::Governor::keyed)): a writer of the file without
/// the key can cut lines off its end, put an older copy back, or put another ledger under the same key in its place, and nothing else. Without `keys` a chain holds off damage alone.
///
/// ```
/// use runstate::governed::verify_ledger;
///
/// let ledger = b"{\"run\":\"RUN-A-20260131-120000\"}\nnot an event\n";
/// let fault = verify_ledger(&ledger[..], None).unwrap_err();
/// assert_eq!(fault.line, 2);
///
/// let keys = format!("k1 {}", "ab".repeat(32)).parse()?;
/// let fault = verify_ledger(&ledger[..], Some(&keys)).unwrap_err();
/// assert_eq!(fault.to_string(), "line 1: it has no tag, and a keyed store takes nothing without");
/// # Ok::<(), runstate::snapshot::NoKeyring>(())
/// ```
///
/// # Errors
/// [`LedgerFault`] with the first line that is not as it should be.
pub fn verify_ledger(ledger: impl BufRead, keys: Option<&Keyring>) -> Result<LedgerReport, LedgerFault> {
    let mut report = LedgerReport::default();
    let mut before: Option<String> = None;
    let mut lines = LineReader::new(ledger);
    loop {
        let number = report.lines + 1;
        let fault = |why| LedgerFault { line: number, why };
        match lines.next().map_err(|error| fault(LedgerFaultKind::Io(error)))? {
            None => return Ok(report),
            Some(Ends::Torn) => return Err(fault(LedgerFaultKind::Torn)),
            Some(Ends::TooLong) => return Err(fault(LedgerFaultKind::TooLong)),
            Some(Ends::Whole) => report.lines = number,
        }
        let line = &lines.line;
        let told = event(line).map_err(fault)?;
        let linked = linked(line);
        admitted(linked, keys).map_err(fault)?;
        match (linked, &before) {
            (None, Some(_)) => return Err(fault(LedgerFaultKind::Unchained)),
            (None, None) if has_link(line) => return Err(fault(LedgerFaultKind::Rewritten)),
            (None, None) => {}
            (Some((body, said)), last) => {
                if keys.is_none() && digest(body) != said {
                    return Err(fault(LedgerFaultKind::Changed));
                }
                if previous(body) != Some(last.as_deref().unwrap_or(NOTHING)) {
                    return Err(fault(LedgerFaultKind::Unlinked));
                }
                before = Some(said.to_owned());
                report.chained += 1;
            }
        }
        // A digest that does not fit says more than what the changed line tells.
        is_sound(told).map_err(fault)?;
        if number == 1 {
            report.continues = crate::json::from_slice(line).ok();
        }
    }
}
