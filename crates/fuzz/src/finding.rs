//! Findings, and the report of a fuzzing run.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// The machine starts in a state that is not initial.
    WrongStart,
    /// The machine takes an event that has no transition from its state.
    AcceptedIllegal,
    /// The machine refuses an event that has a transition without a guard.
    RefusedLegal,
    /// The machine takes an event and enters a state that is no target of it.
    WrongTarget,
    /// The machine refuses an event and changes its state.
    MovedOnRefusal,
    /// The machine changes its state without an event, where the diagram has no transition without a label.
    MovedByItself,
    /// The system ended, or its code panicked.
    Crash,
    /// The system did not reply in time.
    Timeout,
    /// The system replied with something else than a reply.
    Garbage,
    /// The system wrote more than the protocol allows.
    Flood,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::WrongStart => "wrong-start",
            Kind::AcceptedIllegal => "accepted-illegal",
            Kind::RefusedLegal => "refused-legal",
            Kind::WrongTarget => "wrong-target",
            Kind::MovedOnRefusal => "moved-on-refusal",
            Kind::MovedByItself => "moved-by-itself",
            Kind::Crash => "crash",
            Kind::Timeout => "timeout",
            Kind::Garbage => "garbage",
            Kind::Flood => "flood",
        })
    }
}

/// One request of a sequence, and the reply to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Exchange {
    /// The state before the request.
    pub from: String,
    /// The event; none for an observation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The payload of the event.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub payload: Value,
    /// The parts of the payload that were taken from `data` of earlier replies: the JSON pointer of each part, and that of the
    /// data.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub from_data: BTreeMap<String, String>,
    /// The reason of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The state after the request; none if there was no reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = self.to.as_deref().unwrap_or("?");
        let event = self.event.as_deref().unwrap_or("(observed)");
        let payload = match &self.payload {
            Value::Object(fields) if fields.is_empty() => String::new(),
            Value::Null => String::new(),
            payload => format!(" {payload}"),
        };
        match &self.refused {
            None => write!(f, "{} --> {to} : {event}{payload}", self.from),
            Some(reason) => {
                write!(f, "{} refuses {event}{payload}: {reason:?}", self.from)?;
                if self.to.as_ref() == Some(&self.from) { Ok(()) } else { write!(f, ", and becomes {to}") }
            }
        }
    }
}

/// A difference between the system and its diagram, with the shortest known sequence that shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// The difference in words.
    pub why: String,
    /// The initial state of the sequence; none if the system did not start.
    pub start: Option<String>,
    /// The requests and replies; the last one shows the difference.
    pub exchanges: Vec<Exchange>,
    /// The last output of the system beside its replies.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub log: String,
    /// The number of fresh replays that showed the difference, of [`Finding::REPLAYS`]. Fewer than all: the finding is
    /// flaky, and not shrunk.
    pub reproduced: u32,
    /// Whether the run ended before the replays and the shrinking, or a limit ended the shrinking: the sequence may be
    /// longer than needed.
    pub is_unfinished: bool,
    /// Whether a stored regression showed it.
    pub is_regression: bool,
}

impl Finding {
    /// The number of fresh replays of each finding.
    pub const REPLAYS: u32 = 3;

    /// Whether some fresh replay did not show the difference.
    #[must_use]
    pub fn is_flaky(&self) -> bool {
        self.reproduced < Finding::REPLAYS && !self.is_unfinished
    }
}

/// The result of a fuzzing run. Its [`Display`](fmt::Display) form has no times: a deterministic system gives the same
/// text again for the same seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the diagram.
    pub lifecycle: String,
    /// The seed.
    pub seed: u64,
    /// The number of transitions of the diagram.
    pub transitions: usize,
    /// The transitions that no sequence took, in the notation of the diagram.
    pub uncovered: Vec<String>,
    /// The number of pairs of a state and an event that the state must refuse, and how many of them were sent.
    pub illegal: (usize, usize),
    /// The other ones of these pairs, each with the reason.
    pub unsent: Vec<String>,
    /// The number of sequences.
    pub sequences: u64,
    /// The number of requests.
    pub requests: u64,
    /// The differences.
    pub findings: Vec<Finding>,
    /// The names of replayed regressions that show no difference any more.
    pub fixed: Vec<String>,
    /// The regressions that belong to another diagram, each with the reason.
    pub stale: Vec<String>,
    /// The reason that ended the run early: the system cannot be tested any more. The report has the part before that.
    pub stopped: Option<String>,
    /// The limit or the demand that ended the run early. The report has the part before that.
    pub ended: Option<String>,
}

impl Report {
    /// Whether the run came to its end, there is no difference, and each transition was taken.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
            && self.uncovered.is_empty()
            && self.stopped.is_none()
            && self.ended.is_none()
    }
}

/// The last lines of a system's log that a text shows.
const LOG_LINES: usize = 10;

/// The lines of a sequence, with the last lines of the system's log.
pub(crate) fn sequence(start: Option<&str>, exchanges: &[Exchange], log: &str) -> String {
    let start = start.map(|start| format!("  [*] --> {start}\n"));
    let exchanges = exchanges.iter().map(|exchange| format!("  {exchange}\n"));
    let log: Vec<&str> = log.lines().collect();
    let log = log[log.len().saturating_sub(LOG_LINES)..].iter().map(|line| format!("  | {line}\n"));
    start.into_iter().chain(exchanges).chain(log).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let covered = self.transitions - self.uncovered.len();
        writeln!(
            f,
            "{}: {covered} of {} transitions taken, {} of {} illegal events sent, {} in {} sequences with {} requests, seed {}",
            self.lifecycle,
            self.transitions,
            self.illegal.1,
            self.illegal.0,
            match self.findings.len() {
                0 => "no difference".to_owned(),
                1 => "1 difference".to_owned(),
                count => format!("{count} differences"),
            },
            self.sequences,
            self.requests,
            self.seed,
        )?;
        for finding in &self.findings {
            writeln!(f, "\n{}: {}", finding.kind, finding.why)?;
            if finding.is_regression {
                writeln!(f, "  a stored regression shows it")?;
            }
            if finding.is_unfinished {
                writeln!(
                    f,
                    "  shown by {} fresh replays, and not shrunk to the end: the run or a limit ended before",
                    finding.reproduced
                )?;
            }
            if finding.is_flaky() && finding.reproduced == 0 {
                writeln!(
                    f,
                    "  flaky: 0 of {} fresh replays show it; if `reset` leaves something behind, `--fresh` avoids it",
                    Finding::REPLAYS
                )?;
            } else if finding.is_flaky() {
                writeln!(f, "  flaky: {} of {} fresh replays show it", finding.reproduced, Finding::REPLAYS)?;
            }
            f.write_str(&sequence(finding.start.as_deref(), &finding.exchanges, &finding.log))?;
        }
        for edge in &self.uncovered {
            writeln!(f, "\nuncovered: {edge}")?;
        }
        for event in &self.unsent {
            writeln!(f, "\nnot sent: {event}")?;
        }
        for name in &self.fixed {
            writeln!(f, "\nfixed: the regression {name} shows no difference")?;
        }
        for why in &self.stale {
            writeln!(f, "\nstale: {why}")?;
        }
        if let Some(why) = &self.stopped {
            writeln!(f, "\nstopped: {why}")?;
        }
        if let Some(why) = &self.ended {
            writeln!(f, "\nended early: {why}")?;
        }
        Ok(())
    }
}
