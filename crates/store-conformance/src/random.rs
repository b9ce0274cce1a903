//! Random decisions about a run with repeated questions and several approvers. The replies are compared with a
//! reference table that shares no code with the stores.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate_agent::{ExecutionMode, Incoming};
use runstate_store::{ApprovalFilter, Lease, RunStore, StoreError, decide};
use serde_json::json;

use super::Bench;
use super::decides::Texts;
use super::played::Played;
use super::puts::{LONG, Must, approvals, commit, create, mail, of, refused, release};
use super::world::{NOW, one, turn};
use crate::replies::{NAMES, Question, Table};

/// The calls by name and by the model's id, with the number of approvers that each needs: `pay` by its gate, `ask` by
/// its question.
const CALLS: [(&str, &str, usize); 5] =
    [("a", "a", 2), ("b", "b", 1), ("c", "c", 1), ("d", "d", 1), ("a#2", "a", 2)];

/// A deterministic generator of random numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap_or(0)
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// A run whose driver may die at any commit, and the approvers of its calls.
struct Play<'a> {
    bench: &'a dyn Bench,
    store: &'a dyn RunStore,
    seed: u64,
    run: String,
    draw: Draw,
    played: Played,
    lease: Lease,
    /// The time of the next claim. The current lease has expired then.
    claimed_at: u64,
    table: Table,
    now_ms: u64,
    sent: usize,
    met: BTreeMap<&'static str, usize>,
}

impl Play<'_> {
    async fn list(&mut self) {
        let calls: BTreeSet<String> = self.played.state().calls().map(|(name, _)| name.to_owned()).collect();
        let calls = CALLS.iter().filter(|(name, ..)| calls.contains(*name)).map(|(name, id, _)| (*name, *id));
        let open = approvals(self.store, ApprovalFilter::Run(self.run.clone())).await;
        self.table.listed(calls, open.iter().map(Question::from), self.now_ms);
    }

    /// Returns a random decision. Most of them are refused.
    fn any(&mut self) -> Incoming {
        let mut probes = self.table.probes(&format!("{}-", self.sent));
        let actors = ["ann", "Ann", "ben", "eve", "zoe"];
        for question in self.table.open().filter(|question| question.call != "c") {
            let id = format!("{}+{}", self.sent, question.call);
            let on = &*question.suspension.id;
            probes.extend(
                actors.map(|actor| Incoming::new(&*id, "", Resume).on(on).by(actor).with_result("yes")),
            );
        }
        let mut any = self.draw.one(&probes);
        // Cancellations are rare; otherwise no call would be left to approve.
        if any.action == Cancel && self.draw.below(4) > 0 {
            any.action = Resume;
        }
        let names_run =
            any.suspension_id.as_ref().is_some_and(|id| id.starts_with(&format!("{}/", self.run)));
        if any.run_id.is_none() && !(names_run && self.draw.below(2) == 0) {
            any.run_id = Some(self.run.clone());
        }
        any
    }

    fn is(&mut self, incoming: &Incoming, told: &'static str, may: &[&'static str]) {
        assert!(
            may.contains(&told),
            "seed {}, decision {}: {incoming:?}: {told}, not {may:?}",
            self.seed,
            self.sent
        );
        *self.met.entry(told).or_default() += 1;
    }

    /// Sends one decision, or several concurrently.
    async fn decide(&mut self) {
        self.list().await;
        let mut together = vec![self.any()];
        if self.draw.below(4) == 0 {
            // Several approvers answer one question, one of them twice.
            let other = Incoming { decision_id: format!("{}!", self.sent), ..together[0].clone() };
            together.push(other.clone().by("hal"));
            together.push(together[0].clone());
            together.push(other.by("ivy"));
            together[3].decision_id.push('!');
        }
        let before = self.table.clone();
        let all = together.iter().map(|incoming| decide(self.store, incoming, self.now_ms, &Texts));
        let told: Vec<_> = join_all(all).await.into_iter().map(|told| told.must("decide").name()).collect();
        for (incoming, _) in together.iter().zip(&told).filter(|(_, told)| **told == "accepted") {
            self.is(incoming, before.reply(incoming, self.now_ms, &Texts), &["accepted"]);
            // Panics if another decision on the question was accepted.
            self.table.accepted(incoming);
        }
        let after = self.table.clone();
        for (incoming, told) in together.iter().zip(told).filter(|(_, told)| *told != "accepted") {
            let by_table = |table: &Table| table.reply(incoming, self.now_ms, &Texts);
            let may = if together.len() == 1 {
                vec![by_table(&before)]
            } else {
                vec![by_table(&before), by_table(&after)]
            };
            self.is(incoming, told, &may);
        }
        self.sent += 1;
    }

    async fn claim(&mut self) {
        let claim = of(self.bench, &*self.run, "the suite", self.claimed_at, self.claimed_at + LONG);
        self.lease = self.store.claim(&claim).await.must("claim").must("claim");
        self.bench.clock().set(self.now_ms);
        self.claimed_at += LONG;
    }

    /// Makes these commits. Sometimes the driver dies before or after a commit, and another one claims the run after
    /// the lease and makes the rest.
    async fn commits(&mut self, new: std::ops::Range<usize>) {
        for number in new {
            let one = self.played.commit(number + 1);
            let dies = self.draw.below(6);
            if dies == 0 {
                let dead = self.lease.clone();
                self.claim().await;
                refused!(
                    "a commit of a dead driver",
                    self.store.commit(&dead, &one).await,
                    StoreError::Fenced { .. }
                );
            }
            if self.draw.below(4) == 0 {
                self.decide().await;
            }
            commit(self.store, &self.lease, &one).await;
            if dies == 1 {
                self.claim().await;
            }
        }
    }
}

pub(super) async fn random_decisions_follow_the_table(bench: &dyn Bench) {
    let store = bench.store().await;
    let (mut met, mut executed) = (BTreeMap::<&str, usize>::new(), 0);
    for seed in 1..=6_u64 {
        let run = format!("r{seed}");
        let mode = [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent]
            [seed as usize % 3];
        let round = [
            ("a", "pay", json!({ "of": 1 })),
            ("b", "ask", json!({ "distinct": true })),
            ("c", "ask", json!({ "expires": NOW + 2 })),
            ("d", "ask", json!({ "schema": { "type": "string" } })),
        ];
        let round = round.map(|(id, tool, arguments)| (id.to_owned(), tool, arguments));
        let script = [turn(round), one("a", "pay", json!({ "of": 2 }))];
        let played = Played::by(mode, seed % 2 == 0, &run, &script).await;
        create(&*store, &run).await;
        let lease = store.claim(&of(bench, &*run, "the suite", NOW, LONG)).await.must("claim").must("claim");
        let mut play = Play {
            bench,
            store: &*store,
            seed,
            draw: Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            played,
            lease,
            claimed_at: NOW + LONG,
            table: Table::of(&*run),
            run,
            now_ms: NOW,
            sent: 0,
            met: BTreeMap::new(),
        };
        let first = 0..play.played.commits().len();
        play.commits(first).await;
        for round in 0..12 {
            play.now_ms = NOW + round;
            bench.clock().set(play.now_ms);
            for _ in 0..12 {
                play.decide().await;
            }
            let taken = mail(&*store, &play.run).await.decisions;
            if !taken.is_empty() {
                let new = play.played.resume(&taken).await;
                play.commits(new).await;
            }
        }
        release(&*store, &play.lease).await;
        for (call, _, people) in CALLS {
            let approved: BTreeSet<_> =
                play.table.approved_by(call).map(|actor| actor.map(str::to_lowercase)).collect();
            let is_executed = play.played.executed(call);
            executed += usize::from(is_executed && people > 1);
            assert!(
                !is_executed || approved.len() >= people,
                "seed {seed}: {call} was executed after {approved:?}"
            );
        }
        for (reply, times) in play.met {
            *met.entry(reply).or_default() += times;
        }
    }
    assert!(executed > 1, "calls that two people approved were executed: {executed}");
    for reply in NAMES {
        assert!(met.contains_key(reply), "no {reply} in {met:?}");
    }
}
