//! What the conditions look at.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::super::answer::Usage;
use super::conditions::StopConditions;
use super::digest::CallDigest;
use crate::turn::Turn;

/// What was counted since a run started. It is stored with the run, so that a resumed run goes on counting, and it does
/// not grow with the run: at most 1,000 digests of calls, as many as the longest window of the conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopCounters {
    started_at_ms: u64,
    rounds: u32,
    usage: Usage,
    failed_in_a_row: u32,
    /// The tool of the last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_failed: Option<String>,
    /// The last calls, the newest last.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    recent: VecDeque<CallDigest>,
    /// The repetition in the last step that spans the fewest calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeated: Option<Repeated>,
}

/// A call that was made again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repeated {
    pub(super) tool: String,
    /// From the one call to the other, both counted.
    pub(super) within: u32,
}

impl StopCounters {
    /// A run starts at `started_at_ms`, in milliseconds on its clock.
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

    /// A step has its answer.
    pub fn step(&mut self, conditions: &StopConditions, usage: &Usage, turn: &Turn) {
        self.rounds = self.rounds.saturating_add(1);
        self.usage += *usage;
        self.repeated = None;
        let window = usize::try_from(conditions.window()).unwrap_or(usize::MAX);
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

    /// A call has ended as Succeeded or Failed; in the order of their ending. Calls that wait or were cancelled are not told.
    pub fn result(&mut self, tool: &str, failed: bool) {
        if failed {
            self.failed_in_a_row = self.failed_in_a_row.saturating_add(1);
            self.last_failed = Some(tool.to_owned());
        } else {
            self.failed_in_a_row = 0;
            self.last_failed = None;
        }
    }

    /// When the run started, in milliseconds on its clock.
    pub fn started_at_ms(&self) -> u64 {
        self.started_at_ms
    }

    /// Steps taken.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Tokens used.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Failed calls since the last that succeeded.
    pub fn failed_in_a_row(&self) -> u32 {
        self.failed_in_a_row
    }

    pub(super) fn last_failed(&self) -> &str {
        self.last_failed.as_deref().unwrap_or_default()
    }

    pub(super) fn repeated(&self) -> Option<&Repeated> {
        self.repeated.as_ref()
    }
}
