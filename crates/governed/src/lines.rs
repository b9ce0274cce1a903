//! The lines of RUN_LOG.jsonl and RUN_LEDGER.jsonl: one line per transition, as an event of a trace with a readable
//! time. Also the line reader for files of this library and of other programs.

use std::io::{self, BufRead, Read};

use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate::kernel::Status;
use serde::Serialize;

use super::document::Document;
use super::timestamp::Timestamp;

/// A transition of a run, with its number in the run's history. Number 1 is the creation of the run.
///
/// It is derived from the history in RUN_STATE.json, both when it happens and when it is recovered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transition {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) from: Option<GovernedRunStatus>,
    pub(super) to: GovernedRunStatus,
}

pub(super) fn transitions<N>(document: &Document<GovernedRunStatus, N>) -> Vec<Transition> {
    let entries = document.state_history.iter();
    let before = std::iter::once(None).chain(entries.clone().map(|entry| Some(entry.state)));
    let each = (1..).zip(before).zip(entries);
    each.map(|((seq, from), entry)| Transition { seq, at: entry.entered_at, from, to: entry.state }).collect()
}

#[derive(Serialize)]
struct Written<'a> {
    seq: u64,
    at_ms: u64,
    run: &'a str,
    lifecycle: &'static str,
    instance: &'a str,
    event: &'a str,
    from: Option<GovernedRunStatus>,
    to: GovernedRunStatus,
    at: Timestamp,
    project: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    recovered: bool,
}

impl Transition {
    /// The line of the transition, without a line feed.
    pub(super) fn line(&self, run: &RunId, recovered: bool) -> String {
        let event = self.from.map_or(Some("create"), |from| super::faults::event(from, self.to));
        let line = Written {
            seq: self.seq,
            at_ms: self.at.ms(),
            run: run.as_str(),
            lifecycle: GovernedRunStatus::graph().name,
            instance: run.as_str(),
            event: event.unwrap_or_default(),
            from: self.from,
            to: self.to,
            at: self.at,
            project: run.project(),
            recovered,
        };
        serde_json::to_string(&line).unwrap_or_else(|_| unreachable!("texts and numbers are JSON"))
    }
}

/// Reader of a file, line by line. A line that is too long is never in memory as a whole.
pub(super) struct LineReader<R> {
    input: R,
    /// The last line, without its line feed. Of a line that is too long, only the beginning.
    pub(super) line: Vec<u8>,
    /// The number of the line, from 1.
    pub(super) number: u64,
    /// The number of bytes read up to the end of the line.
    pub(super) end: u64,
    skips: bool,
}

/// The end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// The line ends with a line feed.
    Whole,
    /// The line ends with the file.
    Torn,
    /// The line does not end within [`MOST_LINE`] bytes.
    TooLong,
}

/// The size limit of a line in bytes.
pub(super) const MOST_LINE: u64 = 1 << 20;

impl<R: BufRead> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        LineReader { input, line: Vec::new(), number: 0, end: 0, skips: false }
    }

    /// Reads the next line; `None` at the end of the file. The rest of a line that is too long is skipped only here,
    /// because such a line may have no end.
    pub(super) fn next(&mut self) -> io::Result<Option<Ends>> {
        while std::mem::take(&mut self.skips) {
            let piece = self.input.fill_buf()?;
            let end = piece.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(piece.len(), |at| at + 1);
            self.skips = end.is_none() && length > 0;
            self.input.consume(length);
            self.end += length as u64;
        }
        self.line.clear();
        let read = self.input.by_ref().take(MOST_LINE + 1).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.end += read as u64;
        let is_whole = self.line.pop_if(|last| *last == b'\n').is_some();
        self.skips = !is_whole && read as u64 > MOST_LINE;
        Ok(Some(match (is_whole, self.skips) {
            (true, _) => Ends::Whole,
            (false, true) => Ends::TooLong,
            (false, false) => Ends::Torn,
        }))
    }
}
