//! One line for one transition, in RUN_LOG.jsonl and RUN_LEDGER.jsonl: an event of a trace, with the time in words.

use serde::{Deserialize, Serialize};

use super::document::Document;
use super::when::When;
use crate::governed_run::{GovernedRunStatus, RunId};
use crate::kernel::Status;

/// A transition of a run: its place in the run's history, from 1 for the run's making, and what it was.
///
/// It is made from the history in RUN_STATE.json, when it happens and when it is recovered alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transition {
    pub(super) seq: u64,
    pub(super) at: When,
    pub(super) from: Option<GovernedRunStatus>,
    pub(super) to: GovernedRunStatus,
}

/// All transitions that a file tells of.
pub(super) fn transitions(document: &Document) -> Vec<Transition> {
    let mut from = None;
    let mut all = Vec::with_capacity(document.state_history.len());
    for (i, entry) in document.state_history.iter().enumerate() {
        all.push(Transition { seq: i as u64 + 1, at: entry.entered_at, from, to: entry.state });
        from = Some(entry.state);
    }
    all
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
    at: When,
    project: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    recovered: bool,
}

impl Transition {
    /// Its line, without a line feed.
    pub(super) fn line(&self, run: &RunId, recovered: bool) -> String {
        let graph = GovernedRunStatus::graph();
        let event = match self.from {
            None => "create",
            Some(from) => {
                let edge =
                    graph.edges.iter().find(|edge| edge.from == from.name() && edge.to == self.to.name());
                edge.map_or("", |edge| edge.event)
            }
        };
        let line = Written {
            seq: self.seq,
            at_ms: self.at.ms(),
            run: run.as_str(),
            lifecycle: graph.name,
            instance: run.as_str(),
            event,
            from: self.from,
            to: self.to,
            at: self.at,
            project: run.project(),
            recovered,
        };
        serde_json::to_string(&line).unwrap_or_else(|_| unreachable!("texts and numbers are JSON"))
    }
}

/// What of a line tells of a transition. Further fields do not matter.
#[derive(Debug, Deserialize)]
pub(super) struct Line<'a> {
    #[serde(borrow, default)]
    pub(super) run: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    seq: Option<u64>,
    #[serde(default)]
    at_ms: Option<u64>,
    #[serde(borrow, default)]
    from: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    to: Option<std::borrow::Cow<'a, str>>,
}

impl<'a> Line<'a> {
    /// Reads a line; none when it is no event of a governed run, for others may write lines of their own.
    ///
    /// # Errors
    /// That it is no JSON object, or an event of a governed run with a field of another type.
    pub(super) fn read(line: &'a [u8]) -> Result<Option<Self>, String> {
        #[derive(Deserialize)]
        struct Peek {
            #[serde(default)]
            lifecycle: serde_json::Value,
        }
        let said = |error: serde_json::Error| {
            let column = error.column();
            let message: String = crate::json::without_place(&error).chars().take(200).collect();
            format!("column {column}: {message}")
        };
        if line.first() != Some(&b'{') {
            return Err("column 1: expected a JSON object".to_owned());
        }
        let Peek { lifecycle } = crate::json::from_slice(line).map_err(said)?;
        if lifecycle.as_str() != Some(GovernedRunStatus::graph().name) {
            return Ok(None);
        }
        crate::json::from_slice(line).map(Some).map_err(said)
    }

    /// Does it tell of this transition?
    ///
    /// # Errors
    /// What it tells of instead.
    pub(super) fn tells(&self, expected: &Transition) -> Result<(), String> {
        let from = expected.from.map(|from| from.name());
        let same = self.seq == Some(expected.seq)
            && self.at_ms == Some(expected.at.ms())
            && self.from.as_deref() == from
            && self.to.as_deref() == Some(expected.to.name());
        if same {
            return Ok(());
        }
        let said = |seq: Option<u64>, from: Option<&str>, to: Option<&str>, at: Option<u64>| {
            format!(
                "transition {} ({} --> {} at {})",
                seq.map_or("?".to_owned(), |seq| seq.to_string()),
                from.unwrap_or("[*]"),
                to.unwrap_or("?"),
                at.map_or("?".to_owned(), |at| When::from_ms(at.min(MOST_MS)).to_string()),
            )
        };
        Err(format!(
            "it tells of {}, RUN_STATE.json of {}",
            said(self.seq, self.from.as_deref(), self.to.as_deref(), self.at_ms),
            said(Some(expected.seq), from, Some(expected.to.name()), Some(expected.at.ms()))
        ))
    }
}

/// The end of the year 9999.
const MOST_MS: u64 = 253_402_300_799_999;
