//! The protocol of decisions (design, section 6): a model of it, written from the text.

use std::collections::{BTreeMap, BTreeSet};

use runstate::agent::event::EventKind;
use runstate::agent::{Incoming, Reply};
use runstate::decision::DecisionAction;
use runstate::termination::TerminationReason;
use runstate::tool_call::ToolCallStatus;

use super::moment::CallNow;
use super::{Book, Judge, Moment, Step};
use crate::play::{Ended, What};

/// The kinds of replies, without what `Invalid` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Accepted,
    Held,
    Duplicate,
    Conflict,
    Stale,
    Expired,
    Unknown,
    Invalid,
    Other,
}

fn kind(reply: &Reply) -> Kind {
    match reply {
        Reply::Accepted => Kind::Accepted,
        Reply::Held => Kind::Held,
        Reply::Duplicate => Kind::Duplicate,
        Reply::Conflict => Kind::Conflict,
        Reply::Stale => Kind::Stale,
        Reply::Expired => Kind::Expired,
        Reply::Unknown => Kind::Unknown,
        Reply::Invalid(_) => Kind::Invalid,
        _ => Kind::Other,
    }
}

struct Sent {
    incoming: Incoming,
    may_be: BTreeSet<Kind>,
    /// Activations that had begun and ended.
    stretch: u32,
}

#[derive(Default)]
pub(super) struct Decisions {
    sent: BTreeMap<usize, Sent>,
    accepted: BTreeSet<String>,
    /// What was held in this activation, by its call, in order.
    held: BTreeMap<String, Vec<String>>,
    /// What was held in an activation that has ended, and never counted.
    dropped: BTreeSet<String>,
    /// Activations that began and ended.
    stretch: u32,
    /// What each name asks: an answer to one question must never count for another.
    questions: BTreeMap<String, String>,
    /// How often each decision was given.
    given: BTreeMap<String, u32>,
    /// What each call's suspension must be answered with, since it was held.
    owed: BTreeMap<String, Vec<String>>,
    /// A loop was dropped, or a commit failed, while decisions were on their way: who was first is not known.
    loose: bool,
}

impl Judge for Decisions {
    fn step(&mut self, step: Step<'_>, now: &Moment, book: &mut Book) {
        let entry = match step {
            Step::Moved(_) => return self.look(now),
            Step::Entry(entry) => entry,
        };
        match &entry.what {
            What::Sent { number, incoming } => {
                // Given again it is not the one that was dropped.
                self.dropped.remove(&incoming.decision_id);
                *self.given.entry(incoming.decision_id.clone()).or_default() += 1;
                self.sent.insert(
                    *number,
                    Sent { incoming: incoming.clone(), may_be: BTreeSet::new(), stretch: self.stretch },
                );
            }
            What::Replied { number, reply, durable } => {
                self.look(now);
                self.replied(*number, reply.as_ref(), *durable, now, book);
            }
            What::Event(event) => match &event.kind {
                EventKind::ToolCallResumed { call, suspension_id, decision_id, .. } => {
                    self.resumed(call, suspension_id, decision_id, book);
                }
                EventKind::ToolCallSuspended { interrupt } => {
                    let suspension = &interrupt.suspension;
                    let (id, question) = (suspension.id.clone(), (&interrupt.call, &suspension.action));
                    let question = format!("{question:?}");
                    if self.questions.get(&id).is_some_and(|earlier| *earlier != question) {
                        book.wrong("decisions", format!("{id} is the name of two questions: {question}"));
                    }
                    self.questions.insert(id, question);
                    if let Some(held) = self.held.remove(&interrupt.call) {
                        self.owed.insert(interrupt.suspension.id.clone(), held);
                    }
                }
                EventKind::ToolCallDone { call, .. } => {
                    self.held.remove(call);
                }
                EventKind::RunStarted { .. } => self.stretch += 1,
                EventKind::RunFinished { reason, .. } => {
                    self.stretch += 1;
                    if *reason != TerminationReason::Suspended {
                        self.owed.clear();
                    }
                    self.dropped.extend(std::mem::take(&mut self.held).into_values().flatten());
                }
                _ => {}
            },
            What::CommitEnded { made: false, .. } => self.loose = true,
            What::LoopEnded(Ended::Dropped { .. }) => {
                self.stretch += 1;
                self.loose = true;
                self.owed.clear();
                self.dropped.extend(std::mem::take(&mut self.held).into_values().flatten());
            }
            _ => {}
        }
        self.look(now);
    }
}

impl Decisions {
    /// What each decision that is on its way would be answered now.
    fn look(&mut self, now: &Moment) {
        for sent in self.sent.values_mut() {
            sent.may_be.extend(expected(&sent.incoming, now));
        }
    }

    fn replied(
        &mut self,
        number: usize,
        reply: Option<&Reply>,
        durable: bool,
        now: &Moment,
        book: &mut Book,
    ) {
        let Some(Sent { incoming, may_be, stretch }) = self.sent.remove(&number) else { return };
        let Some(reply) = reply else { return };
        let (got, id) = (kind(reply), &incoming.decision_id);
        if !may_be.contains(&got) && !self.loose {
            book.wrong(
                "decisions",
                format!("{id} on {} was answered {reply}; it may be {may_be:?}", incoming.call),
            );
        }
        match got {
            Kind::Accepted => {
                if !durable {
                    book.wrong("decisions", format!("{id} was accepted and is not in the store"));
                }
                if !self.accepted.insert(id.clone()) {
                    book.wrong("decisions", format!("{id} was accepted twice"));
                }
            }
            // Who sent it hears of it a little later, when the call may have asked already.
            // Across the end of an activation it is not known in which it was held.
            Kind::Held if stretch != self.stretch => {}
            Kind::Held => match now.calls.get(&incoming.call) {
                Some(CallNow { status: ToolCallStatus::New | ToolCallStatus::Running, .. }) => {
                    self.held.entry(incoming.call.clone()).or_default().push(id.clone());
                }
                Some(CallNow { status: ToolCallStatus::Suspended, last_asked: Some(asked), .. }) => {
                    self.owed.entry(asked.clone()).or_default().push(id.clone());
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn resumed(&mut self, call: &str, suspension: &str, decision: &str, book: &mut Book) {
        if self.dropped.contains(decision) && self.given.get(decision) == Some(&1) {
            book.wrong(
                "decisions",
                format!("{decision} was held in an earlier activation and counts for {call}"),
            );
        }
        if let Some(owed) = self.owed.remove(suspension)
            && !owed.iter().any(|held| held == decision)
            && !decision.starts_with("expiry:")
            && !self.loose
        {
            book.wrong("decisions", format!("{call} goes on by {decision}, and {owed:?} was held for it"));
        }
    }
}

/// The replies that the protocol allows.
fn expected(incoming: &Incoming, now: &Moment) -> BTreeSet<Kind> {
    let mut refusals = BTreeSet::new();
    if incoming.run_id.as_deref().is_some_and(|run| run != crate::play::RUN) {
        return BTreeSet::from([Kind::Unknown]);
    }
    let Some(call) = now.calls.get(&incoming.call) else { return BTreeSet::from([Kind::Unknown]) };
    // The same id again is a duplicate, whatever it says.
    if now.durable.contains(&incoming.decision_id)
        || now.accepted.values().any(|accepted| *accepted == incoming.decision_id)
    {
        return BTreeSet::from([Kind::Duplicate]);
    }
    let named = incoming.suspension_id.as_deref();
    // Who decides after it lapsed is told so, also once the runtime has given the call up for it.
    let meant = named.or(call.last_asked.as_deref());
    if meant.and_then(|id| now.asked.get(id)).is_some_and(|asked| asked.is_expired(now.at_ms)) {
        refusals.insert(Kind::Expired);
    }
    let waits_on = call.last_asked.as_deref().filter(|_| call.status == ToolCallStatus::Suspended);
    if named.is_some_and(|named| now.accepted.contains_key(named) && Some(named) != waits_on) {
        // Another answer to a decided suspension, and an older one of its call.
        refusals.extend([Kind::Conflict, Kind::Stale]);
    } else if named.is_some_and(|named| Some(named) != waits_on) {
        refusals.insert(Kind::Stale);
        if call.status == ToolCallStatus::Resuming {
            refusals.insert(Kind::Conflict);
        }
    }
    if incoming.args_digest.as_deref() == Some("0") {
        refusals.insert(Kind::Stale);
    }
    if let Some(asked) = waits_on.and_then(|id| now.asked.get(id)) {
        if asked.is_expired(now.at_ms) {
            refusals.insert(Kind::Expired);
        }
        let misfit = asked.response_schema.is_some() && incoming.result.get("ok").is_none();
        if misfit && incoming.action == DecisionAction::Resume {
            refusals.insert(Kind::Invalid);
        }
        if refusals.is_empty() {
            return BTreeSet::from([Kind::Accepted]);
        }
        return refusals;
    }
    if named.is_none() {
        match call.status {
            ToolCallStatus::New | ToolCallStatus::Running if call.suspensions == 0 => {
                if refusals.is_empty() {
                    return BTreeSet::from([Kind::Held]);
                }
            }
            ToolCallStatus::New | ToolCallStatus::Running | ToolCallStatus::Resuming => {
                refusals.insert(Kind::Conflict);
            }
            ToolCallStatus::Suspended
            | ToolCallStatus::Succeeded
            | ToolCallStatus::Failed
            | ToolCallStatus::Cancelled => {
                refusals.insert(Kind::Unknown);
            }
        }
    }
    refusals
}
