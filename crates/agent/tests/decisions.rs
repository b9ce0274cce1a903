//! Decisions: the first wins, all others change nothing, and each gets its reply.

use std::time::Duration;

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::termination::TerminationReason;
use runstate_agent::{Incoming, Reply, StoredRun};

use super::causes::EXPIRED;
use super::parts::{World, statuses};

fn on(id: &str, call: &str, suspension: Option<&str>) -> Incoming {
    let mut incoming = Incoming::new(id, call, Resume);
    incoming.suspension_id = suspension.map(str::to_owned);
    incoming
}

#[tokio::test(start_paused = true)]
async fn unmatched_decisions_change_nothing_and_get_their_reply() {
    let mut world = World::new(&[&[("a", "write"), ("b", "write_twice"), ("c", "read"), ("d", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.decide(&mut state, &[("a", Resume), ("b", Resume)]).await;
    assert_eq!(statuses(&state), ["a Succeeded", "b Suspended", "c Succeeded", "d Suspended"]);
    let (stored, done, events) = (StoredRun::of(&state).unwrap(), world.done(), world.recorder.len());
    let commits = world.kept.triggers().len();

    for (incoming, reply) in [
        (on("", "d", None), "invalid"),
        (on("d-\n", "d", None), "invalid"),
        (on(&"d".repeat(1_025), "z", Some("r1/z/1")), "invalid"),
        (on(&"d".repeat(1_024), "z", Some("r1/z/1")), "unknown"),
        (on("d0", "d", Some("")), "invalid"),
        (on("d0", "", None), "invalid"),
        (on("d-a", "a", Some("r1/a/1")), "duplicate"),
        (on("d-a", "a", None), "duplicate"),
        (on("d-a", "d", None), "invalid"),
        (Incoming { action: Cancel, ..on("d-a", "a", None) }, "invalid"),
        (on("d1", "a", Some("r1/a/1")), "conflict"),
        (on("d1", "a", None), "conflict"),
        (on("d2", "b", Some("r1/b/1")), "conflict"),
        (Incoming { action: Cancel, ..on("d2", "b", Some("r1/b/1")) }, "conflict"),
        (on("d3", "b", Some("r1/b/0")), "unknown"),
        (on("d3", "b", Some("r1/d/1")), "unknown"),
        (on("d3", "b", None).for_question("sha256:another"), "stale"),
        (on("d3", "b", None), "ambiguous"),
        (on("d4", "c", Some("r1/c/1")), "unknown"),
        (on("d5", "c", None), "unknown"),
        (on("d6", "z", Some("r1/z/1")), "unknown"),
    ] {
        drop(world.replies());
        world.incoming.push(incoming.clone());
        let outcome = world.resume(&mut state).await;
        assert_eq!(outcome.waiting, ["b", "d"]);
        let replies = world.replies();
        assert_eq!(
            replies.iter().map(|(_, reply)| reply.name()).collect::<Vec<_>>(),
            [reply],
            "{incoming:?}"
        );
        assert_eq!(StoredRun::of(&state).unwrap(), stored, "{incoming:?} changed the run");
    }
    assert_eq!((world.done(), world.recorder.len()), (done, events));
    assert_eq!(world.kept.triggers().len(), commits, "nothing was committed for what changed nothing");
}

#[tokio::test(start_paused = true)]
async fn mismatched_decisions_do_not_block_the_matching_one() {
    let mut world = World::new(&[&[("a", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.incoming.extend([on("d1", "z", None), on("d2", "a", Some("other")), on("d3", "a", None)]);
    world.incoming.extend([on("d3", "a", None), on("d4", "a", Some("r1/a/1"))]);
    assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
    let replies: Vec<_> = world.replies().into_iter().map(|(_, reply)| reply.name()).collect();
    // What is on a question that does not wait is answered when it arrives.
    assert_eq!(replies, ["unknown", "stale", "accepted", "duplicate", "conflict"]);
    assert_eq!(world.done(), ["r1/a/1"]);
}

#[tokio::test(start_paused = true)]
async fn decision_counts_before_its_suspension_expires_not_at_expiry() {
    for (at_ms, named) in [(999, false), (999, true), (1_000, false), (1_000, true), (5_000, true)] {
        let mut world = World::new(&[&[("a", "lapsing")]]);
        let mut state = world.state();
        world.start(&mut state).await;
        tokio::time::advance(Duration::from_millis(at_ms)).await;
        world.incoming.push(on("d1", "a", named.then_some("r1/a/1:soon")));
        assert_eq!(world.resume(&mut state).await.reason, TerminationReason::NaturalEnd);
        if at_ms < 1_000 {
            assert_eq!(world.replies(), [("d1".to_owned(), Reply::Accepted)]);
            assert_eq!(world.script.seen()[1][2], "a: \"in time\"");
        } else {
            assert_eq!(world.replies(), [("d1".to_owned(), Reply::Expired)], "at {at_ms}, named: {named}");
            assert_eq!(statuses(&state), [format!("a {EXPIRED}")]);
            assert_eq!(world.script.seen()[1][2], "a: error: no decision came in time");
            let stored = world.kept.memory.stored().unwrap().to_json();
            assert!(
                stored.contains(r#""decision_id": "expiry:r1/a/1:soon""#)
                    && stored.contains(r#""actor": "runstate""#)
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_told_accepted_only_once_it_is_durable() {
    let mut world = World::new(&[&[("a", "write"), ("b", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let before = world.kept.triggers().len();
    world.decide(&mut state, &[("a", Resume), ("b", Cancel)]).await;
    // Behind the commit of the start and that of the decision; the second decision has a commit of its own.
    let told_after: Vec<usize> =
        world.replies.lock().unwrap().iter().map(|(_, _, commits)| *commits).collect();
    assert_eq!(told_after, [before + 2, before + 3]);

    let mut world = World::new(&[&[("a", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    world.kept.fail_at = Some(world.kept.triggers().len() + 1);
    let outcome = world.decide(&mut state, &[("a", Resume)]).await;
    assert!(matches!(outcome.reason, TerminationReason::Error(_)));
    // Its own commit failed, and that of the run's end has it: it was accepted, and nothing executes any more.
    assert_eq!(world.replies(), [("d-a".to_owned(), Reply::Accepted)]);
    assert!(world.kept.memory.stored().unwrap().to_json().contains(r#""decision_id": "d-a""#));
    assert!(world.done().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_decision_on_a_call_that_does_not_wait_yet_is_unknown() {
    let mut world = World::new(&[&[("a", "write")]]);
    world.put(&[("a", Resume)]);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a"]);
    assert_eq!(world.replies(), [("d-a".to_owned(), Reply::Unknown)]);
}

/// A decision that is posted in the name of the runtime gives a call up once its time is over, and does nothing else.
#[tokio::test(start_paused = true)]
async fn runtime_decision_cannot_approve_or_expire_a_call_early() {
    let lapse = "expiry:r1/a/1:soon";
    for (tool, id, action, at_ms, expected) in [
        ("lapsing", lapse, Resume, 0, "a Suspended"),
        ("lapsing", lapse, Resume, 1_000, "a Suspended"),
        ("lapsing", lapse, Cancel, 999, "a Suspended"),
        ("lapsing", "d1", Cancel, 1_000, "a Suspended"),
        ("lapsing", "expiry:r1/b/1:soon", Cancel, 1_000, "a Suspended"),
        ("write", "expiry:r1/a/1", Cancel, 1_000, "a Suspended"),
        ("lapsing", lapse, Cancel, 1_000, &*format!("a {EXPIRED}")),
    ] {
        let mut world = World::new(&[&[("a", tool)]]);
        let mut state = world.state();
        world.start(&mut state).await;
        let on = state.pending()[0].suspension.id.clone();
        let mut posted = Incoming::new(id, "a", action).on(on).by("runstate");
        posted.decided_at_ms = Some(at_ms);
        world.handle.post(vec![posted]).await.unwrap();
        world.resume(&mut state).await;
        assert_eq!(statuses(&state), [expected], "{tool}: {id}, {action:?}, {at_ms}");
    }
}
