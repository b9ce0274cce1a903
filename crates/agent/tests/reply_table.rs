//! The table of replies, row by row, at the handle of a run: in both loops, all modes, parked and waiting in place.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use runstate::decision::DecisionAction::{self, Cancel, Resume};
use runstate::run::RunStatus;
use runstate_agent::{
    DecisionHandle, ExecutionMode, Incoming, Input, PendingCall, Reply, RunHandles, WhenSuspended, run_loop,
    run_loop_stream,
};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::parts::World;

/// A run that is driven by a task of its own, until it is over. While it is parked it is looked at each millisecond.
pub fn driven(mut world: World) -> (DecisionHandle, oneshot::Sender<()>, JoinHandle<Vec<String>>) {
    let (handle, agent) = (world.handle.clone(), world.agent());
    let (end, ended) = oneshot::channel();
    let task = tokio::spawn(async move {
        let mut state = world.state();
        let mut input = Input::message("go");
        while state.run().status() != RunStatus::Done {
            let io = RunHandles::new().committer(&mut world.kept).inbox(&mut world.inbox);
            if world.stream {
                let mut stream = run_loop_stream(&agent, &mut state, input, io);
                while stream.next().await.is_some() {}
                stream.into_outcome().unwrap().unwrap();
            } else {
                run_loop(&agent, &mut state, input, io).await.unwrap();
            }
            sleep(Duration::from_millis(1)).await;
            input = Input::Resume;
        }
        // Its inbox lives on.
        ended.await.ok();
        world.done()
    });
    (handle, end, task)
}

/// What the call waits on, once it waits on a question of that number.
async fn shown(handle: &mut DecisionHandle, call: &str, question: u32) -> Arc<PendingCall> {
    let id = format!("r1/{call}/{question}");
    loop {
        if let Some(pending) = handle.pending().iter().find(|pending| pending.suspension.id == id) {
            return Arc::clone(pending);
        }
        handle.pending_changed().await.unwrap();
    }
}

fn on(id: &str, call: &str, action: DecisionAction) -> Incoming {
    Incoming::new(id, call, action)
}

#[tokio::test(start_paused = true)]
async fn each_row_of_the_table_is_the_reply_in_every_way() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
        for (stream, when) in [
            (false, WhenSuspended::Park),
            (false, WhenSuspended::WaitInPlace),
            (true, WhenSuspended::Park),
            (true, WhenSuspended::WaitInPlace),
        ] {
            each_row(mode, stream, when).await;
        }
    }
}

async fn each_row(mode: ExecutionMode, stream: bool, when: WhenSuspended) {
    let way = format!("{mode:?}, stream: {stream}, {when:?}");
    let mut world =
        World::new(&[&[("a", "write_twice"), ("b", "two_people"), ("l", "lapsing"), ("t", "ask_result")]]);
    (world.mode, world.stream, world.when_suspended) = (mode, stream, when);
    let (handle, end, task) = driven(world);
    let reply = async |incoming: Incoming| handle.clone().decide(incoming).await.unwrap();
    let rows = async |rows: Vec<(Incoming, &str)>| {
        for (incoming, name) in rows {
            let said = format!("{incoming:?}");
            let reply = reply(incoming).await;
            assert_eq!(reply.name(), name, "{way}: {said}: {reply}");
        }
    };

    // Before any question there is.
    rows(vec![(on("d0", "a", Resume), "unknown"), (on("d0", "a", Resume).on("r1/a/1"), "unknown")]).await;

    let first = shown(&mut handle.clone(), "a", 1).await;
    rows(vec![
        (on("", "a", Resume), "invalid"),
        (on("d\n1", "a", Resume), "invalid"),
        (on("d1", "", Resume), "invalid"),
        (on("d1", "a", Resume).on(""), "invalid"),
        (on("d1", "a", Resume).for_question(""), "invalid"),
        (on("d1", "z", Resume), "unknown"),
        (on("d1", "z", Resume).on("r1/z/1"), "unknown"),
        (Incoming { run_id: Some("r2".to_owned()), ..on("d1", "a", Resume) }, "unknown"),
        (on("d1", "a", Resume).on("r1/a/2"), "unknown"),
        (on("d1", "a", Resume).on("r1/b/1"), "unknown"),
        (on("d1", "a", Resume).on("another"), "stale"),
        (on("d1", "", Resume).on("r1/a/2"), "unknown"),
        (on("d1", "a", Resume).for_question("sha256:0"), "stale"),
        (on("d1", "a", Resume).on("r1/a/1").for_question("sha256:0"), "stale"),
        (on("d1", "a", Resume).for_question(&first.digest), "accepted"),
        (on("d1", "a", Resume).for_question(&first.digest), "duplicate"),
        (on("d1", "a", Cancel).for_question(&first.digest), "invalid"),
        (on("d1", "b", Resume), "invalid"),
        (on("d2", "a", Resume).on("r1/a/1"), "conflict"),
        (on("d2", "a", Cancel).for_question(&first.digest), "conflict"),
    ])
    .await;

    // The call asks again: an answer to the first question is none to this one.
    let second = shown(&mut handle.clone(), "a", 2).await;
    assert_ne!(first.digest, second.digest);
    assert_eq!(
        reply(on("d2", "a", Resume)).await,
        Reply::Ambiguous(vec!["r1/a/2".to_owned()]),
        "{way}: by its name alone"
    );
    rows(vec![
        (on("d2", "a", Resume).on("r1/a/1"), "conflict"),
        (on("d2", "a", Resume).for_question(&first.digest), "conflict"),
        (on("d2", "a", Resume).on("r1/a/2"), "accepted"),
        (on("d2", "a", Resume).on("r1/a/2"), "duplicate"),
        (on("d3", "a", Resume).on("r1/a/2"), "conflict"),
        (on("d3", "a", Resume), "ambiguous"),
    ])
    .await;

    // By its name alone, while it is the only question; and one person is not two.
    shown(&mut handle.clone(), "b", 1).await;
    rows(vec![
        (on("d4", "b", Resume), "not_distinct"),
        (on("d4", "b", Resume).by(""), "invalid"),
        (on("d4", "b", Resume).by("runstate"), "invalid"),
        (on("expiry:r1/b/1", "b", Resume).by("ada"), "invalid"),
        (on("d4", "b", Resume).by("ada"), "accepted"),
        (on("d5", "b", Resume).by("ada").on("r1/b/1"), "conflict"),
    ])
    .await;
    shown(&mut handle.clone(), "b", 2).await;
    rows(vec![
        (on("d5", "b", Resume).by("ada").on("r1/b/2"), "not_distinct"),
        (on("d5", "b", Resume).by("Ada").on("r1/b/2"), "not_distinct"),
        (on("d5", "b", Resume).on("r1/b/2"), "not_distinct"),
        (on("d5", "b", Resume).by("ben").on("r1/b/2"), "accepted"),
    ])
    .await;

    // Its time is over at 1,000 ms: then, and when the runtime has given it up.
    let mut looking = handle.clone();
    let is_lapsing = |pending: &Arc<PendingCall>| *pending.call == *"l";
    while !looking.pending().iter().any(is_lapsing) {
        looking.pending_changed().await.unwrap();
    }
    sleep(Duration::from_millis(1_000)).await;
    rows(vec![(on("d6", "l", Resume).on("r1/l/1:soon"), "expired"), (on("d6", "l", Cancel), "expired")])
        .await;

    // A result that the question wants is taken as it is; behind the end of the run the table holds as well.
    while !looking.pending().iter().any(|pending| *pending.call == *"t") {
        looking.pending_changed().await.unwrap();
    }
    let asked = looking.pending()[0].suspension.id.clone();
    let result = on("d7", "t", Resume).on(&asked).with_result("known");
    rows(vec![(result.clone(), "accepted")]).await;
    sleep(Duration::from_millis(50)).await;
    rows(vec![
        (result.clone(), "duplicate"),
        (result.clone().with_result("other"), "invalid"),
        (on("d8", "t", Resume).on(&asked), "conflict"),
        (on("d8", "l", Resume), "expired"),
        (on("d8", "a", Resume), "ambiguous"),
        (on("d8", "a", Resume).on("r1/a/7"), "unknown"),
        (on("d8", "z", Resume), "unknown"),
        (on("", "a", Resume), "invalid"),
    ])
    .await;
    end.send(()).unwrap();
    let mut done = task.await.unwrap();
    done.sort();
    assert_eq!(done, ["r1/a/1", "r1/b/1", "r1/l/1", "r1/t/1"], "{way}");
}
