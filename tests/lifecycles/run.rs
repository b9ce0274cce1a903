//! A run: its states by legal steps, the data each owns, what its guards refuse.

use runstate::decision::{Decision, DecisionAction};
use runstate::kernel::Machine;
use runstate::run::*;
use runstate::termination::{StoppedReason, TerminationReason};
use serde_json::json;

use super::stored;

/// A run in that status, reached by legal steps.
pub(crate) fn at(status: RunStatus) -> AnyRun {
    let run = Run::new(RunRecord::new("r1"));
    match status {
        RunStatus::Running => run.into(),
        RunStatus::Waiting => run.wait(Wait::new(["call_1", "call_2"])).unwrap().into(),
        RunStatus::Done => run.finish(Finish::new(TerminationReason::NaturalEnd)).unwrap().into(),
    }
}

/// A run in that status that the guard of `event` lets pass, where the status has an edge for it.
pub(crate) fn ready(status: RunStatus, _event: &str) -> AnyRun {
    at(status)
}

/// The event of that name, with a payload that fits the run where there is one.
pub(crate) fn event(_: &AnyRun, name: &str) -> RunEvent {
    match name {
        "wait" => Wait::new(["call_1"]).into(),
        "resume" => Resume::decided("call_1", &approval()).into(),
        // The one reason that ends a running run and a waiting one.
        "finish" => Finish::new(TerminationReason::Cancelled).into(),
        other => unreachable!("run has no event {other}"),
    }
}

fn approval() -> Decision {
    Decision::new("dec-1", "sus-1", DecisionAction::Resume)
}

#[test]
fn running_owns_the_cause_of_its_activation() {
    let run = Run::new(RunRecord::new("r1"));
    assert_eq!((run.cause(), run.record().id(), run.record().activations()), (&Cause::Created, "r1", 1));
    assert_eq!(stored::state(&run), json!({ "cause": "created" }));

    let run = run.wait(Wait::new(["call_1"])).unwrap().resume(Resume::decided("call_1", &approval()));
    assert_eq!(run.cause(), &Cause::Decided { call: "call_1".into(), decision_id: "dec-1".into() });
    assert_eq!(run.record().activations(), 2);
    let decided = json!({ "cause": { "decided": { "call": "call_1", "decision_id": "dec-1" } } });
    assert_eq!(stored::state(&run), decided);
    stored::survives(AnyRun::from(run));

    let run = Run::new(RunRecord::new("r1")).wait(Wait::new(["call_1"])).unwrap();
    let run = run.resume(Resume::user_message());
    assert_eq!(run.cause(), &Cause::UserMessage);
    assert_eq!(stored::state(&run), json!({ "cause": "user_message" }));
    stored::survives(AnyRun::from(run));
}

#[test]
fn waiting_owns_the_calls_it_waits_for() {
    let run = Run::new(RunRecord::new("r1")).wait(Wait::new(["call_1", "call_2"])).unwrap();
    assert_eq!(run.calls(), ["call_1", "call_2"]);
    assert_eq!(stored::state(&run), json!({ "calls": ["call_1", "call_2"] }));
}

#[test]
fn done_owns_its_reason() {
    let reason = TerminationReason::Stopped(StoppedReason::new("max_rounds", Some("10")).unwrap());
    let run = Run::new(RunRecord::new("r1")).finish(Finish::new(reason.clone())).unwrap();
    assert_eq!(run.reason(), &reason);
    assert_eq!(
        stored::state(&run),
        json!({ "reason": { "stopped": { "code": "max_rounds", "detail": "10" } } })
    );
    let (record, _done) = run.into_parts();
    assert_eq!((record.id(), record.activations()), ("r1", 1));
}

#[test]
fn every_state_survives_storage() {
    stored::assert_forms("run", RunStatus::ALL.iter().map(|status| at(*status)));
}

/// What no transition gives, no stored form gives either, even under a good seal.
#[test]
fn a_stored_run_keeps_the_rules_of_its_guards() {
    assert_eq!(
        super::doctored(&at(RunStatus::Waiting), |stored| stored["state"] = json!({ "calls": [] })),
        "the state is not that of a machine in Waiting: a run waits for at least one suspended call, and none was named"
    );
    assert_eq!(
        super::doctored(&at(RunStatus::Done), |stored| stored["state"] = json!({ "reason": "suspended" })),
        "the state is not that of a machine in Done: 'suspended' does not end a run here; \
         expected any reason but suspended, with which it waits"
    );
}

#[test]
fn a_run_does_not_wait_for_nothing() {
    let none: [&str; 0] = [];
    let rejected = Run::new(RunRecord::new("r1")).wait(Wait::new(none)).unwrap_err();
    assert_eq!(rejected.error.to_string(), "a run waits for at least one suspended call, and none was named");
    assert_eq!(rejected.machine.cause(), &Cause::Created);
    assert_eq!(rejected.event, Wait::new(none));

    let (run, error) =
        Run::new(RunRecord::new("r1")).end_activation(TerminationReason::Suspended, none).unwrap_err();
    assert_eq!((run.record().id(), error), ("r1", NothingToWaitFor));
}

/// Document 000, the labels of Layer 1: which reason ends a run from where.
#[test]
fn a_run_ends_for_the_documented_reasons_only() {
    let stopped = || TerminationReason::Stopped(StoppedReason::new("timeout", None).unwrap());
    #[rustfmt::skip]
    let rows = [
        // reason                                      ends a running run   ends a waiting run
        (TerminationReason::NaturalEnd,                true,                false),
        (TerminationReason::BehaviorRequested,         true,                false),
        (stopped(),                                    true,                false),
        (TerminationReason::Blocked("no".into()),      true,                false),
        (TerminationReason::Cancelled,                 true,                true),
        (TerminationReason::Error("down".into()),      true,                true),
        (TerminationReason::Suspended,                 false,               false),
    ];
    for (reason, from_running, from_waiting) in rows {
        for (status, ends, expected) in [
            (RunStatus::Running, from_running, "any reason but suspended, with which it waits"),
            (RunStatus::Waiting, from_waiting, "cancelled or error, since the run waits"),
        ] {
            let before = stored::form(&at(status));
            match at(status).apply(Finish::new(reason.clone()).into()) {
                Ok(run) => {
                    assert!(ends, "{status} ends with {reason}");
                    let AnyRun::Done(run) = run else { panic!("{reason} leads to {}", run.status()) };
                    assert_eq!(run.reason(), &reason);
                }
                Err(refused) => {
                    assert!(!ends, "{refused}");
                    assert_eq!(
                        refused.guard().unwrap().to_string(),
                        format!("'{reason}' does not end a run here; expected {expected}")
                    );
                    assert_eq!(stored::form(refused.machine()), before, "a refusal changes nothing");
                    let (_, event) = refused.into_parts();
                    assert!(matches!(event, RunEvent::Finish(event) if event == Finish::new(reason.clone())));
                }
            }
        }
    }
}

#[test]
fn an_activation_ends_as_its_reason_says() {
    let running = || Run::new(RunRecord::new("r1"));
    let ended = running().end_activation(TerminationReason::Suspended, ["call_1"]).unwrap();
    let Ended::Waiting(run) = ended else { panic!("a suspended activation leaves its run waiting") };
    assert_eq!(run.calls(), ["call_1"]);

    let none: [&str; 0] = [];
    for reason in [TerminationReason::NaturalEnd, TerminationReason::Error("down".into())] {
        let run = AnyRun::from(running().end_activation(reason.clone(), none).unwrap());
        let AnyRun::Done(run) = run else { panic!("{reason} leads to {}", run.status()) };
        assert_eq!(run.reason(), &reason);
    }
}

#[test]
fn every_event_has_a_payload_that_fits() {
    super::assert_every_edge_is_taken(RunStatus::ALL, ready, event);
}

#[test]
fn states_are_reached() {
    super::assert_states_are_reached(RunStatus::ALL, at);
    assert_eq!(AnyRun::create(RunRecord::new("r1")).status(), RunStatus::Running);
}
