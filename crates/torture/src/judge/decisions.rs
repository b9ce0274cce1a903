//! Every accepted decision exists once, and no unacknowledged decision exists.

use std::collections::HashSet;

use runstate::decision::Decision;

use super::Violation;
use super::book::LedgerIndex;
use super::run::Seen;
use crate::ledger::{Sent, digest_of_decision};

/// Checks the replies to decisions.
pub(super) fn replies(book: &LedgerIndex<'_>, wrong: &mut Vec<Violation>) {
    for (suspension, sent) in book.accepted() {
        if sent.len() > 1 {
            let ids: Vec<&str> = sent.iter().map(|sent| &*sent.decision).collect();
            let what = format!("on {suspension} all of these were accepted: {}", ids.join(", "));
            wrong.push(Violation::new("decisions", &*sent[0].run, what));
        }
    }
    let mut accepted: HashSet<&str> = HashSet::new();
    for (sent, reply) in &book.replies {
        let is_for_another = sent.decision.starts_with("other-") || sent.decision.starts_with("stale-");
        let is_right = match *reply {
            "accepted" => accepted.insert(&sent.decision) && !is_for_another,
            "duplicate" => !is_for_another,
            "conflict" | "stale" | "expired" => true,
            "not_distinct" => sent.wants_another && (sent.actor.is_none() || has_decided(book, sent)),
            _ => false,
        };
        // A known answer is a duplicate when it comes again.
        if !is_right || (*reply != "duplicate" && *reply != "accepted" && accepted.contains(&*sent.decision))
        {
            let what = format!("{} on {} got the reply {reply}", sent.decision, sent.suspension);
            wrong.push(Violation::new("decisions", &*sent.run, what));
        }
    }
}

/// Did the actor of a decision decide on its call, by another decision?
fn has_decided(book: &LedgerIndex<'_>, sent: &Sent) -> bool {
    book.accepted_of(&sent.run).any(|it| it.call == sent.call && it.actor == sent.actor)
}

/// Of the decisions on a call that require distinct people, no two have one actor, and each has an actor.
fn people(seen: &Seen, book: &LedgerIndex<'_>, say: &mut impl FnMut(String)) {
    let all: Vec<&Sent> = book.accepted_of(&seen.id).filter(|sent| sent.wants_another).collect();
    for sent in &all {
        // Another kind of question may be answered by any person.
        let others = all.iter().filter(|it| it.call == sent.call && it.suspension != sent.suspension);
        let is_another = sent.actor.is_some() && others.clone().all(|it| it.actor != sent.actor);
        if !is_another {
            say(format!(
                "{} by {:?} was accepted on {}, and so were {:?}",
                sent.decision,
                sent.actor,
                sent.call,
                others.map(|it| &it.actor).collect::<Vec<_>>()
            ));
        }
    }
}

pub(super) fn judge(seen: &Seen, book: &LedgerIndex<'_>, wrong: &mut Vec<Violation>) {
    let mut say = |what: String| wrong.push(Violation::new("decisions", &*seen.id, what));
    people(seen, book, &mut say);
    let was_cancelled = book.was_cancelled(&seen.id);
    for sent in book.accepted_of(&seen.id) {
        let found = |decisions: &[Decision]| {
            let same = decisions.iter().filter(|it| it.decision_id == sent.decision);
            let same = same.filter(|it| it.suspension_id == sent.suspension && it.action == sent.action);
            let said =
                |it: &&Decision| digest_of_decision(&it.result, it.actor.as_deref(), it.digest.as_deref());
            same.filter(|it| said(it) == sent.said).count()
        };
        let (taken, untaken) = (found(&seen.taken), found(&seen.untaken));
        if taken + untaken != 1 {
            say(format!(
                "{} on {} was accepted, and is there {} times as it was given",
                sent.decision,
                sent.suspension,
                taken + untaken
            ));
        } else if untaken == 1 && seen.is_over() && !was_cancelled {
            say(format!("{} was accepted, and the run ended without it", sent.decision));
        }
    }
    let mut on: HashSet<&str> = HashSet::new();
    for decision in seen.taken.iter().chain(&seen.untaken) {
        if !on.insert(&decision.suspension_id) {
            say(format!("two decisions on {} are there", decision.suspension_id));
        }
        let is_lapse = decision.decision_id.starts_with("expiry:");
        let mut accepted = book.accepted_of(&seen.id);
        if !is_lapse && !accepted.any(|sent| sent.decision == decision.decision_id) {
            say(format!("{} is stored, and no reply accepted it", decision.decision_id));
        }
    }
}
