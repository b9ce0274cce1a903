//! The replies at the handle before, during and after each commit, held against what the commits so far have stored.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use runstate::checkpoint::Due;
use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate_agent::{
    CommitError, DecisionHandle, Delta, ExecutionMode, Incoming, Input, MemoryCommitter, RunHandles,
    StateCommitter, StoredRun, WhenSuspended, async_trait, run_loop, run_loop_stream,
};
use tokio::sync::Mutex;
use tokio::time::sleep;

use super::parts::World;

/// How long a commit takes, on a virtual clock.
const COMMIT: Duration = Duration::from_millis(10);

/// Commits slowly, and counts commits that were begun and that were made.
struct Slow {
    memory: Arc<Mutex<MemoryCommitter>>,
    begun: Arc<AtomicUsize>,
    made: Arc<AtomicUsize>,
}

#[async_trait]
impl StateCommitter for Slow {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        sleep(COMMIT).await;
        self.memory.lock().await.commit(due, delta).await?;
        self.made.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// The reply to a decision with the digest of another question, by what is stored: a rule of its own, beside the driver's board.
fn expected(stored: Option<&StoredRun>, suspension: &str) -> &'static str {
    let Some(stored) = stored else { return "unknown" };
    if stored.decisions().contains_key(suspension) {
        "conflict"
    } else if stored.suspended().values().any(|asked| asked.id == suspension) {
        "stale"
    } else {
        "unknown"
    }
}

/// Answers each question some time after it is shown, each with an actor of its own.
async fn people(mut handle: DecisionHandle) {
    let mut number = 0;
    loop {
        let Some(open) = handle.pending().first().cloned() else {
            if handle.pending_changed().await.is_err() {
                return;
            }
            continue;
        };
        number += 1;
        sleep(COMMIT * 6).await;
        let incoming = Incoming::new(format!("d{number}"), &*open.call, Resume)
            .on(&*open.suspension.id)
            .for_question(&*open.digest)
            .by(format!("person {number}"));
        if handle.decide(incoming).await.is_err() {
            return;
        }
    }
}

async fn at_each_commit(mode: ExecutionMode, stream: bool, when: WhenSuspended) {
    let way = format!("{mode:?}, stream: {stream}, {when:?}");
    let mut world = World::new(&[&[("a", "write_twice"), ("b", "two_people")], &[("c", "write")]]);
    (world.mode, world.stream, world.when_suspended) = (mode, stream, when);
    let memory = Arc::new(Mutex::new(MemoryCommitter::default()));
    let (begun, made) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut slow = Slow { memory: Arc::clone(&memory), begun: Arc::clone(&begun), made: Arc::clone(&made) };
    let (handle, agent) = (world.handle.clone(), world.agent());
    let people = tokio::spawn(people(handle.clone()));
    let driver = tokio::spawn(async move {
        let mut state = world.state();
        let mut input = Input::message("go");
        while state.run().status() != RunStatus::Done {
            let io = RunHandles::new().committer(&mut slow).inbox(&mut world.inbox);
            if stream {
                let mut events = run_loop_stream(&agent, &mut state, input, io);
                while events.next().await.is_some() {}
                events.into_outcome().unwrap().unwrap();
            } else {
                run_loop(&agent, &mut state, input, io).await.unwrap();
            }
            sleep(Duration::from_millis(3)).await;
            input = Input::Resume;
        }
        (world.inbox, world.ledger)
    });

    let asked = ["r1/a/1", "r1/a/2", "r1/b/1", "r1/b/2", "r1/c/1", "r1/a/3"];
    let (mut during, mut after, mut seen) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    while !driver.is_finished() {
        sleep(Duration::from_millis(1)).await;
        let done = made.load(Ordering::SeqCst);
        let is_committing = begun.load(Ordering::SeqCst) > done;
        if is_committing {
            during.insert(done + 1)
        } else {
            after.insert(done)
        };
        let stored = memory.lock().await.stored_after(done).ok();
        for suspension in asked {
            let call = suspension.split('/').nth(1).unwrap();
            let probe = Incoming::new("probe", call, Resume).on(suspension).for_question("sha256:0");
            let Some(reply) = handle.decide(probe).now_or_never() else {
                // No loop has begun: there is no list that it could be held against.
                assert_eq!(done, 0, "{way}: {suspension} has no reply behind commit {done}");
                continue;
            };
            let (reply, expected) = (reply.unwrap().name(), expected(stored.as_ref(), suspension));
            assert_eq!(
                reply, expected,
                "{way}: {suspension}, commit {done} made, committing: {is_committing}"
            );
            seen.insert(reply);
        }
    }
    people.abort();
    let (_inbox, ledger) = driver.await.unwrap();
    let commits = made.load(Ordering::SeqCst);
    assert_eq!(during.len(), commits, "{way}: during each commit, {during:?}");
    assert!(after.len() >= 4, "{way}: {after:?}");
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["conflict", "stale", "unknown"], "{way}");
    assert_eq!(ledger.lock().unwrap().len(), 3, "{way}: each call was executed once");
}

#[tokio::test(start_paused = true)]
async fn replies_follow_the_commits_before_during_and_after_each() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
        for stream in [false, true] {
            for when in [WhenSuspended::Park, WhenSuspended::WaitInPlace] {
                at_each_commit(mode, stream, when).await;
            }
        }
    }
}
