//! Ids that the model, or a tool, uses more than once.

use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate_agent::{Incoming, Outcome, Reply, RunState};

use super::parts::{World, statuses};

#[tokio::test(start_paused = true)]
async fn duplicate_call_id_is_refused_and_the_first_call_proceeds() {
    let mut world = World::new(&[&[("call_1", "read"), ("call_1", "note"), ("call_2", "read")]]);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["call_1 Succeeded", "call_1#2 Failed", "call_2 Succeeded"]);
    assert_eq!(
        world.script.seen()[1][3],
        "call_1: error: an earlier call of this answer has the same id; give each call its own"
    );
    assert_eq!(world.done(), ["r1/call_1/1", "r1/call_2/1"]);
    world.assert_trace("twins");
}

#[tokio::test(start_paused = true)]
async fn old_decision_never_approves_a_new_call_with_a_reused_id() {
    let mut world = World::new(&[&[("call_1", "write")], &[("call_1", "write")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(world.decide(&mut state, &[("call_1", Resume)]).await.waiting, ["call_1#2"]);
    assert_eq!(statuses(&state), ["call_1 Succeeded", "call_1#2 Suspended"]);
    assert_eq!(state.pending()[0].suspension.id, "r1/call_1#2/1");

    let mut named = Incoming::new("d-old", "call_1", Resume);
    named.suspension_id = Some("r1/call_1/1".into());
    let mut to_the_new_one = Incoming::new("d-old-2", "call_1#2", Resume);
    to_the_new_one.suspension_id = Some("r1/call_1/1".into());
    drop(world.replies());
    world.incoming.extend([
        Incoming::new("d-call_1", "call_1", Resume),
        Incoming::new("d-unnamed", "call_1", Resume),
        named,
        to_the_new_one,
        Incoming::new("d-call_1", "call_1#2", Resume),
    ]);
    assert_eq!(world.resume(&mut state).await.waiting, ["call_1#2"], "nothing approves the new call");
    let replies: Vec<_> = world.replies().into_iter().map(|(_, reply)| reply).collect();
    let names: Vec<_> = replies.iter().map(Reply::name).collect();
    assert_eq!(names, ["duplicate", "ambiguous", "conflict", "conflict", "invalid"]);
    let Reply::Conflict(accepted) = &replies[2] else { panic!("{:?}", replies[2]) };
    assert_eq!(accepted.decision_id, "d-call_1", "the decision that was accepted");
    assert_eq!(replies[1], Reply::Ambiguous(vec!["r1/call_1#2/1".to_owned()]), "what waits");
    assert_eq!(world.done(), ["r1/call_1/1"]);

    // By the name of its second life alone it is ambiguous too.
    world.incoming.push(Incoming::new("d-2", "call_1#2", Resume));
    assert_eq!(world.resume(&mut state).await.waiting, ["call_1#2"]);
    world.incoming.push(Incoming::new("d-2", "call_1#2", Resume).on("r1/call_1#2/1"));
    world.resume(&mut state).await;
    assert_eq!(world.done(), ["r1/call_1/1", "r1/call_1#2/1"]);
    world.assert_trace("id_reused");
}

#[tokio::test(start_paused = true)]
async fn an_id_that_looks_like_another_life_does_not_take_its_name() {
    let mut world = World::new(&[&[("a", "read"), ("a#2", "read")], &[("a", "read"), ("a#2", "note")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let names: Vec<_> = state.calls().map(|(name, _)| name.to_owned()).collect();
    let mut distinct = names.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 4, "{names:?}");
    assert_eq!(statuses(&world.restored()), statuses(&state), "no call is lost in storage");
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn tool_reusing_a_suspension_id_can_be_answered_each_time() {
    let mut world = World::new(&[&[("a", "careless")], &[("b", "careless")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    assert_eq!(state.pending()[0].suspension.id, "r1/a/1:always the same");
    assert_eq!(answer(&mut world, &mut state, "a", "r1/a/1:always the same").await.waiting, ["b"]);
    assert_eq!(state.pending()[0].suspension.id, "r1/b/1:always the same");
    let outcome = answer(&mut world, &mut state, "b", "r1/b/1:always the same").await;
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd, "{:?}", world.replies());
}

async fn answer(world: &mut World, state: &mut RunState, call: &str, id: &str) -> Outcome {
    world.incoming.push(Incoming::new(format!("d-{call}"), call, Resume).on(id));
    world.resume(state).await
}

/// Else what one run did would count as done for another.
#[tokio::test(start_paused = true)]
async fn a_slash_in_an_id_makes_no_key_of_another_call() {
    let mut keys = Vec::new();
    for (run, call) in [("r", "x/1"), ("r/x", "1"), ("r%2Fx", "1"), ("r", "x%2F1"), ("", "r/x"), ("/r", "x")]
    {
        let mut world = World::new(&[&[(call, "write")]]);
        let mut state = RunState::new(run);
        world.start(&mut state).await;
        let asked = state.pending()[0].suspension.id.clone();
        world.decide(&mut state, &[(call, Resume)]).await;
        assert_eq!(state.run().status(), RunStatus::Done, "{run} {call}");
        keys.push((world.done(), asked));
    }
    let (first, second) = (&keys[0], &keys[1]);
    assert_eq!((first.0[0].as_str(), first.1.as_str()), ("r/x%2F1/1", "r/x%2F1/1"));
    assert_eq!((second.0[0].as_str(), second.1.as_str()), ("r%2Fx/1/1", "r%2Fx/1/1"));
    for (at, one) in keys.iter().enumerate() {
        assert!(keys[..at].iter().all(|other| other.0 != one.0 && other.1 != one.1), "{keys:?}");
    }
}
