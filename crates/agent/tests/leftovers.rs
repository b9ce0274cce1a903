//! Calls that a round leaves `New`, since one before them asked while it executed (sequential execution).

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::termination::TerminationReason;
use runstate_agent::WhenSuspended;

use super::parts::{World, statuses};

fn ask_in_the_middle() -> World {
    World::new(&[&[("a", "read"), ("b", "ask"), ("c", "read"), ("d", "note")]])
}

#[tokio::test(start_paused = true)]
async fn calls_after_a_suspended_call_stay_new_until_the_resume() {
    for action in [Resume, Cancel] {
        let mut world = ask_in_the_middle();
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.waiting, ["b"]);
        assert_eq!(statuses(&state), ["a Succeeded", "b Suspended", "c New", "d New"]);
        assert_eq!(world.done(), ["r1/a/1", "r1/b/1"]);

        let mut state = world.restored();
        let outcome = world.decide(&mut state, &[("b", action)]).await;
        assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
        assert_eq!(statuses(&state)[2..], ["c Succeeded", "d Succeeded"]);
        assert_eq!(world.done().last().unwrap(), "r1/d/1");
        world.abandoned = vec!["c.1", "d.1"];
        if action == Resume {
            world.assert_trace("leftovers");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_after_a_suspended_call_run_when_decided_in_place() {
    let mut world = ask_in_the_middle();
    world.when_suspended = WhenSuspended::WaitInPlace;
    world.put_patiently(&[("b", Resume)]);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.reason, TerminationReason::NaturalEnd);
    assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded", "c Succeeded", "d Succeeded"]);
    assert_eq!(world.script.seen()[1][5], r#"d: {"noted":{"for":"d"}}"#);
    world.abandoned = vec!["c.1", "d.1"];
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn a_leftover_may_ask_in_its_turn() {
    let mut world = World::new(&[&[("a", "ask"), ("b", "ask"), ("c", "read")]]);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a"]);
    assert_eq!(world.decide(&mut state, &[("a", Resume)]).await.waiting, ["b"]);
    assert_eq!(statuses(&state), ["a Succeeded", "b Suspended", "c New"]);
    world.decide(&mut state, &[("b", Resume)]).await;
    assert_eq!(statuses(&state), ["a Succeeded", "b Succeeded", "c Succeeded"]);
    world.abandoned = vec!["b.1", "c.1", "c.2"];
    world.assert_conforms();
}

#[tokio::test(start_paused = true)]
async fn leftovers_wait_for_the_call_that_asked_and_for_no_other() {
    let mut world = World::new(&[&[("a", "write"), ("b", "ask"), ("c", "read")]]);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).await.waiting, ["a", "b"]);
    // The other call is decided: `c` stays behind `b`.
    assert_eq!(world.decide(&mut state, &[("a", Resume)]).await.waiting, ["b"]);
    assert_eq!(statuses(&state), ["a Succeeded", "b Suspended", "c New"]);

    let mut world = World::new(&[&[("a", "write"), ("b", "ask"), ("c", "read")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    // The call that asked is decided: `c` runs, whatever `a` waits for.
    assert_eq!(world.decide(&mut state, &[("b", Resume)]).await.waiting, ["a"]);
    assert_eq!(statuses(&state), ["a Suspended", "b Succeeded", "c Succeeded"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_executes_no_leftovers() {
    let mut world = World::new(&[&[("a", "read"), ("b", "ask"), ("c", "hang"), ("d", "note")]]);
    let mut state = world.state();
    world.start(&mut state).await;
    let token = world.token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        token.cancel();
    });
    let outcome = world.decide(&mut state, &[("b", Resume)]).await;
    assert_eq!(outcome.reason, TerminationReason::Cancelled);
    assert_eq!(statuses(&state)[2..], ["c Cancelled", "d New"]);
    world.abandoned = vec!["c.1", "d.1", "c.2", "d.2"];
    world.assert_conforms();
}
