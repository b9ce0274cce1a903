//! Runs and changes for the behaviours.

use std::collections::BTreeMap;

use runstate::service_pass::{AnyServicePass, PassRecord};
use runstate::service_run::{
    AnyServiceRun, Approve, Block, Ready, Reject, ServiceRun, ServiceRunRecord, ServiceRunStatus, Start,
};
use runstate::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::rows::{RunStep, Step, StepPhase, TimelineEntry, TimelineStatus};
use crate::store::{Change, ServiceStore};

/// The time at which each behaviour begins.
pub(super) const NOW: u64 = 1_769_860_800_000;

fn machine(run: &str, status: ServiceRunStatus) -> AnyServiceRun {
    let new = ServiceRun::new(ServiceRunRecord::new(run, "send 5 \u{1f980}").for_wallet("0xa").on_chain(1));
    let started = |new: ServiceRun<_>| new.start(Start);
    let ready = |new| started(new).ready(Ready::new(vec![json!({ "to": "0xb" })]));
    match status {
        ServiceRunStatus::Created => new.into(),
        ServiceRunStatus::Running => started(new).into(),
        ServiceRunStatus::Blocked => started(new).block(Block::new("a rule")).into(),
        ServiceRunStatus::AwaitingApproval => ready(new).into(),
        ServiceRunStatus::ApprovedReady => {
            let run = ready(new);
            let digest = run.state().digest().to_owned();
            run.approve(Approve::new(digest, "bob", NOW)).unwrap().into()
        }
        ServiceRunStatus::Rejected => ready(new).reject(Reject::new("eve", "no", NOW)).unwrap().into(),
        other => unreachable!("no behaviour needs a run in {other}"),
    }
}

/// A change that brings the run to that status, with one row of each kind.
pub(super) fn change(run: &str, status: ServiceRunStatus) -> Change {
    let machine = machine(run, status);
    let pass = (status != ServiceRunStatus::Created).then(|| AnyServicePass::new(PassRecord::new(run)));
    let step = runstate::service_pass::ServicePassStatus::PlanTx;
    Change {
        at_ms: NOW,
        status,
        final_status: machine.final_status(),
        current_step: Some(step.into()),
        intent: machine.record().intent().to_owned(),
        pass: pass.as_ref().map(|pass| Snapshot::of(pass).unwrap()),
        machine: Snapshot::of(&machine).unwrap(),
        artifacts: BTreeMap::from([("normalized_intent".to_owned(), Some(json!(status.name())))]),
        steps: vec![Step {
            at_ms: NOW,
            pass: 1,
            attempt: 1,
            step: RunStep::TxPoll.into(),
            phase: StepPhase::Done,
            actor: Some("ada".into()),
            summary: status.name().into(),
            data: json!({ "n": [1, null, "\u{1f980}"] }),
        }],
        timeline: vec![TimelineEntry {
            step,
            status: TimelineStatus::Ok,
            title: "Actions planned".into(),
            summary: status.name().into(),
            attempt: 1,
            pass: 1,
            at_ms: NOW,
        }],
        trace: vec![json!({ "status": status.name() }).to_string()],
        requested_by: None,
        answer: None,
        hashes: Vec::new(),
    }
}

/// A change without rows and artifacts.
pub(super) fn bare(run: &str, status: ServiceRunStatus) -> Change {
    Change {
        artifacts: BTreeMap::new(),
        steps: Vec::new(),
        timeline: Vec::new(),
        trace: Vec::new(),
        ..change(run, status)
    }
}

/// Creates a run in that status. A store accepts any first status.
pub(super) async fn create(store: &dyn ServiceStore, run: &str, status: ServiceRunStatus) {
    store.create(run, &change(run, status)).await.unwrap();
}

/// All rows of a run, as one value.
pub(super) async fn all_rows(store: &dyn ServiceStore, run: &str) -> Value {
    json!({
        "steps": store.steps(run, 0, 999).await.unwrap(),
        "timeline": store.timeline(run, 0, 999).await.unwrap(),
        "events": store.events(run, 0, 999).await.unwrap(),
        "trace": store.trace(run, 0, 999).await.unwrap(),
    })
}

/// A change for the tests of a store: it brings a run with that intent to that status, with one row of each kind.
///
/// # Panics
/// For another status than CREATED, RUNNING and BLOCKED.
pub fn example_change(run: &str, status: ServiceRunStatus, intent: &str) -> Change {
    let new = ServiceRun::new(ServiceRunRecord::new(run, intent));
    let machine: AnyServiceRun = match status {
        ServiceRunStatus::Created => new.into(),
        ServiceRunStatus::Running => new.start(Start).into(),
        ServiceRunStatus::Blocked => new.start(Start).block(Block::new("a rule")).into(),
        other => panic!("expected CREATED, RUNNING or BLOCKED, got {other}"),
    };
    Change {
        at_ms: 1_000,
        status,
        final_status: machine.final_status(),
        current_step: Some(RunStep::RunCreated.into()),
        intent: intent.to_owned(),
        machine: Snapshot::of(&machine).unwrap(),
        pass: None,
        artifacts: BTreeMap::from([("plan".to_owned(), Some(json!({ "intent": intent })))]),
        steps: vec![Step {
            at_ms: 1_000,
            pass: 0,
            attempt: 0,
            step: RunStep::RunCreated.into(),
            phase: StepPhase::Done,
            actor: Some("ada".to_owned()),
            summary: intent.to_owned(),
            data: json!({ "of": [run, 1.5, null] }),
        }],
        timeline: vec![TimelineEntry {
            step: runstate::service_pass::ServicePassStatus::PlanTx,
            status: TimelineStatus::Ok,
            title: "planned".to_owned(),
            summary: intent.to_owned(),
            attempt: 1,
            pass: 1,
            at_ms: 1_000,
        }],
        trace: vec!["{}".to_owned()],
        requested_by: Some("ada".to_owned()),
        answer: None,
        hashes: Vec::new(),
    }
}
