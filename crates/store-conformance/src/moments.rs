//! The table of replies around each commit: before, during and after it.

use std::collections::BTreeSet;

use futures_util::future::{join, join_all};
use runstate::decision::DecisionAction::Resume;
use runstate_agent::ExecutionMode;
use runstate_agent::Incoming;
use runstate_runtime::clock::SetClock;
use runstate_store::{ApprovalFilter, Commit, Lease, MemoryStore, RunData, RunStore, decide};
use serde_json::json;

use super::Bench;
use super::decides::Texts;
use super::played::Played;
use super::puts::{Must, approvals, claim, commit, create, mail, release};
use super::world::{NOW, one, turn};
use crate::replies::{NAMES, Question, Table};

/// A run of a store, with a reference table of replies.
struct Doors<'a> {
    store: &'a dyn RunStore,
    run: &'a str,
    /// A store that receives each commit first, so that its questions are known.
    twin: MemoryStore,
    twin_lease: Lease,
    table: Table,
    clock: &'a SetClock,
    now_ms: u64,
    /// Numbers the moments at which decisions are sent.
    moment: usize,
    /// The rotation of probes: one out of `one_of` is sent at each moment.
    one_of: usize,
    met: BTreeSet<&'static str>,
    way: String,
}

async fn questions(store: &dyn RunStore, run: &str) -> Vec<Question> {
    let open = approvals(store, ApprovalFilter::Run(run.to_owned())).await;
    open.iter().map(Question::from).collect()
}

impl Doors<'_> {
    /// Returns the calls of the run, by name and by id.
    async fn calls(&mut self) -> Vec<(&'static str, &'static str)> {
        let rows = self.twin.load(self.run).await.must("load the twin").stored;
        let Some(stored) = rows else { return Vec::new() };
        let state = stored.restore().unwrap_or_else(|error| panic!("restore the twin: {error}"));
        let all = [("a", "a"), ("b", "b"), ("l", "l"), ("t", "t"), ("a#2", "a")];
        all.into_iter().filter(|(name, _)| state.calls().any(|(call, _)| call == *name)).collect()
    }

    async fn list(&mut self) {
        let calls = self.calls().await;
        self.table.listed(calls, questions(self.store, self.run).await, self.now_ms);
    }

    /// Returns the probes of the table that are due in the rotation, as a caller of the store sends them.
    fn probes(&self, table: &Table) -> Vec<Incoming> {
        let probes = table.probes(&format!("p{}-", self.moment)).into_iter().enumerate();
        let due = probes.filter(|(number, _)| (number + self.moment).is_multiple_of(self.one_of));
        due.map(|(number, mut probe)| {
            // A suspension of this run includes the run.
            let names_run =
                probe.suspension_id.as_ref().is_some_and(|id| id.starts_with(&format!("{}/", self.run)));
            if probe.run_id.is_none() && !(names_run && number % 2 == 0) {
                probe.run_id = Some(self.run.to_owned());
            }
            probe
        })
        .collect()
    }

    async fn decide(&mut self, incoming: &Incoming) -> &'static str {
        let told = decide(self.store, incoming, self.now_ms, &Texts).await;
        told.must(format_args!("{}: {incoming:?}", self.way)).name()
    }

    async fn expect(&mut self, incoming: &Incoming) {
        let expected = self.table.reply(incoming, self.now_ms, &Texts);
        let told = self.decide(incoming).await;
        assert_eq!(told, expected, "{}, moment {}: {incoming:?}", self.way, self.moment);
        self.met.insert(told);
        if told == "accepted" {
            self.table.accepted(incoming);
        }
    }

    /// Sends the decisions that the table refuses.
    async fn look(&mut self) {
        self.list().await;
        for probe in self.probes(&self.table) {
            if self.table.reply(&probe, self.now_ms, &Texts) != "accepted" {
                self.expect(&probe).await;
                if self.now_ms > NOW {
                    // A late decision gives its call up.
                    self.list().await;
                }
            }
        }
        self.moment += 1;
    }

    /// Commits, and sends decisions concurrently. The reply to each is that of before or of after the commit.
    async fn commit(&mut self, lease: &Lease, new: &Commit) {
        self.look().await;
        let before = self.table.clone();
        commit(&self.twin, &self.twin_lease, new).await;
        let calls = self.calls().await;
        let open = questions(&self.twin, self.run).await;
        self.table.listed(calls, open, self.now_ms);
        let mut sent = self.probes(&self.table);
        sent.retain(|probe| self.table.reply(probe, self.now_ms, &Texts) != "accepted");
        // A question that this commit creates is answered twice during the commit.
        let asked_now: Vec<Question> = self
            .table
            .open()
            .filter(|question| !before.open().any(|open| open == *question))
            .cloned()
            .collect();
        if let Some(question) = asked_now.iter().find(|asked| asked.call != "l")
            && self.moment.is_multiple_of(3)
        {
            let yes = answer(&format!("early{}", self.moment), question);
            sent.push(Incoming { decision_id: format!("{}'", yes.decision_id), ..yes.clone() });
            sent.push(yes);
        }
        let all = sent.iter().map(|incoming| decide(self.store, incoming, self.now_ms, &Texts));
        let ((), told) = join(commit(self.store, lease, new), join_all(all)).await;
        let told: Vec<_> = sent.iter().zip(told).map(|(one, told)| (one, told.must("decide"))).collect();
        let after = self.table.clone();
        for (incoming, _) in told.iter().filter(|(_, told)| told.name() == "accepted") {
            // Panics if another decision on the question was accepted.
            self.table.accepted(incoming);
        }
        for (incoming, told) in told.iter().filter(|(_, told)| told.name() != "accepted") {
            let may = [&before, &after, &self.table].map(|table| table.reply(incoming, self.now_ms, &Texts));
            let told = told.name();
            assert!(
                may.contains(&told),
                "{}, commit {}: {incoming:?}: {told} and none of {may:?}",
                self.way,
                new.version
            );
        }
        self.moment += 1;
    }
}

fn answer(id: &str, question: &Question) -> Incoming {
    let yes = Incoming::new(id, "", Resume).on(&*question.suspension.id).for_question(&*question.digest);
    yes.by(format!("actor of {id}")).with_result("yes")
}

async fn around_each_commit(
    clock: &SetClock,
    store: &dyn RunStore,
    run: &str,
    (mode, in_pieces, in_hand): (ExecutionMode, bool, bool),
    one_of: usize,
) -> BTreeSet<&'static str> {
    let asks = [
        ("a", "pay", json!({ "of": 1 })),
        ("b", "ask", json!({ "distinct": true })),
        ("l", "ask", json!({ "expires": NOW + 10 })),
        ("t", "ask", json!({ "schema": { "type": "string" } })),
    ];
    let round = asks.map(|(id, tool, arguments)| (id.to_owned(), tool, arguments));
    let mut played =
        Played::by(mode, in_pieces, run, &[turn(round), one("a", "pay", json!({ "of": 2 }))]).await;
    clock.set(NOW);
    create(store, run).await;
    let twin = MemoryStore::with_clock(clock.clone());
    create(&twin, run).await;
    let mut doors = Doors {
        store,
        run,
        twin_lease: claim(&twin, run).await,
        twin,
        table: Table::of(run),
        clock,
        now_ms: NOW,
        moment: 0,
        one_of,
        met: BTreeSet::new(),
        way: format!("{mode:?}, in pieces: {in_pieces}, in hand: {in_hand}"),
    };
    let mut lease = claim(store, run).await;
    let mut new = 0..played.commits().len();
    let mut decisions = 0;
    loop {
        for number in new {
            doors.commit(&lease, &played.commit(number + 1)).await;
        }
        doors.look().await;
        if !in_hand {
            release(store, &lease).await;
        }
        // An approver answers waiting calls twice: one question, or two. The last question of the first round
        // expires.
        let open: Vec<_> = doors.table.open().cloned().collect();
        let is_all = open.iter().all(|open| open.call == "l");
        let most = 1 + decisions % 2;
        for question in open.iter().filter(|open| open.call != "l").take(most) {
            decisions += 1;
            let yes = answer(&format!("d{decisions}"), question);
            doors.expect(&yes).await;
            doors.expect(&yes).await;
            doors.expect(&Incoming { decision_id: format!("again{decisions}"), ..yes }).await;
        }
        if is_all && doors.table.open().next().is_some() {
            doors.now_ms = NOW + 10;
            doors.clock.set(doors.now_ms);
            doors
                .expect(&Incoming { run_id: Some(run.to_owned()), ..Incoming::new("late", "l", Resume) })
                .await;
        }
        doors.look().await;
        if !in_hand {
            lease = claim(store, run).await;
        }
        let taken = mail(store, run).await.decisions;
        if taken.is_empty() {
            break;
        }
        new = played.resume(&taken).await;
        assert!(!new.is_empty(), "{}: nothing came of {taken:?}", doors.way);
    }
    doors.look().await;
    release(store, &lease).await;
    for call in ["a", "a#2", "b", "t"] {
        let approved: BTreeSet<_> = doors.table.approved_by(call).collect();
        let least = if call.starts_with('a') { 2 } else { 1 };
        assert!(played.executed(call) && approved.len() == least, "{}: {call} after {approved:?}", doors.way);
    }
    assert!(!played.executed("l"), "{}: the expired call", doors.way);
    doors.met
}

pub(super) async fn each_row_of_the_table_is_the_reply_around_each_commit(bench: &dyn Bench) {
    use ExecutionMode::{Concurrent, Parallel, Sequential};
    let mut met = BTreeSet::new();
    let store = bench.store().await;
    let ways = [
        (Sequential, false, true),
        (Sequential, true, false),
        (Parallel, false, false),
        (Parallel, true, true),
        (Concurrent, false, true),
        (Concurrent, true, false),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        met.extend(around_each_commit(bench.clock(), &*store, &format!("r{number}"), way, 4).await);
    }
    for reply in NAMES {
        assert!(met.contains(reply), "no {reply} in {met:?}");
    }
}
