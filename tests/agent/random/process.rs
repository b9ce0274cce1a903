//! Processes, one after another, until the run is over.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use runstate::agent::{ActivationError, Agent, Entry, Incoming, Outcome, Reply, RunState, StoredRun};
use runstate::run::{AnyRun, RunStatus};
use runstate::trace::{Event, Recorder, Report, check};

use super::super::parts::{assert_ready_for_the_model, book, statuses, written};
use super::super::tools::Rules;
use super::case::Case;
use super::outside::{Answers, Crash, Execution, Outside, People, Store, tools};

/// A run that is over.
pub(super) struct Finished {
    /// The trace of all processes: of one that died, as far as its last commit.
    pub trace: Vec<Event<'static>>,
    pub state: RunState,
    pub stored: String,
    pub reason: String,
    /// What the model would read, by call.
    pub results: Vec<(String, String)>,
    pub ledger: Vec<Execution>,
    /// The decisions and their replies, with how many executions there were by then.
    pub replies: Vec<(Incoming, Reply, usize)>,
    pub given: Vec<Incoming>,
    pub in_doubt: Vec<String>,
    /// The calls that were in doubt, once for each suspension by which they were, with its id.
    pub doubts: Vec<(String, String)>,
    pub crashes: usize,
    pub failed_commits: usize,
    pub cancelled: bool,
}

impl Finished {
    pub(super) fn report(&self) -> Report {
        check(&self.trace, &book())
    }

    /// The call that a decision of that id was given for.
    pub(super) fn given(&self, decision: &str) -> Option<String> {
        let given = self.given.iter().find(|incoming| incoming.decision_id == decision);
        given.map(|incoming| incoming.call.clone())
    }
}

/// The parts that live on while processes come and go, and the one process.
struct Process<'a> {
    case: &'a Case,
    outside: &'a Rc<Outside>,
    people: &'a mut People,
    store: Store,
    waits: &'a mut usize,
}

impl Process<'_> {
    fn drive<T>(&mut self, drive: impl FnOnce(&mut Agent<'_>) -> T) -> T {
        let (outside, at) = (self.outside, self.case.cancelled_at);
        let recorder = self.store.recorder.clone();
        drive(&mut Agent {
            model: &mut Answers::of(self.case, outside),
            tools: &mut tools(outside),
            gate: &Rules,
            decisions: self.people,
            committer: &mut self.store,
            watch: &recorder,
            cancelled: &|| {
                outside.live();
                at.is_some_and(|at| outside.asked.replace(outside.asked.get() + 1) >= at)
            },
            max_steps: Some(self.case.max_steps),
        })
    }

    /// To the end of the run, or of the process.
    fn live(&mut self, state: &mut RunState, fresh: bool) {
        let mut outcome = match state.run().status() {
            RunStatus::Done => return,
            RunStatus::Running if fresh => self.drive(|agent| agent.start(state, "tidy up")),
            RunStatus::Running | RunStatus::Waiting => self.drive(|agent| agent.resume(state)),
        };
        for _ in 0..200 {
            match outcome {
                Ok(ended) => {
                    assert_agrees(&ended, state);
                    if state.run().status() == RunStatus::Done {
                        return;
                    }
                    outcome = self.go_on(state);
                }
                Err(ActivationError::Unfinished(unfinished)) => {
                    outcome = unfinished.retry(&mut self.store, state).map_err(ActivationError::Unfinished);
                }
                Err(ActivationError::NotCommitted(_)) => outcome = self.drive(|agent| agent.cancel(state)),
                Err(error) => panic!("{error}"),
            }
        }
        panic!("the run does not end");
    }

    /// The run waits: the user writes, or decisions come in.
    fn go_on(&mut self, state: &mut RunState) -> Result<Outcome, ActivationError> {
        *self.waits += 1;
        if self.case.messages.contains(&(*self.waits - 1)) {
            return self.drive(|agent| agent.resume_with_message(state, "rather not"));
        }
        self.people.answers_all = self.people.is_exhausted();
        let before = (statuses(state), self.store.recorder.len(), self.outside.seq.get());
        let (replies, asked) = (self.people.replies.len(), self.outside.asked.get());
        let outcome = self.drive(|agent| agent.resume(state));
        let refused = self.people.replies[replies..].iter().all(|(_, reply, _)| *reply != Reply::Accepted);
        if refused && self.outside.asked.get() == asked + 1 && outcome.is_ok() {
            let after = (statuses(state), self.store.recorder.len(), self.outside.seq.get());
            if state.run().status() == RunStatus::Waiting {
                assert_eq!(before, after, "refused decisions changed the run");
            }
        }
        outcome
    }
}

/// What an outcome says is what the run is.
fn assert_agrees(outcome: &Outcome, state: &RunState) {
    let status = state.run().status();
    assert_eq!(outcome.reason.to_run_status(), status, "the run is {status} for {}", outcome.reason);
    let waiting: Vec<_> = state.pending().iter().map(|pending| pending.call.to_owned()).collect();
    assert_eq!(outcome.waiting, waiting);
    match status {
        RunStatus::Waiting => assert_eq!(state.projection(), RunStatus::Waiting),
        RunStatus::Done => assert_ready_for_the_model(state),
        RunStatus::Running => panic!("the activation ended, and the run is Running"),
    }
}

pub(super) fn run(case: &Case) -> Finished {
    let outside = Outside::of(case);
    let mut people = People::of(case, &outside);
    let (mut trace, mut crashes, mut waits) = (Vec::new(), 0, 0);
    let state = loop {
        let recorder = Recorder::builder("r1").first_seq(outside.seq.get()).build();
        let stored = outside.stored.borrow().clone();
        let mut state = match stored.as_str() {
            "" => RunState::watched("r1", &recorder),
            stored => StoredRun::from_json(stored.as_bytes()).unwrap().restore().unwrap(),
        };
        state.watch(&recorder);
        let store = Store { outside: Rc::clone(&outside), recorder: recorder.clone() };
        let mut process = Process { case, outside: &outside, people: &mut people, store, waits: &mut waits };
        let died = catch_unwind(AssertUnwindSafe(|| process.live(&mut state, stored.is_empty())));
        let durable = recorder.take().into_iter().filter(|event| event.seq < outside.seq.get());
        trace.extend(durable);
        match died {
            Ok(()) => break state,
            Err(panic) if panic.is::<Crash>() => {
                crashes += 1;
                outside.restart();
                people.restart();
            }
            Err(panic) => resume_unwind(panic),
        }
    };
    let reason = match state.run() {
        AnyRun::Done(run) => run.reason().to_string(),
        AnyRun::Running(_) | AnyRun::Waiting(_) => panic!("the run is not over"),
    };
    let results = results(&state);
    Finished {
        trace,
        reason,
        results,
        stored: outside.stored.take(),
        ledger: outside.ledger.take(),
        replies: people.replies,
        given: people.given,
        in_doubt: people.in_doubt.into_iter().collect(),
        doubts: people.doubts.into_iter().collect(),
        crashes,
        failed_commits: outside.failed_commits.get(),
        cancelled: case.cancelled_at.is_some_and(|at| outside.asked.get() > at),
        state,
    }
}

/// How each call stands, and what the model reads of it.
fn results(state: &RunState) -> Vec<(String, String)> {
    let results = state.history().filter(|it| matches!(it, Entry::Output { .. } | Entry::Error { .. }));
    let results = results.map(|entry| written(&entry));
    state
        .calls()
        .zip(results)
        .map(|((name, call), result)| (name.to_owned(), format!("{name} {} {result}", call.status())))
        .collect()
}
