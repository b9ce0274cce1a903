//! External inputs and their stored state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use runstate_agent::event::AgentEvent;
use serde_json::Value;

use super::super::played::Sent;
use crate::Scenario;
use crate::file::{Act, Answer, Decision, Given, Question, Reply, Step, When};

/// The data that outlives a crash.
#[derive(Debug, Default)]
pub(in crate::play) struct Outside {
    pub(super) steps: Vec<Pending>,
    pub(super) answers: Vec<Ready>,
    /// The calls that asked for a result that the prepared answer lacks.
    pub(super) asked_for_result: BTreeSet<String>,
    pub(in crate::play) sent: Vec<Sent>,
    /// The number of inputs sent to processes that are gone: they get no reply any more.
    pub(super) sent_before: usize,
    pub(in crate::play) events: Vec<Arc<AgentEvent>>,
    /// Tries of commits, in all processes.
    pub(in crate::play) commits: u32,
    /// Is the run cancelled by a source that repeats it to each process?
    pub(super) is_cancelled: bool,
    /// The delay between the end of this process and the start of the next one, in milliseconds.
    pub(in crate::play) away_ms: u64,
    /// The replies to calls that ask.
    pub(super) replies: Vec<Reply>,
    /// The places of the given replies.
    pub(super) replied: BTreeSet<usize>,
    /// Steps that came too late for their effect.
    pub(super) late: Vec<String>,
    /// Resumptions that were due while the run did not wait.
    pub(super) resumed: Vec<String>,
    /// The tries of commits that fail.
    fails: Vec<u32>,
    /// Pending decisions, by the number of the last one of their batch.
    pub(super) awaited: BTreeMap<usize, Awaited>,
}

/// Pending decisions.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) decisions: Vec<Decision>,
    /// Are they given again if the process is gone?
    pub(super) insists: bool,
    /// The decisions that follow once they are answered.
    pub(super) then: Vec<Given>,
}

/// An answer that is ready for when the run waits for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// The answer.
    pub answer: Answer,
    /// Does it come from the command that drives the run, not from its scenario?
    pub is_of_command: bool,
}

impl Ready {
    /// An answer of the scenario itself.
    pub fn in_scenario(answer: Answer) -> Self {
        Ready { answer, is_of_command: false }
    }
}

/// A pending step.
#[derive(Debug)]
pub(super) struct Pending {
    /// Its place in the scenario; `None` for a step of a reply.
    pub(super) place: Option<usize>,
    pub(super) step: Step,
    /// The number of matching events so far.
    pub(super) seen: u32,
    /// Its time, once it is known.
    pub(super) due_ms: Option<u64>,
    /// The decisions that follow once it is answered.
    pub(super) then: Vec<Given>,
}

impl Outside {
    pub(in crate::play) fn of(scenario: &Scenario) -> Self {
        let steps = scenario.outside.iter().enumerate().map(|(place, step)| Pending {
            place: Some(place),
            step: step.clone(),
            seen: 0,
            due_ms: None,
            then: Vec::new(),
        });
        Outside {
            steps: steps.collect(),
            answers: scenario.decisions.iter().cloned().map(Ready::in_scenario).collect(),
            replies: scenario.replies.clone(),
            fails: scenario.commits.fail.clone(),
            ..Outside::default()
        }
    }

    /// The external steps of the scenario that never happened.
    pub(in crate::play) fn missed(&self) -> Vec<String> {
        let steps = self.steps.iter().map(Pending::to_string);
        let answers = self.answers.iter().map(|Ready { answer: Answer { call, .. }, .. }| {
            let asked = self.asked_for_result.contains(call);
            format!("decisions: {call} {}", if asked { "asked for a result" } else { "never waited" })
        });
        let replies = self.replies.iter().enumerate().filter(|(place, _)| !self.replied.contains(place));
        let replies = replies.map(|(place, reply)| match &reply.to {
            Question::Doubt => format!("replies[{place}]: no call was in doubt"),
            Question::Ask { call, nth: None } => format!("replies[{place}]: {call} never asked"),
            Question::Ask { call, nth: Some(nth) } => {
                format!("replies[{place}]: {call} did not ask for the {} time", ordinal(*nth))
            }
        });
        let tries = self.commits;
        let fails = self.fails.iter().filter(|number| **number > tries);
        let fails = fails
            .map(|number| format!("commits.fail: the run made {tries} tries, and no {}", ordinal(*number)));
        let early = self.resumed.iter().map(|resumed| format!("{resumed}: the run did not wait"));
        let late = self.late.iter().cloned().chain(early).chain(fails);
        late.chain(steps).chain(answers).chain(replies).collect()
    }

    /// With these answers alone.
    pub(in crate::play) fn answered_by(mut self, answers: Vec<Ready>) -> Self {
        self.answers = answers;
        self
    }

    /// Omits earlier steps: a process that continues a run does not repeat them. A crash ends the process that it was
    /// written for; the time of the next one may begin before it, at the last commit.
    pub(in crate::play) fn going_on_at(mut self, now_ms: u64) -> Self {
        self.steps.retain(|pending| match pending.step.when {
            _ if matches!(pending.step.act, Act::Crash | Act::CrashFor(_)) => false,
            When::AtMs(at) => at >= now_ms,
            When::Event(_) => true,
            When::BeforeCommit(_) | When::AfterCommit(_) => false,
        });
        self
    }
}

impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "outside[{place}]: ")?,
            None => f.write_str("replies: ")?,
        }
        match &self.step.act {
            Act::Decide(decisions) => {
                let ids: Vec<_> = decisions.iter().map(|decision| decision.id.as_str()).collect();
                write!(f, "decide {}", ids.join(", "))?;
            }
            Act::Write(_) => f.write_str("write")?,
            Act::Cancel => f.write_str("cancel")?,
            Act::Resume => f.write_str("resume")?,
            Act::Drop => f.write_str("drop")?,
            Act::Crash => f.write_str("crash")?,
            Act::CrashFor(ms) => write!(f, "crash for {ms} ms")?,
        }
        match (&self.step.when, self.due_ms) {
            (When::AtMs(at_ms), _) => write!(f, ", at {at_ms} ms"),
            (When::BeforeCommit(commit), _) => write!(f, ", before commit {commit}"),
            (When::AfterCommit(commit), _) => write!(f, ", after commit {commit}"),
            (When::Event(_), Some(due_ms)) => write!(f, ", due at {due_ms} ms"),
            (When::Event(on), None) => {
                write!(f, ", at the {} {}", ordinal(on.nth), on.kind)?;
                on.call.as_ref().map_or(Ok(()), |call| write!(f, " of {call}"))?;
                if on.with.is_empty() {
                    Ok(())
                } else {
                    write!(f, " with {}", Value::Object(on.with.clone()))
                }
            }
        }
    }
}

fn ordinal(nth: u32) -> String {
    let suffix = match (nth % 10, nth % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{nth}{suffix}")
}
