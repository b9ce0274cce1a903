//! The situations of a campaign: a situation that never occurs is a test that cannot fail.

use std::collections::{BTreeMap, BTreeSet};

use runstate::termination::TerminationReason;
use runstate_agent::event::EventKind;
use runstate_agent::{Message, Reply};
use runstate_store::Sent;

use crate::play::{Ended, Seen, What};
use crate::threads::{self, Process};

/// The number of occurrences of each situation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Situations(BTreeMap<String, u64>);

/// The required situations, each with its minimum in 10,000 runs.
const WANTED: &[(&str, u64)] = &[
    ("reply accepted", 5_000),
    ("reply duplicate", 200),
    ("reply conflict", 200),
    ("reply stale", 200),
    ("reply expired", 30),
    ("reply unknown", 200),
    ("reply invalid", 30),
    ("reply invalid for an id given before", 20),
    ("reply invalid for want of an id", 20),
    ("reply ambiguous", 30),
    ("reply not_distinct", 30),
    ("reply gone", 30),
    ("end natural_end", 1_000),
    ("end behavior_requested", 30),
    ("end stopped", 200),
    ("end cancelled", 200),
    ("end blocked", 200),
    ("end error", 200),
    ("end suspended", 1_000),
    ("death", 500),
    ("dropped loop", 300),
    ("commit failed", 100),
    ("end committed by a second try", 10),
    ("in doubt", 50),
    ("approval asked", 200),
    ("approval of several asked", 100),
    ("blocked for replaced arguments", 3),
    ("executed again after a death", 20),
    ("expiry", 50),
    ("asked again", 500),
    ("twin refused", 100),
    ("second life", 50),
    ("tool panicked", 200),
    ("tool dropped", 100),
    ("progress reported", 200),
    ("state conflict", 20),
    ("placeholder read", 100),
    ("superseded by a message", 50),
    ("cancelled while it waits", 50),
    ("replay beside a tool", 50),
    ("decision while the model speaks", 50),
    ("several activations", 1_000),
    ("stopped loop_detection", 30),
    ("stopped timeout", 10),
    ("stopped content_match", 30),
    ("not offered", 10),
    ("veiled", 2_000),
    ("thread: a run begins", 5_000),
    ("thread: a run follows another one", 2_000),
    ("thread: a message supersedes", 300),
    ("thread: a duplicate", 500),
    ("thread: busy", 1_000),
    ("thread: a superseding message is refused", 300),
    ("thread: a superseded run is cancelled", 3),
    ("thread: a sender dies", 300),
    ("thread: a worker dies", 1_000),
];

impl Situations {
    /// Adds the situations of one run.
    pub fn add(&mut self, seen: &Seen) {
        let case = &seen.case;
        let by = if case.streamed { "stream" } else { "loop" };
        self.met(&format!("{:?} {:?} {by}", case.mode, case.policy));
        if case.veiled {
            self.met("veiled");
        }
        let mut run = Run::default();
        for entry in &seen.entries {
            run.look(&entry.what, self);
        }
        let begins = seen.trace.iter().filter(|event| event.lifecycle == "run_flow" && event.is_creation());
        if begins.count() > 1 {
            self.met("several activations");
        }
    }

    /// Adds the situations of one conversation.
    pub fn add_talk(&mut self, seen: &threads::Seen) {
        let mut superseded = BTreeSet::new();
        for entry in &seen.entries {
            let name = match &entry.what {
                threads::What::Began { after: None, .. } => "a run begins",
                threads::What::Began { after: Some(_), .. } => "a run follows another one",
                threads::What::Superseded { run, .. } => {
                    superseded.insert(run);
                    "a message supersedes"
                }
                threads::What::Cancelled { run } if superseded.contains(run) => {
                    "a superseded run is cancelled"
                }
                threads::What::Replied { sent: Some(Sent::Duplicate), .. } => "a duplicate",
                threads::What::Replied { post, sent: Some(Sent::Busy { .. }) } => {
                    match seen.talk.posts[*post].supersedes {
                        true => "a superseding message is refused",
                        false => "busy",
                    }
                }
                threads::What::Died { process: Process::Worker } => "a worker dies",
                threads::What::Died { process: Process::Sender(_) } => "a sender dies",
                _ => continue,
            };
            self.met(&format!("thread: {name}"));
        }
    }

    /// Adds the situations of another campaign.
    pub fn merge(&mut self, other: &Situations) {
        for (name, count) in &other.0 {
            *self.0.entry(name.clone()).or_default() += count;
        }
    }

    fn met(&mut self, name: &str) {
        match self.0.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(name.to_owned(), 1);
            }
        }
    }

    /// Each situation with its number, and its minimum if it is required.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let mut all: BTreeMap<&str, u64> = WANTED.iter().map(|(name, _)| (*name, 0)).collect();
        all.extend(self.0.iter().map(|(name, count)| (name.as_str(), *count)));
        all.into_iter().map(|(name, count)| format!("{count:>8} {name}"))
    }

    /// The situations below their minimum in that many runs.
    pub fn too_seldom(&self, runs: u64) -> Vec<String> {
        let combinations = ["Sequential", "Parallel", "Concurrent"].into_iter().flat_map(|mode| {
            ["WaitForAll", "ContinueWhenAny"].into_iter().flat_map(move |policy| {
                ["loop", "stream"].into_iter().map(move |by| (format!("{mode} {policy} {by}"), 300))
            })
        });
        let wanted = WANTED.iter().map(|(name, least)| ((*name).to_owned(), *least)).chain(combinations);
        wanted
            .filter_map(|(name, least)| {
                let (least, got) = (least * runs / 10_000, self.0.get(&name).copied().unwrap_or(0));
                (got < least).then(|| format!("{name}: {got} times, at least {least} are wanted"))
            })
            .collect()
    }
}

#[derive(Default)]
struct Run {
    executing: Vec<String>,
    speaks: bool,
    died: bool,
    unfinished: bool,
    waits: bool,
    began: Vec<String>,
}

impl Run {
    fn look(&mut self, what: &What, met: &mut Situations) {
        match what {
            What::LoopBegan { message, .. } => {
                if *message && self.waits {
                    met.met("superseded by a message");
                }
                self.waits = false;
            }
            What::Sent { .. } if self.speaks => met.met("decision while the model speaks"),
            What::Replied { reply, .. } => {
                let name = match reply {
                    None => "gone",
                    Some(Reply::Accepted) => "accepted",
                    Some(Reply::Duplicate) => "duplicate",
                    Some(Reply::Conflict(_)) => "conflict",
                    Some(Reply::Ambiguous(_)) => "ambiguous",
                    Some(Reply::NotDistinct) => "not_distinct",
                    Some(Reply::Stale) => "stale",
                    Some(Reply::Expired) => "expired",
                    Some(Reply::Unknown) => "unknown",
                    Some(Reply::Invalid(_)) => "invalid",
                    Some(_) => "other",
                };
                met.met(&format!("reply {name}"));
                if let Some(Reply::Invalid(why)) = reply {
                    if why.contains("is that of a decision with another") {
                        met.met("reply invalid for an id given before");
                    }
                    if why.contains("has no id of its own") {
                        met.met("reply invalid for want of an id");
                    }
                }
            }
            What::Began { call, decision, .. } => {
                if decision.is_some() && !self.executing.is_empty() {
                    met.met("replay beside a tool");
                }
                let again = format!("{call} {:?}", decision.as_ref().map(|it| &it.decision_id));
                if self.died && self.began.contains(&again) {
                    met.met("executed again after a death");
                }
                self.began.push(again);
                self.executing.push(call.clone());
            }
            What::Answered { call, .. } => self.executing.retain(|it| it != call),
            What::Dropped { call } => {
                met.met("tool dropped");
                self.executing.retain(|it| it != call);
            }
            What::Died { .. } => {
                met.met("death");
                self.died = true;
            }
            What::LoopEnded(ended) => self.ended(ended, met),
            What::CommitEnded { made: false, .. } => met.met("commit failed"),
            What::Cancelled if self.waits => met.met("cancelled while it waits"),
            What::Asked { history, .. } => {
                self.speaks = true;
                if history.iter().any(|message| matches!(message, Message::Open(_))) {
                    met.met("placeholder read");
                }
            }
            What::Event(event) => self.told(&event.kind, met),
            _ => {}
        }
    }

    fn ended(&mut self, ended: &Ended, met: &mut Situations) {
        self.executing.clear();
        self.speaks = false;
        match ended {
            Ended::Outcome(_) if std::mem::take(&mut self.unfinished) => {
                met.met("end committed by a second try");
            }
            Ended::Outcome(reason) => self.waits = *reason == TerminationReason::Suspended,
            Ended::Unfinished => self.unfinished = true,
            Ended::Dropped { .. } => met.met("dropped loop"),
        }
    }

    fn told(&mut self, kind: &EventKind, met: &mut Situations) {
        match kind {
            EventKind::RunFinished { reason, .. } => {
                let reason = reason.to_string();
                let mut parts = reason.split(':');
                let end = parts.next().unwrap_or_default();
                met.met(&format!("end {end}"));
                if let Some(code) = parts.next().filter(|_| end == "stopped") {
                    met.met(&format!("stopped {code}"));
                }
                self.waits = reason == "suspended";
            }
            EventKind::RunStarted { .. } => self.waits = false,
            EventKind::InferenceFinished { .. } => self.speaks = false,
            EventKind::ToolCallSuspended { interrupt } => {
                if interrupt.suspension.action == "in_doubt" {
                    met.met("in doubt");
                }
                if interrupt.suspension.action == "approve" {
                    met.met("approval asked");
                }
                if interrupt.suspension.action == "approve" && interrupt.suspension.distinct_actors {
                    met.met("approval of several asked");
                }
                if interrupt.suspension.id.ends_with("/2") {
                    met.met("asked again");
                }
            }
            EventKind::ToolCallResumed { decision_id, .. } if decision_id.starts_with("expiry:") => {
                met.met("expiry")
            }
            EventKind::ToolCallReady { call, .. } if call.contains('#') => met.met("second life"),
            EventKind::ToolCallDone { outcome, .. } => {
                let text = format!("{outcome:?}");
                if text.contains("fell over") {
                    met.met("tool panicked");
                }
                if text.contains("has the same id") {
                    met.met("twin refused");
                }
                if text.contains("a decision replaced its arguments") {
                    met.met("blocked for replaced arguments");
                }
                if text.contains("is not offered") {
                    met.met("not offered");
                }
                if text.contains("superseded") {
                    met.met("superseded by a message");
                }
            }
            EventKind::ToolCallProgress { .. } => met.met("progress reported"),
            EventKind::StateConflict { .. } => met.met("state conflict"),
            _ => {}
        }
    }
}
