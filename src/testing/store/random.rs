//! Random decisions on a run whose calls ask several times and several people, held against a rule that shares no code with the
//! stores and their board.

use std::collections::BTreeMap;

use serde_json::json;

use super::Bench;
use super::played::Played;
use super::puts::{Must, approvals, claim, commit, create, mail, release};
use super::world::{NOW, turn};
use crate::agent::{Incoming, Unchecked};
use crate::decision::DecisionAction::{self, Cancel, Resume};
use crate::store::{About, decide};

/// The calls, and how many people must approve each: `pay` by its gate, `ask` by its question.
const CALLS: [(&str, &str, usize); 4] = [("a", "pay", 2), ("b", "ask", 1), ("c", "pay", 2), ("d", "ask", 1)];

/// A generator of numbers that are the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap_or(0)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A question that was listed.
#[derive(Clone)]
struct Shown {
    call: String,
    suspension: String,
    digest: String,
    distinct: bool,
}

/// A decision that was accepted, and its content.
struct Given {
    shown: Shown,
    action: DecisionAction,
    actor: Option<String>,
}

/// The knowledge of a person: the questions that were listed, and the decisions that were accepted.
#[derive(Default)]
struct Known {
    shown: Vec<Shown>,
    open: Vec<Shown>,
    /// Decisions that were accepted, as they were sent.
    said: Vec<Incoming>,
    /// The same, by their ids.
    given: BTreeMap<String, Given>,
}

impl Known {
    /// The reply, by the rows of the table in their order.
    fn reply(&self, incoming: &Incoming) -> &'static str {
        let (call, on, digest) = (&incoming.call, &incoming.suspension_id, &incoming.digest);
        if let Some(known) = self.given.get(&incoming.decision_id) {
            let is_same = known.action == incoming.action
                && known.actor == incoming.actor
                && known.shown.call == *call
                && on.as_ref().is_none_or(|on| *on == known.shown.suspension)
                && digest.as_ref().is_none_or(|digest| *digest == known.shown.digest);
            return if is_same { "duplicate" } else { "invalid" };
        }
        // A suspension that is decided is, whichever call the decision names.
        let is_on = |given: &Given| Some(&given.shown.suspension) == on.as_ref();
        if self.given.values().any(is_on) {
            return "conflict";
        }
        let of_call = || self.shown.iter().filter(|shown| shown.call == *call);
        let is_open = |shown: &&Shown| self.open.iter().any(|open| open.suspension == shown.suspension);
        let named = match (on, digest) {
            (Some(on), _) => of_call().find(|shown| shown.suspension == *on),
            (None, Some(digest)) => of_call().find(|shown| shown.digest == *digest),
            (None, None) if of_call().count() > 1 => return "ambiguous",
            (None, None) => of_call().next(),
        };
        let Some(named) = named else {
            let is_of_a_question = on.is_none() && digest.is_some() && of_call().next().is_some();
            return if is_of_a_question { "stale" } else { "unknown" };
        };
        if !is_open(&named) {
            return "conflict";
        }
        if digest.as_ref().is_some_and(|digest| *digest != named.digest) {
            return "stale";
        }
        if named.distinct && incoming.action == Resume {
            let is_one = |known: &Given| {
                let names = (known.actor.as_ref(), incoming.actor.as_ref());
                known.shown.call == *call
                    && matches!(names, (Some(one), Some(other)) if one.eq_ignore_ascii_case(other))
            };
            if incoming.actor.is_none() || self.given.values().any(is_one) {
                return "not_distinct";
            }
        }
        "accepted"
    }

    fn draw(&self, run: &str, draw: &mut Draw) -> Incoming {
        if !self.said.is_empty() && draw.below(10) == 0 {
            return self.said[draw.below(self.said.len())].clone();
        }
        let call = draw.one(&["a", "b", "c", "d", "z"]);
        let id = format!("d{}", draw.below(40));
        let action = if draw.below(12) == 0 { Cancel } else { Resume };
        let mut incoming = Incoming::new(id, call, action);
        incoming.run_id = Some(run.to_owned());
        incoming.actor =
            draw.one(&[None, Some("ann"), Some("Ann"), Some("ben"), Some("eve")]).map(str::to_owned);
        let seen =
            |draw: &mut Draw| (!self.shown.is_empty()).then(|| &self.shown[draw.below(self.shown.len())]);
        match draw.below(6) {
            0 => {}
            1 => incoming.digest = Some("sha256:0".to_owned()),
            2 => incoming.suspension_id = Some(format!("{run}/{call}/9")),
            3 => incoming.digest = seen(draw).map(|shown| shown.digest.clone()),
            4 => incoming.suspension_id = seen(draw).map(|shown| shown.suspension.clone()),
            _ => {
                incoming.suspension_id = seen(draw).map(|shown| shown.suspension.clone());
                incoming.digest = seen(draw).map(|shown| shown.digest.clone());
            }
        }
        // Most decisions are on the call that their question is of.
        let named =
            self.shown.iter().find(|shown| Some(&shown.suspension) == incoming.suspension_id.as_ref());
        if let Some(named) = named.filter(|_| draw.below(4) > 0) {
            incoming.call.clone_from(&named.call);
        }
        incoming
    }
}

pub(super) async fn random_decisions_follow_the_table(bench: &dyn Bench) {
    for seed in 1..=3_u64 {
        let store = bench.store().await;
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let run = format!("r{seed}");
        let script = [turn(CALLS.map(|(id, tool, _)| (id.to_owned(), tool, json!({ "of": id }))))];
        let mut played = Played::new(&run, &script).await;
        create(&*store, &run).await;
        let mut known = Known::default();
        let lease = claim(&*store, &run).await;
        for one in played.commits() {
            commit(&*store, &lease, one).await;
        }
        let mut met = BTreeMap::<&str, usize>::new();
        for round in 0..12 {
            let listed = approvals(&*store, About::Run(run.clone())).await;
            known.open = listed
                .into_iter()
                .map(|open| Shown {
                    call: open.call,
                    suspension: open.suspension.id,
                    digest: open.digest,
                    distinct: open.suspension.distinct_actors,
                })
                .collect();
            let fresh = known
                .open
                .iter()
                .filter(|open| !known.shown.iter().any(|shown| shown.suspension == open.suspension));
            let fresh: Vec<_> = fresh.cloned().collect();
            known.shown.extend(fresh);
            for _ in 0..25 {
                let incoming = known.draw(&run, &mut draw);
                let expected = known.reply(&incoming);
                let told = decide(&*store, &incoming, NOW, &Unchecked).await;
                let told = told.must(format_args!("seed {seed}, round {round}: {incoming:?}"));
                assert_eq!(told.name(), expected, "seed {seed}, round {round}: {incoming:?}: {told}");
                *met.entry(expected).or_default() += 1;
                if expected == "accepted" {
                    let is_it = |shown: &&Shown| {
                        shown.call == incoming.call
                            && incoming.suspension_id.as_ref().is_none_or(|on| *on == shown.suspension)
                            && incoming.digest.as_ref().is_none_or(|digest| *digest == shown.digest)
                    };
                    let shown = known.open.iter().find(is_it).cloned().must("the question");
                    known.said.push(incoming.clone());
                    known.open.retain(|open| open.suspension != shown.suspension);
                    let given = Given { shown, action: incoming.action, actor: incoming.actor };
                    known.given.insert(incoming.decision_id, given);
                }
            }
            let taken = mail(&*store, &run).await.decisions;
            if taken.is_empty() {
                continue;
            }
            for new in played.resume(&taken).await {
                commit(&*store, &lease, &played.commit(new + 1)).await;
            }
        }
        release(&*store, &lease).await;
        for (call, tool, people) in CALLS {
            let given = || known.given.values().filter(|given| given.shown.call == call);
            let is_over = played.executed(call);
            let mut actors: Vec<_> =
                given().filter_map(|given| Some(given.actor.as_ref()?.to_lowercase())).collect();
            actors.sort();
            actors.dedup();
            let approved = given().filter(|given| given.action == Resume).count();
            let enough = if tool == "pay" { actors.len() >= people } else { true };
            assert!(
                !is_over || approved >= people && enough,
                "seed {seed}: {call} executed behind {actors:?}"
            );
        }
        for reply in
            ["accepted", "duplicate", "invalid", "conflict", "stale", "unknown", "ambiguous", "not_distinct"]
        {
            assert!(met.contains_key(reply), "seed {seed}: no {reply} in {met:?}");
        }
    }
}
