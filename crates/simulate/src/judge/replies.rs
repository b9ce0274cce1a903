//! The table of replies; an independent implementation.

use std::collections::{BTreeMap, BTreeSet};

use runstate::decision::DecisionAction;
use runstate::tool_call::ToolCallStatus;
use runstate_agent::{Incoming, Reply};

use super::ObservedRun;
use super::given::Given;
use super::moment::CallNow;

/// The kinds of replies, without the text of `Invalid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
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

pub(super) fn kind(reply: &Reply) -> Kind {
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

/// The replies that the table permits now.
pub(super) fn expected(
    incoming: &Incoming,
    calls: &BTreeMap<String, CallNow>,
    now: &ObservedRun,
    given: &Given,
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
        return given
            .repeats(incoming)
            .map(|repeats| if repeats { Kind::Duplicate } else { Kind::Invalid })
            .into_iter()
            .collect();
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
            // It was bound on arrival: by now that question may be answered, and another one may wait.
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
                        // It was bound to a waiting question, which was then given up undecided.
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
    let earlier = |actor: &String| given.actors_on(&incoming.call, now).contains(actor);
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
