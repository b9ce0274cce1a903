//! Counters for the stop conditions.

use std::collections::VecDeque;

use runstate::turn::Turn;
use serde::{Deserialize, Serialize};

use super::super::answer::Usage;
use super::conditions::StopConditions;
use super::digest::CallDigest;

/// The counters of a run since its start. They are stored with the run, so that a resumed run continues to count.
/// Their size is bounded: they contain the digests of at most 1,000 calls, according to the longest window of the
/// conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopCounters {
    started_at_ms: u64,
    rounds: u32,
    usage: Usage,
    failed_in_a_row: u32,
    /// The tool of the last failed call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_failed: Option<String>,
    /// The digests of the last calls, the newest last.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    recent: VecDeque<CallDigest>,
    /// The repetition in the last step that spans the fewest calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeated: Option<Repeated>,
}

/// A repeated call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeated {
    tool: String,
    /// The number of calls from the first occurrence to the second, both included.
    within: u32,
}

impl StopCounters {
    /// Creates the counters of a run that starts at `started_at_ms`, in milliseconds on its clock.
    pub fn new(started_at_ms: u64) -> Self {
        StopCounters {
            started_at_ms,
            rounds: 0,
            usage: Usage::default(),
            failed_in_a_row: 0,
            last_failed: None,
            recent: VecDeque::new(),
            repeated: None,
        }
    }

    /// Counts a step with its answer.
    pub fn step(&mut self, conditions: &StopConditions, usage: &Usage, turn: &Turn) {
        self.used(usage);
        self.answered(conditions.window, turn);
    }

    /// Counts tokens, also those of an answer that fails.
    pub(crate) fn used(&mut self, usage: &Usage) {
        self.usage += *usage;
    }

    /// Counts an answer. Its calls are compared with the previous ones. `window` is the number of calls to compare.
    pub(crate) fn answered(&mut self, window: u32, turn: &Turn) {
        self.rounds = self.rounds.saturating_add(1);
        self.repeated = None;
        let window = usize::try_from(window).unwrap_or(usize::MAX);
        if window == 0 {
            self.recent.clear();
            return;
        }
        for call in &turn.calls {
            let digest = CallDigest::of(call);
            let back = self.recent.iter().rev().position(|earlier| *earlier == digest);
            if let Some(within) = back.and_then(|back| u32::try_from(back + 2).ok())
                && self.repeated.as_ref().is_none_or(|repeated| within < repeated.within)
            {
                self.repeated = Some(Repeated { tool: call.tool.clone(), within });
            }
            self.recent.push_back(digest);
            let over = self.recent.len().saturating_sub(window);
            self.recent.drain(..over);
        }
    }

    /// Counts a call that ended as Succeeded or Failed. The caller reports calls in the order of their ends, and
    /// omits calls that wait or were cancelled.
    pub fn result(&mut self, tool: &str, failed: bool) {
        if failed {
            self.failed_in_a_row = self.failed_in_a_row.saturating_add(1);
            self.last_failed = Some(tool.to_owned());
        } else {
            self.failed_in_a_row = 0;
            self.last_failed = None;
        }
    }

    /// The start of the run, in milliseconds on its clock.
    pub fn started_at_ms(&self) -> u64 {
        self.started_at_ms
    }

    /// The number of steps.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The tokens used.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The number of failed calls since the last successful one.
    pub fn failed_in_a_row(&self) -> u32 {
        self.failed_in_a_row
    }

    pub(super) fn last_failed(&self) -> &str {
        self.last_failed.as_deref().unwrap_or_default()
    }

    /// A repeated call of the last step: its tool, and the number of calls from the first occurrence to the second,
    /// both included. `window` is the largest such number.
    pub fn repeated_within(&self, window: u32) -> Option<(&str, u32)> {
        let repeated = self.repeated.as_ref().filter(|repeated| repeated.within <= window)?;
        Some((&repeated.tool, repeated.within))
    }
}
