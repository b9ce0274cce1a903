//! The hash chain of the ledger. Each line has the digest of the previous line and its own digest, so that a changed
//! line is detected. With a key, each digest is a tag.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead};

use runstate::json::hex;
use runstate::snapshot::{KeyError, Keyring};
use sha2::{Digest, Sha256};

use super::lines::{Ends, LineReader, MOST_LINE};
use super::log_line::{self, ParsedLine};

const DIGITS: usize = 64;
const OWN: &str = ",\"hash\":\"";
const PREVIOUS: &str = ",\"prev\":\"";

/// The digest that the first line of a chain follows.
pub(super) const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The way that the lines of a ledger are chained.
#[derive(Debug, Clone, Copy)]
pub(super) enum Chain<'a> {
    /// Lines are not chained, unless a chain exists already.
    Loose,
    /// Lines are chained by digests.
    Digests,
    /// Lines are chained by tags under a key.
    Keyed(&'a Keyring),
}

impl<'a> Chain<'a> {
    pub(super) fn keys(self) -> Option<&'a Keyring> {
        match self {
            Chain::Keyed(keys) => Some(keys),
            Chain::Loose | Chain::Digests => None,
        }
    }

    /// Returns a line chained to the digest `previous`, and the digest of the new line.
    pub(super) fn link(self, line: &str, previous: &str) -> (String, String) {
        let body = format!("{}{PREVIOUS}{previous}\"", line.strip_suffix('}').unwrap_or(line));
        let own = self.keys().map_or_else(|| digest(&body), |keys| keys.tag(PLACE, body.as_bytes()));
        (format!("{body}{OWN}{own}\"}}"), own)
    }

    /// Returns the digest of an existing line, for the next line to follow. Without a key, the digest is not
    /// verified.
    ///
    /// # Errors
    /// An invalid line, or a digest in another form; a missing tag although keys are set, or a tag under a key that
    /// is not available.
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

/// The first line of a ledger that replaces a ledger set aside, without a line feed.
pub(super) fn continuation(file: &str, bytes: u64) -> String {
    serde_json::json!({"bytes": bytes, "continues": file}).to_string()
}

/// The context of a ledger's tags. A tag also covers the previous line, so it is bound to the position in the ledger.
const PLACE: &[&str] = &["ledger"];

/// The event in a line, if it is an event of a governed run. Other programs may write lines of their own.
fn event(line: &[u8]) -> Result<Option<ParsedLine>, LedgerFaultKind> {
    log_line::read(line).map_err(LedgerFaultKind::Garbage)
}

/// Rejects an event that no writer of this library emits.
fn is_sound(told: Option<ParsedLine>) -> Result<(), LedgerFaultKind> {
    match told {
        Some(ParsedLine { faults, is_of_trace: true, .. }) if !faults.is_empty() => {
            Err(LedgerFaultKind::Garbage(faults.join("; ")))
        }
        _ => Ok(()),
    }
}

pub(super) fn digest(body: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(body))
}

/// The part of a line that its digest covers, and the digest; `None` for a line without a digest.
fn linked(line: &[u8]) -> Option<(&str, &str)> {
    // A text in JSON has no unescaped quotation mark, so these are the last fields.
    let (body, digest) = std::str::from_utf8(line).ok()?.strip_suffix("\"}")?.rsplit_once(OWN)?;
    let digits = digest.rsplit_once(':').map_or(digest, |(_, digits)| digits);
    (digits.len() == DIGITS).then_some((body, digest))
}

/// Returns whether the line has the fields of a chain, at any position.
fn has_link(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Link {
        hash: Option<serde::de::IgnoredAny>,
        prev: Option<serde::de::IgnoredAny>,
    }
    runstate::json::from_slice::<Link>(line).is_ok_and(|link| link.hash.is_some() || link.prev.is_some())
}

fn previous(body: &str) -> Option<&str> {
    body.strip_suffix('"')?.rsplit_once(PREVIOUS).map(|(_, digest)| digest)
}

/// Checks a line against the keys. Its digest is a tag if it contains the name of a key.
fn admitted(linked: Option<(&str, &str)>, keys: Option<&Keyring>) -> Result<(), LedgerFaultKind> {
    let (body, tag) = linked.unwrap_or_default();
    let tag = Some(tag).filter(|tag| tag.contains(':'));
    Keyring::admits(keys, PLACE, body.as_bytes(), tag).map_err(LedgerFaultKind::Key)
}

/// The content of a valid ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerReport {
    /// The number of lines.
    pub lines: u64,
    /// The number of lines in the chain: all lines from the first chained one on.
    pub chained: u64,
    /// The previous ledger, which was set aside because it could not be continued; `None` if there was none.
    pub continues: Option<SetAside>,
}

/// A ledger that was set aside, as recorded in the first line of the next one.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[non_exhaustive]
pub struct SetAside {
    /// The name of the file, in the folder of the ledger.
    #[serde(rename = "continues")]
    pub file: String,
    /// The length in bytes.
    pub bytes: u64,
}

/// The first faulty line of a ledger.
#[derive(Debug)]
#[non_exhaustive]
pub struct LedgerFault {
    /// The line, from 1.
    pub line: u64,
    /// The fault.
    pub why: LedgerFaultKind,
}

/// The fault of a line in a ledger.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerFaultKind {
    /// The ledger cannot be read to its end.
    #[error("it cannot be read: {0}")]
    Io(#[source] io::Error),
    /// The line is longer than any written line: longer than 1 MiB.
    #[error("it is longer than {MOST_LINE} bytes")]
    TooLong,
    /// The line has no line feed: its end is missing.
    #[error("it ends without a line feed; its end is missing")]
    Torn,
    /// The line is not an event.
    #[error("it is no event: {0}")]
    Garbage(String),
    /// The line has no digest, although earlier lines have one.
    #[error("it has no digest, and the lines before it have one")]
    Unchained,
    /// The digest does not match the content: the line was changed.
    #[error("its digest is not that of its content; it was changed")]
    Changed,
    /// The fields of the chain have an unexpected form, such as other white space or another order.
    #[error(
        "it has a digest in another form than it is written in: it was written anew, and may have been changed"
    )]
    Rewritten,
    /// The line does not follow the previous one: a line was changed, removed or inserted.
    #[error("it does not follow the line before; a line was changed, taken out or put in")]
    Unlinked,
    /// The line was written without the keys, or it is under a key and no keys are set.
    #[error("{0}")]
    Key(#[source] KeyError),
}

impl fmt::Display for LedgerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl Error for LedgerFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.why.source()
    }
}

/// Reads a ledger from its beginning, and verifies each line against the previous one. Only one line at a time is in
/// memory, whatever the length of the ledger is.
///
/// A chain reveals changes, but not a missing end. [`Governor::resume`](super::Governor::resume) detects a missing
/// end by comparing the ledger with the runs.
///
/// With `keys`, each line must be under one of them ([`Governor::keyed`](super::Governor::keyed)). A writer without
/// the key can then only remove lines from the end, restore an older copy, or replace the ledger by another one under
/// the same key. Without `keys`, a chain detects accidental damage only.
///
/// ```
/// use runstate_governed::verify_ledger;
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
/// [`LedgerFault`] with the first faulty line.
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
        // A wrong digest is more informative than the fault of a changed event.
        is_sound(told).map_err(fault)?;
        if number == 1 {
            report.continues = runstate::json::from_slice(line).ok();
        }
    }
}
