//! The protocol of decisions (design, section 6): a model of it, written from the text.

use std::collections::{BTreeMap, BTreeSet};

use runstate::agent::event::EventKind;
use runstate::agent::{Incoming, Reply};
use runstate::decision::DecisionAction;
use runstate::tool_call::ToolCallStatus;

use super::moment::CallNow;
use super::{Book, Judge, Moment, Step};
use crate::case::Case;
use crate::play::{Ended, What};

/// The kinds of replies, without what `Invalid` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Accepted,
    Duplicate,
    Conflict,
    Stale,
    Expired,
    Unknown,
    Invalid,
    Ambiguous,
    NotDistinct,
    Other,
}

fn kind(reply: &Reply) -> Kind {
    match reply {
        Reply::Accepted => Kind::Accepted,
        Reply::Duplicate => Kind::Duplicate,
        Reply::Conflict(_) => Kind::Conflict,
        Reply::Stale => Kind::Stale,
        Reply::Expired => Kind::Expired,
        Reply::Unknown => Kind::Unknown,
        Reply::Invalid(_) => Kind::Invalid,
        Reply::Ambiguous(_) => Kind::Ambiguous,
        Reply::NotDistinct => Kind::NotDistinct,
        _ => Kind::Other,
    }
}

struct Sent {
    incoming: Incoming,
    may_be: BTreeSet<Kind>,
    /// Was it given while no loop took decisions? Then it is on what waits when one begins to.
    early: bool,
}

#[derive(Default)]
pub(super) struct Decisions {
    sent: BTreeMap<usize, Sent>,
    accepted: BTreeSet<String>,
    /// The calls as of the last commit: what they asked since is not shown.
    shown: BTreeMap<String, CallNow>,
    /// The questions that were shown when a decision was given, by the id of the decision.
    given_on: BTreeMap<String, BTreeSet<String>>,
    /// Who gave each decision, by its id: the call it names, and the actor.
    actors: Actors,
    /// The actors of the decisions by which each call went on, as its events tell them.
    went_on_by: BTreeMap<String, BTreeSet<String>>,
    /// What each name asks: an answer to one question must never count for another.
    questions: BTreeMap<String, String>,
    /// Is nothing committed? Then what is asked is shown at once.
    is_uncommitted: bool,
    /// Does a loop take decisions?
    drives: bool,
    /// A loop was dropped, or a commit failed, while decisions were on their way: the first of them is not known.
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
                if self.is_uncommitted {
                    self.committed(now);
                }
                let said = (incoming.call.clone(), incoming.actor.clone());
                self.actors.entry(incoming.decision_id.clone()).or_insert(said);
                let sent = Sent { incoming: incoming.clone(), may_be: BTreeSet::new(), early: !self.drives };
                self.sent.insert(*number, sent);
                self.show(|sent| sent == *number);
            }
            What::Replied { number, reply, durable } => {
                self.look(now);
                self.replied(*number, reply.as_ref(), *durable, book);
            }
            What::Event(event) => match &event.kind {
                EventKind::ToolCallResumed { call, suspension_id, decision_id, action, actor, .. } => {
                    self.resumed(call, suspension_id, decision_id, book);
                    let wants_another = *action == DecisionAction::Resume
                        && now.asked.get(suspension_id).is_some_and(|asked| asked.distinct_actors);
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
                // Told when what was committed is shown.
                EventKind::Checkpoint { .. } => self.committed(now),
                _ => {}
            },
            What::LoopBegan { .. } => {
                self.drives = true;
                self.committed(now);
            }
            What::CommitEnded { made: false, .. } => self.loose = true,
            What::LoopEnded(ended) => {
                self.drives = false;
                self.loose |= matches!(ended, Ended::Dropped { .. });
            }
            _ => {}
        }
        self.look(now);
    }
}

impl Decisions {
    pub(super) fn of(case: &Case) -> Self {
        Decisions { is_uncommitted: !case.committer, ..Decisions::default() }
    }

    /// What each decision that is on its way would be answered now, and by the questions that are shown.
    fn look(&mut self, now: &Moment) {
        for sent in self.sent.values_mut() {
            sent.may_be.extend(expected(&sent.incoming, &now.calls, now, &self.actors));
            sent.may_be.extend(expected(&sent.incoming, &self.shown, now, &self.actors));
        }
    }

    /// What the calls ask now is committed, and so it is shown.
    fn committed(&mut self, now: &Moment) {
        self.shown.clone_from(&now.calls);
        let early: Vec<usize> =
            self.sent.iter().filter(|(_, sent)| sent.early).map(|(number, _)| *number).collect();
        self.show(|number| early.contains(&number));
    }

    /// The questions of now are shown to those that gave these decisions.
    fn show(&mut self, to: impl Fn(usize) -> bool) {
        let waiting = self.shown.values().filter(|call| call.status == ToolCallStatus::Suspended);
        let waiting: BTreeSet<String> = waiting.filter_map(|call| call.last_asked.clone()).collect();
        for (_, sent) in self.sent.iter().filter(|(number, _)| to(**number)) {
            let shown = self.given_on.entry(sent.incoming.decision_id.clone()).or_default();
            shown.extend(waiting.iter().cloned());
        }
    }

    fn replied(&mut self, number: usize, reply: Option<&Reply>, durable: bool, book: &mut Book) {
        let Some(Sent { incoming, may_be, .. }) = self.sent.remove(&number) else { return };
        let id = &incoming.decision_id;
        let Some(reply) = reply else {
            // A cut drops what is on its way; where none was made, each decision has its reply.
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

    /// A decision counts for a question that was shown when it was given, and for no other.
    fn resumed(&self, call: &str, suspension: &str, decision: &str, book: &mut Book) {
        let shown = self.given_on.get(decision).is_some_and(|shown| shown.contains(suspension));
        if !shown && !decision.starts_with("expiry:") {
            book.wrong(
                "decisions",
                format!("{call} goes on by {decision}, which was given before {suspension} was shown"),
            );
        }
    }
}

impl Decisions {
    /// As many people decide as questions ask for another one each.
    fn went_on(
        &mut self,
        call: &str,
        decision: &str,
        actor: Option<&str>,
        wants_another: bool,
        book: &mut Book,
    ) {
        let said = self.actors.get(decision).and_then(|(_, actor)| actor.as_deref());
        if decision.starts_with("expiry:") {
            return;
        }
        if actor != said {
            book.wrong(
                "decisions",
                format!("{decision} was given by {said:?}, and is told to be by {actor:?}"),
            );
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

/// The actors that decided on a call so far.
fn decided_on(call: &str, now: &Moment, actors: &Actors) -> BTreeSet<String> {
    let known = now.accepted.values().chain(&now.durable);
    let on_call = known.filter_map(|id| actors.get(id)).filter(|(named, _)| named == call);
    on_call.filter_map(|(_, actor)| actor.clone()).collect()
}

/// Who gave each decision: the call that it names, and the actor.
type Actors = BTreeMap<String, (String, Option<String>)>;

/// The replies that the table allows, as things are now.
fn expected(
    incoming: &Incoming,
    calls: &BTreeMap<String, CallNow>,
    now: &Moment,
    actors: &Actors,
) -> BTreeSet<Kind> {
    let only = |kind| BTreeSet::from([kind]);
    if incoming.decision_id.is_empty() {
        return only(Kind::Invalid);
    }
    if incoming.run_id.as_deref().is_some_and(|run| run != crate::play::RUN) {
        return only(Kind::Unknown);
    }
    let knows = now.accepted.values().any(|accepted| *accepted == incoming.decision_id);
    if knows || now.durable.contains(&incoming.decision_id) {
        // What it said is part of what was accepted under its id; the notes have the id alone.
        return BTreeSet::from([Kind::Duplicate, Kind::Invalid]);
    }
    let lives: Vec<(&String, &CallNow)> =
        calls.iter().filter(|(name, _)| id_of(name, calls) == id_of(&incoming.call, calls)).collect();
    let asked: u32 = lives.iter().map(|(_, call)| call.suspensions).sum();
    let waits = |id: &str| {
        let waiting = lives.iter().filter(|(_, call)| call.status == ToolCallStatus::Suspended);
        waiting.filter_map(|(_, call)| call.last_asked.as_deref()).any(|last| last == id)
    };
    let settled = |id: &str| {
        now.accepted.get(id).map(|by| if by.starts_with("expiry:") { Kind::Expired } else { Kind::Conflict })
    };
    let last_asked = || lives.iter().filter_map(|(_, call)| call.last_asked.as_deref());
    let mut replies = BTreeSet::new();
    let question = match &incoming.suspension_id {
        Some(id) => match settled(id) {
            Some(kind) => return only(kind),
            None if waits(id) => id.as_str(),
            None => {
                return only(if was_asked(id, incoming, calls, asked) { Kind::Stale } else { Kind::Unknown });
            }
        },
        None if incoming.digest.is_some() => match last_asked().find(|id| waits(id)) {
            Some(id) => id,
            None => return only(if asked > 0 { Kind::Stale } else { Kind::Unknown }),
        },
        None => {
            // It was bound when it came: by now that question may be answered, and another one wait.
            replies.extend(last_asked().filter_map(settled));
            replies.extend(now.accepted.keys().filter(|id| is_of(id, &lives)).filter_map(|id| settled(id)));
            match (lives.as_slice(), asked) {
                ([], _) => return only(Kind::Unknown),
                ([_], 0) => return only(Kind::Unknown),
                ([_], 1) => match last_asked().find(|id| waits(id)) {
                    Some(id) => id,
                    None => {
                        if replies.is_empty() {
                            replies.insert(Kind::Unknown);
                        }
                        // One that was bound while it waited, and then was given up undecided.
                        replies.insert(Kind::Stale);
                        return replies;
                    }
                },
                _ => {
                    replies.extend([Kind::Ambiguous, Kind::Stale]);
                    return replies;
                }
            }
        }
    };
    if incoming.digest.as_deref() == Some("0") {
        replies.insert(Kind::Stale);
        return replies;
    }
    let Some(asked) = now.asked.get(question) else { return replies };
    if asked.is_expired(now.at_ms) {
        replies.insert(Kind::Expired);
        return replies;
    }
    let earlier = |actor: &String| decided_on(&incoming.call, now, actors).contains(actor);
    let is_approval = incoming.action == DecisionAction::Resume;
    if asked.distinct_actors && is_approval && incoming.actor.as_ref().is_none_or(earlier) {
        replies.insert(Kind::NotDistinct);
        return replies;
    }
    let misfit = asked.response_schema.is_some() && incoming.result.get("ok").is_none();
    replies.insert(match misfit && is_approval {
        true => Kind::Invalid,
        false => Kind::Accepted,
    });
    replies
}

/// The id that the model gave a call, by its name; another name stands for itself.
fn id_of<'a>(name: &'a str, calls: &BTreeMap<String, CallNow>) -> &'a str {
    match name.split_once('#') {
        Some((id, _)) if calls.contains_key(name) => id,
        _ => name,
    }
}

/// Is a suspension one of these calls?
fn is_of(suspension: &str, lives: &[(&String, &CallNow)]) -> bool {
    lives.iter().any(|(name, _)| suspension.contains(&format!("/{name}/")))
}

/// Was there a question under that suspension, which ends in the call and its number?
fn was_asked(id: &str, incoming: &Incoming, calls: &BTreeMap<String, CallNow>, of_call: u32) -> bool {
    let mut segments = id.splitn(3, '/').skip(1);
    let (Some(name), Some(rest)) = (segments.next(), segments.next()) else { return of_call > 0 };
    let digits = rest.split(['/', ':']).next().unwrap_or_default();
    let Ok(number) = digits.parse::<u32>() else { return of_call > 0 };
    let is_meant = name == incoming.call || id_of(name, calls) == incoming.call;
    is_meant && calls.get(name).is_some_and(|call| number <= call.suspensions)
}
