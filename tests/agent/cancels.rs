//! A run is cancelled at each place where its flow may be.

use runstate::agent::{Agent, RunState};
use runstate::decision::DecisionAction::Resume;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_call::ToolCallStatus;

use super::parts::{World, of_lifecycle, statuses};

/// Two rounds, of which the first waits and the second does not.
fn script() -> World {
    World::new(&[&[("a", "write"), ("b", "read"), ("c", "note")], &[("d", "read"), ("e", "note")]])
}

fn assert_ended_cancelled(world: &World, state: &RunState, at: usize) {
    assert_eq!(state.run().status(), RunStatus::Done, "cancelled at asking {at}");
    for (name, call) in state.calls() {
        let status = call.status();
        assert!(status.is_terminal() || status == ToolCallStatus::New, "{name} is {status} at the end");
    }
    let restored = world.restored();
    assert_eq!(restored.run().status(), RunStatus::Done, "the end is durable");
    assert_eq!(statuses(&restored), statuses(state));
    let report = world.report();
    assert!(report.violation.is_none(), "{}", report.summary());
    // What a cancelled round had ready to execute is abandoned, and the rest has ended.
    for it in &report.unfinished {
        assert!(["tool_execution", "tool_call"].contains(&it.lifecycle.as_str()), "{}", report.summary());
    }
}

#[test]
fn a_run_can_be_cancelled_at_each_of_its_askings() {
    let mut from = std::collections::BTreeSet::new();
    for at in 0.. {
        let mut world = script();
        world.cancelled_at = Some(at);
        let mut state = world.state();
        let mut outcome = world.start(&mut state);
        if outcome.reason == TerminationReason::Suspended {
            outcome = world.decide(&mut state, &[("a", Resume)]);
        }
        if outcome.reason == TerminationReason::NaturalEnd {
            assert!(at > 10, "there are more places than {at}");
            break;
        }
        assert_eq!(outcome.reason, TerminationReason::Cancelled, "at asking {at}");
        assert_ended_cancelled(&world, &state, at);
        let flow = of_lifecycle(&world.recorder.events(), "run_flow");
        let cancel = flow.iter().find(|event| event.ends_with("--> Cancelled : cancel"));
        if let Some(cancel) = cancel {
            from.insert(cancel.split(' ').nth(1).unwrap().to_owned());
        }
    }
    let from: Vec<_> = from.into_iter().collect();
    assert_eq!(
        from,
        ["LlmCall", "ResumeAfterTool", "ResumeReplay0", "ResumeToolCall", "StepPrepare", "ToolRound"],
        "the flow's six ways to Cancelled are all taken"
    );
}

#[test]
fn a_round_that_is_cancelled_executes_nothing_more() {
    let mut world = World::new(&[&[("a", "read"), ("b", "read"), ("c", "read")]]);
    // Before and behind the gate at the start, those of the step, behind its answer, then before each call.
    world.cancelled_at = Some(6);
    let mut state = world.state();
    assert_eq!(world.start(&mut state).reason, TerminationReason::Cancelled);
    assert_eq!(statuses(&state), ["a Succeeded", "b New", "c New"]);
    assert_eq!(world.done(), ["r1/a/1"]);
    let history = super::parts::history(&state);
    assert_eq!(history[3..], ["b: error: not executed", "c: error: not executed"]);
    insta::with_settings!({
        snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("agent__cancelled_round", runstate::trace::to_text(&world.recorder.events()));
    });
}

#[test]
fn a_run_that_waits_is_cancelled_with_its_calls_in_one_commit() {
    let cancels: [fn(&mut Agent<'_>, &mut RunState) -> _; 2] = [
        |agent, state| agent.cancel(state),
        |agent, state| {
            // A run that was cancelled from outside takes no decision any more.
            agent.cancelled = &|| true;
            agent.resume(state)
        },
    ];
    for cancel in cancels {
        let mut world = script();
        let mut state = world.state();
        world.start(&mut state);
        let commits = world.kept.triggers.len();
        world.queue.put(&[("a", Resume)]);
        let outcome = world.drive(|agent| cancel(agent, &mut state)).unwrap();
        assert_eq!(outcome.reason, TerminationReason::Cancelled);
        assert_eq!(statuses(&state)[0], "a Cancelled");
        assert_eq!(world.kept.triggers.len(), commits + 1);
        assert_ended_cancelled(&world, &state, 0);
        assert_eq!(world.queue.incoming.len(), 1, "no decision was taken");
        world.assert_trace("cancelled_while_waiting");
    }
}

#[test]
fn a_cancel_that_was_not_committed_can_be_committed_again() {
    let mut world = script();
    let mut state = world.state();
    world.start(&mut state);
    world.kept.fail_at = Some(world.kept.triggers.len());
    let error = world.drive(|agent| agent.cancel(&mut state)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run's state could not be committed: the disk is full; cancel the run again to commit it again"
    );
    assert_eq!(world.restored().run().status(), RunStatus::Waiting, "what was committed stays");
    world.drive(|agent| agent.cancel(&mut state)).unwrap();
    assert_ended_cancelled(&world, &state, 0);
}

#[test]
fn only_a_run_that_waits_is_cancelled_between_activations() {
    let mut world = World::new(&[]);
    let mut state = world.state();
    let error = world.drive(|agent| agent.cancel(&mut state)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run is Running: an activation is cancelled by what it asks, `cancelled`"
    );
    world.start(&mut state);
    let error = world.drive(|agent| agent.cancel(&mut state)).unwrap_err();
    assert_eq!(error.to_string(), "the run is Done: it is over; start a new run");
}
