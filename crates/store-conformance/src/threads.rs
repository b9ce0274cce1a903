//! Threads of runs, and messages for waiting runs.

use runstate::run::RunStatus;
use runstate_agent::Input;
use runstate_store::{ApprovalFilter, NewRun, Posted, RunStore, StoreError, Superseded, UserMessage};
use serde_json::json;
use tokio::task::JoinSet;

use super::Bench;
use super::crowds::all;
use super::played::Played;
use super::puts::{
    ALL, LONG, Must, approvals, claim, claim_any, commit, create, load, mail, put_done, put_waiting, refused,
    release, restored, yes,
};
use super::world::{NOW, agent, one};

/// Creates a run on a thread.
async fn follow(
    store: &dyn RunStore,
    run: &str,
    thread: &str,
    after: Option<&str>,
) -> Result<(), StoreError> {
    store.create(&NewRun::new(run, json!(null), NOW).following(thread, after.map(str::to_owned))).await
}

async fn last(store: &dyn RunStore, thread: &str) -> Option<String> {
    store.last_of_thread(thread).await.must(format_args!("the last run of the thread {thread:?}"))
}

async fn supersede(store: &dyn RunStore, run: &str, id: &str) -> Superseded {
    let message = UserMessage::new(id, format!("the text of {id}"), NOW);
    store.supersede(run, &message).await.must(format_args!("supersede {run:?} by {id:?}"))
}

pub(super) async fn a_run_begins_with_the_messages_of_its_thread(bench: &dyn Bench) {
    let store = bench.store().await;
    let script = [super::world::questions(2), one("a", "note", json!({ "run": 1, "thread": "kept" }))];
    let mut first = Played::new("r1", &script).await;
    let lease = super::puts::put(&*store, &first).await;
    // Results are stored in the order of their arrival, which differs from that of their calls.
    for call in ["c1", "c0"] {
        let decision = yes(&*store, "r1", call, &format!("d-{call}")).await;
        for new in first.resume(&[decision]).await {
            commit(&*store, &lease, &first.commit(new + 1)).await;
        }
    }
    let first_run = first.state().history().to_vec();
    release(&*store, &lease).await;
    follow(&*store, "r2", "r1", Some("r1")).await.must("create r2 after r1");
    let loaded = load(&*store, "r2").await;
    assert_eq!(loaded.thread.must("its place on a thread").after.as_deref(), Some("r1"), "the run before r2");
    assert_eq!((loaded.stored, loaded.messages), (None, 0), "r2 before its first commit");
    assert_eq!(loaded.before.as_ref().map(|run| run.id()), Some(Some("r1")), "the run before r2");

    let mut before = restored(loaded.before.as_ref());
    for run in ["r2", "r3"] {
        let thread = before.restore().unwrap_or_else(|error| panic!("restore the run before {run}: {error}"));
        let thread = thread.into_thread().unwrap_or_else(|_| panic!("the run before {run} is not over"));
        let values = serde_json::to_value(&before).unwrap_or_default()["values"]["thread"].clone();
        let expected = if run == "r2" { json!("kept") } else { json!("r2") };
        assert_eq!(values["shared"], expected, "the value of the thread before {run}");
        let base = thread.history().len();
        assert_eq!(
            thread.history()[..first_run.len()],
            first_run,
            "the messages of r1, as its model read them"
        );
        let script = agent(&[one("b", "note", json!({ "thread": run }))]);
        let played = Played::behind(run, thread, script).await;
        if run == "r3" {
            follow(&*store, "r3", "r1", Some("r2")).await.must("create r3 after r2");
        }
        let lease = claim(&*store, run).await;
        for (one, expected) in played.commits().zip(played.stored()) {
            commit(&*store, &lease, one).await;
            let loaded = load(&*store, run).await;
            assert_eq!(loaded.stored, Some(expected), "{run} after commit {}", one.version);
            let own = restored(loaded.stored.as_ref());
            let messages =
                own.restore().unwrap_or_else(|error| panic!("restore {run}: {error}")).history().len();
            assert!(messages > base, "{run} has the messages of its thread and its own");
        }
        let own: usize = played.commits().map(|commit| commit.messages.len()).sum();
        assert_eq!(load(&*store, run).await.messages, own as u64, "messages that are stored with {run}");
        release(&*store, &lease).await;
        before = restored(load(&*store, run).await.stored.as_ref());
    }
}

pub(super) async fn a_thread_goes_on_from_its_last_run(bench: &dyn Bench) {
    let store = bench.store().await;
    assert_eq!(last(&*store, "t").await, None, "the last run of a new thread");
    refused!("after no run", follow(&*store, "r1", "t", Some("r0")).await, StoreError::NoRun { run } if run == "r0");
    follow(&*store, "r1", "t", None).await.must("create the first run");
    assert_eq!(last(&*store, "t").await.as_deref(), Some("r1"), "the last run");
    let busy = |got: Result<(), StoreError>, run: &str, status: RunStatus, what: &str| match got {
        Err(StoreError::Busy { thread, run: got, status: is })
            if thread == "t" && got == run && is == status => {}
        other => panic!("{what}: expected that the thread is busy with {run}, got {other:?}"),
    };
    busy(
        follow(&*store, "r2", "t", Some("r1")).await,
        "r1",
        RunStatus::Running,
        "after a run that has not begun",
    );
    let lease = claim(&*store, "r1").await;
    for one in Played::new("r1", &[]).await.commits() {
        commit(&*store, &lease, one).await;
    }
    release(&*store, &lease).await;
    busy(follow(&*store, "r2", "t", None).await, "r1", RunStatus::Done, "a second first run");
    follow(&*store, "r2", "t", Some("r1")).await.must("create r2 after r1");
    busy(follow(&*store, "r3", "t", Some("r1")).await, "r2", RunStatus::Running, "a second run after r1");
    assert_eq!(last(&*store, "t").await.as_deref(), Some("r2"), "the last run of two");
    refused!("r2 again", follow(&*store, "r2", "t", Some("r1")).await, StoreError::Taken { .. });
    let created = store.create(&NewRun::new("t", json!(null), NOW)).await;
    refused!("a run with the id of a thread", created, StoreError::Taken { run } if run == "t");

    // A run without a position is the first of its own thread.
    put_done(&*store, "r5").await;
    assert_eq!(last(&*store, "r5").await.as_deref(), Some("r5"), "the last run of a thread of its own");
    follow(&*store, "r6", "r5", Some("r5")).await.must("create r6 after r5");
    assert_eq!(last(&*store, "r5").await.as_deref(), Some("r6"), "the last run after r5");
    assert_eq!(last(&*store, "r6").await, None, "the thread r6, which has no run");
}

pub(super) async fn the_id_of_a_first_message_is_given_once(bench: &dyn Bench) {
    let store = bench.store().await;
    let new = |run: &str, message: &str| {
        let mut new = NewRun::new(run, json!(null), NOW).following(run, None);
        new.begins_with = Some(message.to_owned());
        new
    };
    store.create(&new("r1", "m1")).await.must("create r1 with m1");
    assert!(store.is_given("m1").await.must("is m1 given"), "the id of the message");
    refused!("r2 with m1", store.create(&new("r2", "m1")).await, StoreError::Taken { run } if run == "m1");
    refused!("r2 with r1", store.create(&new("r2", "r1")).await, StoreError::Taken { run } if run == "r1");
    assert!(!store.is_given("r2").await.must("is r2 given"), "a run that was refused is not there");
    store.create(&new("r2", "r2")).await.must("create r2 with a message of its own id");
    put_waiting(&*store, "r3", 1).await;
    assert_eq!(
        supersede(&*store, "r3", "m1").await,
        Superseded::Duplicate,
        "the same message for a run that waits"
    );
}

pub(super) async fn a_thread_is_removed_from_its_end(bench: &dyn Bench) {
    let store = bench.store().await;
    put_done(&*store, "r1").await;
    follow(&*store, "r2", "r1", Some("r1")).await.must("create r2");
    match store.remove("r1").await {
        Err(StoreError::Continued { run, by }) => {
            assert_eq!((&*run, &*by), ("r1", "r2"), "the runs that continue")
        }
        other => panic!("remove r1: expected Continued, got {other:?}"),
    }
    assert!(store.remove("r2").await.must("remove r2"), "r2 was there");
    assert_eq!(last(&*store, "r1").await.as_deref(), Some("r1"), "the last run without r2");
    refused!("r2 again", follow(&*store, "r2", "r1", Some("r1")).await, StoreError::Taken { .. });
    follow(&*store, "r3", "r1", Some("r1")).await.must("create r3 after r1");
    assert!(store.remove("r3").await.must("remove r3"), "r3 was there");
    assert!(store.remove("r1").await.must("remove r1"), "r1 was there");
    assert_eq!(last(&*store, "r1").await, None, "the last run of a thread without runs");
}

pub(super) async fn a_message_takes_the_place_of_decisions(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_waiting(&*store, "r1", 2).await;
    let decision = yes(&*store, "r1", "c0", "d0").await;
    assert_eq!(supersede(&*store, "r1", "m1").await, Superseded::Accepted, "a message for a run that waits");
    assert_eq!(approvals(&*store, ApprovalFilter::All).await, [], "its questions");
    assert_eq!(store.post(&decision).await.must("post d0"), Posted::NotWaiting, "a decision after a message");
    assert_eq!(supersede(&*store, "r1", "m1").await, Superseded::Duplicate, "the same message");
    assert_eq!(supersede(&*store, "r1", "m2").await, Superseded::Busy, "another message");
    assert!(store.is_given("m1").await.must("is m1 given"), "the id of the message is given");
    refused!("a run m1", store.create(&NewRun::new("m1", json!(null), NOW)).await, StoreError::Taken { .. });
    let message = mail(&*store, "r1").await.message.must("the message in the pending signals");
    assert_eq!((&*message.id, &*message.text, message.at_ms), ("m1", "the text of m1", NOW), "the message");

    let lease = claim(&*store, "r1").await;
    let made = played.send(Input::message(message.text)).await;
    let mut without = played.commit(made.start + 1);
    refused!(
        "a commit without the message",
        store.commit(&lease, &without).await,
        StoreError::Superseded { message, .. } if message == "m1"
    );
    without.takes = Some("m0".to_owned());
    refused!("one with another message", store.commit(&lease, &without).await, StoreError::Superseded { .. });
    for new in made.clone() {
        assert!(mail(&*store, "r1").await.message.is_some() || new > made.start, "before the next commit");
        let mut next = played.commit(new + 1);
        next.takes = Some("m1".to_owned()).filter(|_| new == made.start);
        commit(&*store, &lease, &next).await;
        assert_eq!(mail(&*store, "r1").await.message, None, "the message after commit {}", new + 1);
    }
    let loaded = load(&*store, "r1").await;
    assert_eq!(loaded.stored, played.stored().last(), "the run after the message");
    assert_eq!(loaded.info.waiting, 0, "calls that wait");
    assert_eq!(supersede(&*store, "r1", "m1").await, Superseded::Duplicate, "the same message, later");
}

pub(super) async fn questions_superseded_by_a_message_do_not_expire(bench: &dyn Bench) {
    let store = bench.store().await;
    let script = [super::world::turn([("c0".to_owned(), "ask", json!({ "expires": NOW + 10 }))])];
    super::puts::put(&*store, &Played::new("r1", &script).await).await;
    bench.clock().set(LONG);
    assert_eq!(store.due(ALL).await.must("due").len(), 1, "questions that expire before the message");
    assert_eq!(supersede(&*store, "r1", "m1").await, Superseded::Accepted, "a message");
    assert_eq!(store.due(ALL).await.must("due"), [], "questions that expire after the message");
}

pub(super) async fn a_run_with_a_message_is_claimed(bench: &dyn Bench) {
    let store = bench.store().await;
    let mut played = put_waiting(&*store, "r1", 1).await;
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "a run that waits");
    assert_eq!(supersede(&*store, "r1", "m1").await, Superseded::Accepted, "a message");
    let lease = claim_any(bench, &*store, NOW).await.must("the run with a message");
    let message = mail(&*store, "r1").await.message.must("the message in the pending signals");
    let made = played.send(Input::message(message.text)).await;
    for new in made.clone() {
        let mut next = played.commit(new + 1);
        next.takes = Some("m1".to_owned()).filter(|_| new == made.start);
        commit(&*store, &lease, &next).await;
    }
    release(&*store, &lease).await;
    assert_eq!(claim_any(bench, &*store, NOW).await, None, "a run that is over");
}

pub(super) async fn a_commit_given_again_keeps_the_message(bench: &dyn Bench) {
    let store = bench.store().await;
    let played = Played::new("r1", &[super::world::questions(1)]).await;
    let lease = super::puts::put(&*store, &played).await;
    let decision = yes(&*store, "r1", "c0", "d0").await;
    assert_eq!(supersede(&*store, "r1", "m1").await, Superseded::Accepted, "a message");
    let mut again = played.last();
    again.again = true;
    commit(&*store, &lease, &again).await;
    assert!(mail(&*store, "r1").await.message.is_some(), "the commit was made before the message came");
    assert_eq!(approvals(&*store, ApprovalFilter::All).await, [], "its questions");
    assert_eq!(store.post(&decision).await.must("post"), Posted::NotWaiting, "a decision after the message");
}

pub(super) async fn a_message_is_for_a_run_that_waits(bench: &dyn Bench) {
    let store = bench.store().await;
    let of_none = store.supersede("r0", &UserMessage::new("m0", "hello", NOW)).await;
    refused!("a run that is not there", of_none, StoreError::NoRun { run } if run == "r0");
    create(&*store, "r1").await;
    assert_eq!(supersede(&*store, "r1", "m1").await, Superseded::Busy, "a run that has not begun");
    put_done(&*store, "r2").await;
    assert_eq!(supersede(&*store, "r2", "m2").await, Superseded::Over, "a run that is over");
    put_waiting(&*store, "r3", 2).await;
    assert_eq!(supersede(&*store, "r3", "r3").await, Superseded::Duplicate, "the id of the run itself");
    assert_eq!(supersede(&*store, "r3", "r1").await, Superseded::Duplicate, "the id of another run");
    let decision = yes(&*store, "r3", "c0", "d0").await;
    assert_eq!(store.post(&decision).await.must("post d0"), Posted::Accepted, "a decision");
    assert_eq!(
        supersede(&*store, "r3", "m3").await,
        Superseded::Busy,
        "a run with a decision that is not taken"
    );
    put_waiting(&*store, "r4", 1).await;
    assert!(store.cancel("r4", "enough").await.must("cancel r4"), "a wish to cancel");
    assert_eq!(supersede(&*store, "r4", "m4").await, Superseded::Busy, "a run that is to be cancelled");
    for id in ["m0", "m1", "m2", "m3", "m4"] {
        assert!(!store.is_given(id).await.must("is it given"), "{id} was refused, and may be sent again");
    }
}

pub(super) async fn concurrent_successors_of_a_run_create_one(bench: &dyn Bench) {
    let store = bench.store().await;
    put_done(&*store, "r1").await;
    let mut tasks = JoinSet::new();
    for number in 0..12 {
        let store = bench.store().await;
        tasks.spawn(async move {
            match follow(&*store, &format!("n{number}"), "r1", Some("r1")).await {
                Ok(()) => Some(format!("n{number}")),
                Err(StoreError::Busy { .. }) => None,
                Err(error) => panic!("expected that the thread is busy, got {error:?}"),
            }
        });
    }
    let followed: Vec<_> = all(tasks).await.into_iter().flatten().collect();
    assert_eq!(followed.len(), 1, "12 at once come after one run: {followed:?}");
    assert_eq!(last(&*store, "r1").await.as_ref(), followed.first(), "the last run");
}
