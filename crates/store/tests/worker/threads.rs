//! Threads that go on from run to run, and messages for runs that wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate_agent::{Incoming, Message, Reply, Unchecked, async_trait};
use runstate_store::{
    Claim, Commit, Lease, LeaseAfter, MemoryStore, NewRun, Parts, PendingSignals, RunData, RunStore, Sent,
    StoreError, Superseded, UserMessage, Wrapper, decide, send,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::world::{Sleeper, World, call};

/// Sends a message to the thread `t`, whose runs have that script.
async fn send_to(world: &World, id: &str, steps: serde_json::Value, supersede: bool) -> Sent {
    let message = UserMessage::new(id, format!("text of {id}"), 0);
    let begin = |_: Option<Parts>, message: &UserMessage| {
        let spec = json!({ "steps": steps, "message": message.text });
        Ok::<_, StoreError>(NewRun::new(&*message.id, spec, message.at_ms))
    };
    send(&*world.store, "t", &message, supersede, begin).await.unwrap()
}

/// What users and models said, in the run's history.
async fn said(world: &World, run: &str) -> Vec<String> {
    let state = world.loaded(run).await.stored.unwrap().restore().unwrap();
    let said = state.history().iter().filter_map(|message| match message {
        Message::User(text) => Some(format!("user: {text}")),
        Message::Assistant(turn) if turn.calls.is_empty() => Some(format!("model: {}", turn.text)),
        Message::Assistant(turn) => Some(format!("model calls {}", turn.calls[0].id)),
        Message::Result(result) => Some(format!("result of {}: {:?}", result.id, result.content)),
        Message::Open(_) => None,
    });
    said.collect()
}

#[tokio::test(start_paused = true)]
async fn a_thread_goes_on_with_each_message() {
    let world = World::new();
    for id in ["m1", "m2", "m3"] {
        assert_eq!(send_to(&world, id, json!([]), false).await, Sent::Began { run: id.to_owned() });
        world.worker("w").run_ready(&*world.host).await.unwrap();
        assert_eq!(world.status(id).await, "Done natural_end");
        world.is_sound(id).await;
    }
    let turn = |id: &str| [format!("user: text of {id}"), "model: done".to_owned()];
    assert_eq!(said(&world, "m3").await, ["m1", "m2", "m3"].map(turn).concat());
    assert_eq!(said(&world, "m1").await, turn("m1"), "an earlier run has its own messages alone");
    assert_eq!(world.loaded("m3").await.messages, 2, "the messages before it are stored once");
}

#[tokio::test(start_paused = true)]
async fn a_busy_thread_refuses_a_message() {
    let world = World::new();
    send_to(&world, "m1", json!([]), false).await;
    let busy = |status| Sent::Busy { run: "m1".to_owned(), status };
    assert_eq!(send_to(&world, "m2", json!([]), true).await, busy(RunStatus::Running));

    // The same where it waits and nobody asks to supersede.
    let world = World::new();
    send_to(&world, "m1", json!([[call("a", "once", json!({ "ask": true }))]]), false).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(send_to(&world, "m2", json!([]), false).await, busy(RunStatus::Waiting));
    assert_eq!(world.status("m1").await, "Waiting suspended");
}

#[tokio::test(start_paused = true)]
async fn a_message_supersedes_what_a_run_waits_for() {
    let world = World::new();
    let steps = json!([[call("a", "once", json!({ "ask": true }))]]);
    send_to(&world, "m1", steps, false).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("m1").await, "Waiting suspended");

    let superseded = Sent::Superseded { run: "m1".to_owned() };
    assert_eq!(send_to(&world, "m2", json!([]), true).await, superseded);
    assert_eq!(send_to(&world, "m2", json!([]), true).await, Sent::Duplicate, "the same message again");
    let mut late = Incoming::new("d1", "a", Resume);
    late.run_id = Some("m1".to_owned());
    let reply = decide(&*world.store, &late, 0, &Unchecked).await.unwrap();
    assert_eq!(reply, Reply::Stale, "a decision after the message");

    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("m1").await, "Done natural_end");
    assert_eq!(world.ledger().count("a began"), 0, "the call was never executed");
    let said = said(&world, "m1").await;
    assert_eq!(said[..2], ["user: text of m1", "model calls a"], "{said:?}");
    assert!(said[2].contains("superseded"), "{said:?}");
    assert_eq!(said[3..], ["user: text of m2", "model: done"], "{said:?}");
    world.is_sound("m1").await;
    assert_eq!(send_to(&world, "m2", json!([]), true).await, Sent::Duplicate, "the same message, much later");
}

/// A store that is given a message for the run `m1` between its commit of the waiting run and the answer to it.
#[derive(Debug)]
struct Sends(MemoryStore);

#[async_trait]
impl Wrapper for Sends {
    fn inner(&self) -> &dyn RunStore {
        &self.0
    }

    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        after.commit(&self.0, lease, commit).await?;
        if commit.run.status == RunStatus::Waiting {
            let superseded = self.0.supersede("m1", &UserMessage::new("m2", "text of m2", 0)).await?;
            assert_eq!(superseded, Superseded::Accepted);
        }
        Ok(())
    }
}

/// The commit gives the run back, and the worker claims it again for the message.
#[tokio::test(start_paused = true)]
async fn message_during_the_last_commit_is_taken() {
    let machine = Sleeper::new();
    let world = World::by(machine.clone(), Arc::new(Sends(MemoryStore::with_clock(machine))));
    send_to(&world, "m1", json!([[call("a", "once", json!({ "ask": true }))]]), false).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("m1").await, "Done natural_end");
    let claimed = world.store.claim(&Claim::of("m1", "me", Duration::from_secs(1))).await.unwrap().unwrap();
    assert_eq!(claimed.fence, 3, "the worker claimed it twice");
}

/// A store that hears of no message at the first look at the mail, and then of one.
#[derive(Debug)]
struct Late(MemoryStore, Arc<AtomicBool>);

#[async_trait]
impl Wrapper for Late {
    fn inner(&self) -> &dyn RunStore {
        &self.0
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        let mail = self.0.pending_signals(run).await?;
        if self.1.swap(false, Ordering::Relaxed) {
            self.0.supersede(run, &UserMessage::new("m2", "text of m2", 0)).await?;
        }
        Ok(mail)
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_between_two_looks_is_taken() {
    let machine = Sleeper::new();
    let armed = Arc::new(AtomicBool::new(false));
    let world =
        World::by(machine.clone(), Arc::new(Late(MemoryStore::with_clock(machine), Arc::clone(&armed))));
    send_to(&world, "m1", json!([[call("a", "once", json!({ "ask": true }))]]), false).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    armed.store(true, Ordering::Relaxed);
    world.worker("w").run_one(&*world.host, "m1", CancellationToken::new()).await.unwrap();
    assert_eq!(world.status("m1").await, "Done natural_end");
}

#[tokio::test(start_paused = true)]
async fn a_thread_goes_on_behind_a_cancelled_run() {
    let world = World::new();
    send_to(&world, "m1", json!([]), false).await;
    world.store.cancel("m1", "not now").await.unwrap();
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.loaded("m1").await.info.status, RunStatus::Done);
    assert_eq!(send_to(&world, "m2", json!([]), false).await, Sent::Began { run: "m2".to_owned() });
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("m2").await, "Done natural_end");
    assert!(said(&world, "m2").await.ends_with(&["user: text of m2".to_owned(), "model: done".to_owned()]));
}

/// The thread keeps an accepted message, also where its run is cancelled first.
#[tokio::test(start_paused = true)]
async fn a_cancelled_run_keeps_the_message_in_its_thread() {
    let world = World::new();
    send_to(&world, "m1", json!([[call("a", "once", json!({ "ask": true }))]]), false).await;
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(send_to(&world, "m2", json!([]), true).await, Sent::Superseded { run: "m1".to_owned() });
    world.store.cancel("m1", "enough").await.unwrap();
    world.worker("w").run_ready(&*world.host).await.unwrap();
    assert_eq!(world.status("m1").await, "Done cancelled");
    assert_eq!(said(&world, "m1").await.last().unwrap(), "user: text of m2");
    world.is_sound("m1").await;
    assert_eq!(send_to(&world, "m3", json!([]), false).await, Sent::Began { run: "m3".to_owned() });
    world.worker("w").run_ready(&*world.host).await.unwrap();
    let texts = ["user: text of m2", "user: text of m3", "model: done"];
    assert!(said(&world, "m3").await.ends_with(&texts.map(str::to_owned)));
}
