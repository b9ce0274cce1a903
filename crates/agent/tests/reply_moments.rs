//! The table of replies around each commit of a run: before it, once it is durable and the driver does not know, and at rest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use runstate::decision::DecisionAction::Resume;
use runstate::decision::ResumeMode;
use runstate_agent::{DecisionHandle, ExecutionMode, Incoming, Reply, WhenSuspended};
use runstate_store_conformance::replies::{NAMES, Question, Table};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::outside::TypeOnly;
use super::parts::{World, settled};
use super::reply_table::driven;

type Way = (ExecutionMode, bool, WhenSuspended);

/// A decision, the reply by the table, and the reply of the handle.
struct Sent {
    moment: usize,
    incoming: Incoming,
    expected: &'static str,
    reply: JoinHandle<Reply>,
}

/// The door of a run, and the table beside it.
struct Door {
    way: Way,
    handle: DecisionHandle,
    table: Table,
    began: Instant,
    moments: usize,
    /// So many calls are known.
    calls: usize,
    /// The user wrote, and the run took it.
    is_given_up: Arc<AtomicBool>,
    /// At this moment every question that waits is decided, twice.
    decides_at: Option<usize>,
    sent: Vec<Sent>,
}

impl Door {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    fn send(&mut self, incoming: Incoming) {
        let expected = self.table.reply(&incoming, self.now_ms(), &TypeOnly);
        if expected == "accepted" {
            self.table.taken(&incoming);
        }
        let decide = self.handle.decide(incoming.clone());
        let reply = tokio::spawn(async { decide.await.unwrap() });
        self.sent.push(Sent { moment: self.moments, incoming, expected, reply });
    }

    /// Looks at the list, and sends all refused decisions; and each answer twice, where the questions are to be decided now.
    async fn look(&mut self) {
        let listed = self.handle.pending();
        let names = ["a", "b", "l", "t", "a#2"].map(|name| (name, name.trim_end_matches("#2")));
        self.calls = match listed.iter().map(|pending| &*pending.call).max() {
            _ if self.calls == 5 => 5,
            Some("a#2") => 5,
            Some(_) => 4,
            None => self.calls,
        };
        let open = listed.iter().map(|pending| Question::from(&**pending));
        self.table.listed(names.into_iter().take(self.calls), open, self.now_ms());
        if self.is_given_up.load(Ordering::SeqCst) {
            self.table.given_up();
        }
        let is_near = self.decides_at.is_none_or(|at| (at..at + 3).contains(&self.moments));
        let probes = if is_near { self.table.probes(&format!("p{}-", self.moments)) } else { Vec::new() };
        for probe in probes {
            if self.table.reply(&probe, self.now_ms(), &TypeOnly) != "accepted" {
                self.send(probe);
            }
        }
        if self.decides_at == Some(self.moments) {
            let open: Vec<_> = self.table.open().cloned().collect();
            for (number, question) in open.iter().enumerate() {
                let yes = answer(&format!("now{number}"), question).by(format!("now {number}"));
                self.send(yes.clone());
                self.send(yes.clone());
                self.send(Incoming { decision_id: format!("again{number}"), ..yes });
            }
        }
        settled().await;
        self.moments += 1;
    }
}

fn answer(id: &str, question: &Question) -> Incoming {
    let yes = Incoming::new(id, "", Resume).on(&*question.suspension.id).for_question(&*question.digest);
    match question.suspension.resume_mode {
        ResumeMode::UseDecisionAsToolResult => yes.with_result("known"),
        _ => yes,
    }
}

/// Drives a run past all its moments. Gives their number, and how often each reply was met.
async fn visit(way: Way, decides_at: Option<usize>) -> (usize, BTreeMap<&'static str, usize>) {
    let round = [("a", "write_twice"), ("b", "two_people"), ("l", "lapsing"), ("t", "ask_result")];
    let mut world = World::new(&[&round, &[("a", "write_twice")]]);
    (world.mode, world.stream, world.when_suspended) = way;
    let (reach, mut moments) = mpsc::unbounded_channel();
    world.kept.moments = Some(reach);
    let (handle, end, task) = driven(world);
    let mut door = Door {
        way,
        handle,
        table: Table::of("r1"),
        began: Instant::now(),
        moments: 0,
        calls: 0,
        is_given_up: Arc::default(),
        decides_at,
        sent: Vec::new(),
    };
    let mut actors = ["ada", "ben", "cy", "dan", "eve", "flo", "gus", "hal"].into_iter();
    let (mut is_written, mut idle) = (false, 0);
    loop {
        assert!(
            door.began.elapsed() < Duration::from_secs(30),
            "{way:?} {decides_at:?}: {:?}",
            door.table.open().collect::<Vec<_>>()
        );
        tokio::select! {
            biased;
            moment = moments.recv() => {
                door.look().await;
                drop(moment);
            }
            () = sleep(Duration::from_millis(20)) => {
                door.look().await;
                let open: Vec<_> = door.table.open().cloned().collect();
                let [question, ..] = open.as_slice() else {
                    idle += 1;
                    if idle == 100 {
                        break;
                    }
                    continue;
                };
                idle = 0;
                if question.suspension.id == "r1/a#2/2" && !is_written {
                    is_written = true;
                    let (handle, took) = (door.handle.clone(), Arc::clone(&door.is_given_up));
                    tokio::spawn(async move {
                        took.store(handle.write("never mind").await.unwrap(), Ordering::SeqCst);
                    });
                } else if question.call == "l" {
                    sleep_until(door.began + Duration::from_millis(1_000)).await;
                } else {
                    let actor = actors.next().unwrap();
                    door.send(answer(&format!("d-{actor}"), question).by(actor));
                }
            }
        }
    }
    end.send(()).ok();
    let done = timeout(Duration::from_secs(9), task).await.expect("the run ends").unwrap();
    let mut met = BTreeMap::new();
    for Sent { moment, incoming, expected, reply } in door.sent {
        let reply = timeout(Duration::from_secs(9), reply).await;
        let reply = reply
            .unwrap_or_else(|_| {
                panic!("{:?}, moment {moment} of {decides_at:?}: no reply to {incoming:?}", door.way)
            })
            .unwrap();
        assert_eq!(
            reply.name(),
            expected,
            "{:?}, moment {moment} of {decides_at:?}: {incoming:?}: {reply}",
            door.way
        );
        *met.entry(expected).or_default() += 1;
    }
    for call in ["a", "b", "a#2"] {
        let executions = done.iter().filter(|key| key.starts_with(&format!("r1/{call}/"))).count();
        let approved: Vec<_> = door.table.approved_by(call).collect();
        let is_over = executions == 1 && approved.len() == 2 && (call != "b" || approved[0] != approved[1]);
        assert!(
            is_over || executions == 0 && (call == "a#2" || decides_at.is_some()),
            "{:?}: {call} {executions} times behind {approved:?}",
            door.way
        );
    }
    (door.moments, met)
}

async fn each_moment(mode: ExecutionMode) {
    let mut ways = 0;
    for stream in [false, true] {
        for when in [WhenSuspended::Park, WhenSuspended::WaitInPlace] {
            let way = (mode, stream, when);
            let (moments, met) = visit(way, None).await;
            for reply in NAMES {
                assert!(met.contains_key(reply), "{way:?}: no {reply} in {met:?}");
            }
            // Over the four ways of waiting, each moment is visited.
            for moment in (ways..moments).step_by(4) {
                visit(way, Some(moment)).await;
            }
            ways += 1;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn replies_hold_around_each_commit_one_call_at_a_time() {
    each_moment(ExecutionMode::Sequential).await;
}

#[tokio::test(start_paused = true)]
async fn replies_hold_around_each_commit_of_a_parallel_round() {
    each_moment(ExecutionMode::Parallel).await;
}

#[tokio::test(start_paused = true)]
async fn replies_hold_around_each_commit_of_a_concurrent_round() {
    each_moment(ExecutionMode::Concurrent).await;
}
