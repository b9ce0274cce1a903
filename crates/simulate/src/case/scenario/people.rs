//! Deciders.

use runstate_scenario::file::{Act, Action, Decision, Given, Question, Reply, Step, When};
use serde_json::json;

use super::super::{Case, ComesTo, Kind, OnAsk, Says, Send, Timed};
use super::called::Called;
use super::find;

/// The decisions when a call asks; to resume, if the case has none.
pub(super) fn replies(case: &Case, calls: &[Called<'_>]) -> Vec<Reply> {
    let asking: Vec<&Called<'_>> = calls.iter().filter(|call| asks(case, call)).collect();
    let planned = case.replies.iter().filter_map(|reply| {
        let call = find(calls, reply.step, reply.ordinal)?;
        asks(case, call).then(|| planned(reply, &call.name))
    });
    let by_default = asking.iter().map(|call| Reply {
        to: Question::Ask { call: call.name.clone(), nth: None },
        gives: given(&[Send::new(5, Kind::Resume)], &call.name),
    });
    planned.chain(by_default).chain(case.is_cut().then(|| doubts(case))).collect()
}

/// Does its gate or its tool ever ask?
fn asks(case: &Case, call: &Called<'_>) -> bool {
    let gate = case.gates.iter().any(|gate| {
        (gate.step, gate.ordinal) == (call.step, call.ordinal) && matches!(gate.says, Says::Suspend(_))
    });
    gate || call.call.executions.iter().any(|execution| matches!(execution.comes_to, ComesTo::Pending(_)))
}

fn planned(reply: &OnAsk, call: &str) -> Reply {
    let mut gives = given(&reply.sends, call);
    if reply.batch && !gives.is_empty() {
        let after_ms = gives.iter().map(|given| given.after_ms).sum();
        gives = vec![Given { after_ms, decide: gives.into_iter().flat_map(|given| given.decide).collect() }];
    }
    Reply { to: Question::Ask { call: call.to_owned(), nth: Some(reply.life) }, gives }
}

fn given(sends: &[Send], call: &str) -> Vec<Given> {
    let mut gives: Vec<Given> = Vec::new();
    for (place, send) in sends.iter().enumerate() {
        let last = gives.last().and_then(|given| given.decide.last().cloned());
        let decision = match (send.kind, last) {
            (Kind::Again, Some(last)) => last,
            (Kind::Reused, Some(last)) => Decision { action: turned(last.action), ..last },
            (kind, _) => Decision { actor: send.actor("$asked"), ..decision(kind, place, call) },
        };
        gives.push(Given { after_ms: send.after_ms, decide: vec![decision] });
    }
    gives
}

fn decision(kind: Kind, place: usize, call: &str) -> Decision {
    let action = match kind {
        Kind::Cancel | Kind::CancelUnnamed => Action::Deny,
        _ => Action::Approve,
    };
    let unnamed = Decision {
        result: json!({ "ok": true, "n": 7 }),
        ..Decision::new(format!("$asked:{place}"), call, action)
    };
    let on = |suspension: &str| Decision { suspension: Some(suspension.to_owned()), ..unnamed.clone() };
    let named = on("$asked");
    match kind {
        Kind::Resume | Kind::Cancel | Kind::Again => Decision { as_shown: true, ..named },
        Kind::ResumeUnnamed | Kind::CancelUnnamed => on(""),
        Kind::Stale => on("$before"),
        Kind::UnknownCall => Decision { call: "nobody".to_owned(), ..named },
        Kind::OtherRun => Decision { run: Some("r2".to_owned()), ..named },
        Kind::OtherArguments => Decision { digest: Some("0".to_owned()), ..named },
        Kind::Unfit => Decision { result: json!("unfit"), ..named },
        Kind::Reused => Decision { id: "$before:0".to_owned(), ..named },
        Kind::Empty => Decision { id: String::new(), ..named },
    }
}

fn turned(action: Action) -> Action {
    match action {
        Action::Approve => Action::Deny,
        Action::Deny => Action::Approve,
    }
}

/// The decisions on calls in doubt.
fn doubts(case: &Case) -> Reply {
    let action = if case.doubts_resume { Action::Approve } else { Action::Deny };
    let decision =
        Decision { suspension: Some("$asked".to_owned()), ..Decision::new("doubt/$asked", "$call", action) };
    Reply { to: Question::Doubt, gives: vec![Given { after_ms: 3, decide: vec![decision] }] }
}

/// The decisions at a time, independent of the call.
pub(super) fn at_times(case: &Case) -> Vec<Step> {
    let step = |(place, timed): (usize, &Timed)| {
        let action = if timed.resumes { Action::Approve } else { Action::Deny };
        let decision = Decision {
            result: json!({ "ok": true, "n": 8 }),
            digest: timed.other_arguments.then(|| "0".to_owned()),
            ..Decision::new(format!("timed/{place}"), &timed.call, action)
        };
        Step { insists: true, ..Step::new(When::AtMs(timed.at_ms), Act::Decide(vec![decision])) }
    };
    case.timed.iter().enumerate().map(step).collect()
}
