//! The protocol of decisions: an independent model of the table of replies.

use std::collections::{BTreeMap, BTreeSet};

use runstate::decision::DecisionAction;
use runstate::tool_call::ToolCallStatus;
use runstate_agent::event::EventKind;
use runstate_agent::{Incoming, Reply};

use super::given::Given;
use super::looks::Looks;
use super::moment::CallNow;
use super::replies::{Kind, expected, kind};
use super::{Findings, Judge, ObservedRun, Step};
use crate::case::Case;
use crate::play::{Ended, What};

struct Sent {
    incoming: Incoming,
    may_be: BTreeSet<Kind>,
    /// Was it given before its process had a list? Then it is on the first list of a loop.
    early: bool,
}

#[derive(Default)]
pub(super) struct Decisions {
    sent: BTreeMap<usize, Sent>,
    accepted: BTreeSet<String>,
    /// The calls as of the last commit: later questions are not shown.
    shown: BTreeMap<String, CallNow>,
    /// The shown questions at the time of a decision, by the id of the decision.
    given_on: BTreeMap<String, BTreeSet<String>>,
    /// The decisions given under each id.
    given: Given,
    /// The list of the run at the time of each decision.
    looks: Looks,
    /// Decisions that were given without a list, after a start of the process and before its first commit.
    unseen: BTreeSet<String>,
    /// Did the process start after a death, without a commit so far?
    revived: bool,
    /// The actors of the decisions that resumed each call, by its events.
    went_on_by: BTreeMap<String, BTreeSet<String>>,
    /// The question of each name: an answer to one question must never count for another.
    questions: BTreeMap<String, String>,
    /// Is nothing committed? Then a question is shown at once.
    is_uncommitted: bool,
    /// Is there a list of questions? A loop makes it, and it lives as long as the process, also while the run is parked.
    listed: bool,
    /// Was a loop dropped, or did a commit fail, with decisions pending? Then the first of them is unknown.
    loose: bool,
}

impl Judge for Decisions {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let entry = match step {
            Step::Moved(_) => return self.look(now),
            Step::Entry(entry) => entry,
        };
        match &entry.what {
            What::Sent { number, incoming, shown } => {
                if self.is_uncommitted {
                    self.committed(now);
                }
                self.given.sent(incoming);
                self.looks.given(&incoming.decision_id, shown);
                if self.revived && shown.is_empty() {
                    self.unseen.insert(incoming.decision_id.clone());
                }
                let sent = Sent { incoming: incoming.clone(), may_be: BTreeSet::new(), early: !self.listed };
                self.sent.insert(*number, sent);
                self.show(|sent| sent == *number);
            }
            What::Replied { number, reply, durable } => {
                self.look(now);
                self.replied(*number, reply.as_ref(), *durable, book);
            }
            What::Event(event) => match &event.kind {
                EventKind::ToolCallResumed { call, suspension_id, decision_id, action, actor, .. } => {
                    self.given.told(&event.kind);
                    self.resumed(call, suspension_id, decision_id, book);
                    let wants_another = *action == DecisionAction::Resume
                        && now.asked.get(suspension_id).is_some_and(|asked| asked.distinct_actors);
                    if !self.given.is_by(decision_id, *action, actor.as_deref()) {
                        book.wrong(
                            "decisions",
                            format!("{decision_id} is recorded as given by {actor:?}, and was not"),
                        );
                    }
                    self.went_on(call, decision_id, actor.as_deref(), wants_another, book);
                }
                EventKind::ToolCallSuspended { interrupt } => {
                    let suspension = &interrupt.suspension;
                    let (id, question) = (suspension.id.clone(), (&interrupt.call, &suspension.action));
                    let question = format!("{question:?}");
                    if self.questions.get(&id).is_some_and(|earlier| *earlier != question) {
                        book.wrong("decisions", format!("{id} is the name of two questions: {question}"));
                    }
                    self.questions.insert(id, question);
                }
                // Emitted when the committed questions are shown.
                EventKind::Checkpoint { .. } => {
                    self.revived = false;
                    self.committed(now);
                }
                _ => {}
            },
            What::LoopBegan { .. } => {
                self.committed(now);
                self.listed = true;
                self.sent.values_mut().for_each(|sent| sent.early = false);
            }
            What::Died { .. } => (self.listed, self.revived) = (false, true),
            What::CommitEnded { made: false, .. } => self.loose = true,
            What::LoopEnded(ended) => self.loose |= matches!(ended, Ended::Dropped { .. }),
            _ => {}
        }
        self.look(now);
    }
}

impl Decisions {
    pub(super) fn of(case: &Case) -> Self {
        Decisions { is_uncommitted: !case.committer, ..Decisions::default() }
    }

    /// Records the reply that each pending decision would get now, by the shown questions.
    fn look(&mut self, now: &ObservedRun) {
        for sent in self.sent.values_mut() {
            sent.may_be.extend(expected(&sent.incoming, &now.calls, now, &self.given));
            sent.may_be.extend(expected(&sent.incoming, &self.shown, now, &self.given));
        }
    }

    /// The current questions are committed, and so they are shown.
    fn committed(&mut self, now: &ObservedRun) {
        self.shown.clone_from(&now.calls);
        let early: Vec<usize> =
            self.sent.iter().filter(|(_, sent)| sent.early).map(|(number, _)| *number).collect();
        self.show(|number| early.contains(&number));
    }

    /// Shows the current questions to the givers of these decisions.
    fn show(&mut self, to: impl Fn(usize) -> bool) {
        let waiting = self.shown.values().filter(|call| call.status == ToolCallStatus::Suspended);
        let waiting: BTreeSet<String> = waiting.filter_map(|call| call.last_asked.clone()).collect();
        for (_, sent) in self.sent.iter().filter(|(number, _)| to(**number)) {
            let shown = self.given_on.entry(sent.incoming.decision_id.clone()).or_default();
            shown.extend(waiting.iter().cloned());
        }
    }

    fn replied(&mut self, number: usize, reply: Option<&Reply>, durable: bool, book: &mut Findings) {
        let Some(Sent { incoming, may_be, .. }) = self.sent.remove(&number) else { return };
        let id = &incoming.decision_id;
        let Some(reply) = reply else {
            // A cut drops pending decisions; without a cut each decision has its reply.
            if !self.loose {
                book.wrong("decisions", format!("{id} got no reply, and nothing was cut off"));
            }
            return;
        };
        let got = kind(reply);
        if !may_be.contains(&got) && !self.loose {
            book.wrong(
                "decisions",
                format!("{id} on {} was answered {reply}; it may be {may_be:?}", incoming.call),
            );
        }
        if got == Kind::Accepted {
            if !durable {
                book.wrong("decisions", format!("{id} was accepted and is not in the store"));
            }
            if !self.accepted.insert(id.clone()) {
                book.wrong("decisions", format!("{id} was accepted twice"));
            }
        }
    }

    /// A decision counts for the question that was shown when it was given, and for no other.
    fn resumed(&self, call: &str, suspension: &str, decision: &str, book: &mut Findings) {
        if decision.starts_with("expiry:") {
            return;
        }
        let shown = self.given_on.get(decision).is_some_and(|shown| shown.contains(suspension));
        if !shown {
            book.wrong(
                "decisions",
                format!("{call} goes on by {decision}, which was given before {suspension} was shown"),
            );
        }
        if self.looks.of(decision, suspension).is_none() && !self.unseen.contains(decision) {
            book.wrong(
                "decisions",
                format!("{call} goes on by {decision}, whose giver did not find {suspension} in the list"),
            );
        }
    }
}

impl Decisions {
    /// The number of deciding people is the number that the questions require.
    fn went_on(
        &mut self,
        call: &str,
        decision: &str,
        actor: Option<&str>,
        wants_another: bool,
        book: &mut Findings,
    ) {
        if decision.starts_with("expiry:") {
            return;
        }
        let before = self.went_on_by.entry(call.to_owned()).or_default();
        let is_another = actor.is_some_and(|actor| !actor.is_empty() && !before.contains(actor));
        if wants_another && !is_another {
            book.wrong(
                "decisions",
                format!("{call} goes on by {actor:?}, and {before:?} decided on it before"),
            );
        }
        before.extend(actor.map(str::to_owned));
    }
}
