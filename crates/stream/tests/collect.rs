//! Sessions whose output is a value: what does not fit is a failed attempt like any other.

use std::error::Error;

use runstate::stream_session::ErrorCode;
use runstate_guardrails::structured::{Repair, Structured, StructuredError};
use runstate_stream::{CollectError, ErrorKind, EventKind, RetryPolicy, SessionBuilder};
use serde::Deserialize;
use serde_json::Value;

use super::rows::documented;
use super::script::{Seen, Step, scripted, then, tokens};
use super::sessions::{every, no, on, policy, session};
use super::told::{Notes, Whole, drive};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trip {
    to: String,
    #[serde(default)]
    days: u8,
}

/// Only a trip that takes some days.
fn trip(builder: SessionBuilder) -> SessionBuilder {
    builder.accept(|trip: &Structured<Trip>| if trip.value.days > 0 { Ok(()) } else { Err("no days") })
}

const GOOD: &str = "{\"to\": \"Oslo\", \"days\": 2}";

/// What the last failures said, from the first on.
fn failures(whole: &Whole) -> Vec<String> {
    let state = match &whole.result {
        Ok(state) => state,
        Err(error) => &error.state,
    };
    state.failures.iter().map(ToString::to_string).collect()
}

/// Repairs are told with the value, so that a caller may refuse it.
#[tokio::test(start_paused = true)]
async fn repaired_value_can_be_refused_by_the_caller() {
    let unrepaired = |trip: &Structured<Trip>| if trip.repairs.is_empty() { Ok(()) } else { Err("repaired") };
    let attempts = vec![tokens("{'to': 'Oslo', 'days': 2,}"), tokens(GOOD)];
    let whole = drive(session(attempts).accept(unrepaired)).await;
    let failures = failures(&whole);
    assert!(
        failures.len() == 1 && failures[0].contains("refused: repaired (after repairs: extra_comma, quotes)"),
        "{failures:?}"
    );
    assert_eq!(whole.text, GOOD);
}

/// So is each other value that the output has.
#[tokio::test(start_paused = true)]
async fn several_values_can_be_refused_by_the_caller() {
    let several =
        "An example: {\"to\": \"Bergen\", \"days\": 1}\n\nThe answer: {\"to\": \"Oslo\", \"days\": 2}";
    let whole = drive(session(vec![tokens(several), tokens(GOOD)]).accept(Structured::<Trip>::only)).await;
    let failures = failures(&whole);
    assert!(failures.len() == 1 && failures[0].contains("2 values"), "{failures:?}");
    assert_eq!(whole.text, GOOD);
}

#[tokio::test(start_paused = true)]
async fn value_that_fits_at_a_later_attempt_is_returned() {
    let attempts = vec![
        tokens("I would go to Oslo."),
        tokens("{\"to\": \"Oslo\", \"via\": 1}"),
        tokens("{\"to\": \"Oslo\"}"),
        tokens("Here: ```json\n{'to': 'Oslo', 'days': 2,}\n``` Enjoy!"),
    ];
    let whole = drive(trip(session(attempts.clone()))).await;
    assert_eq!(
        failures(&whole),
        [
            "GUARDRAIL_VIOLATION: structured: there is no JSON in the output, which begins \"I would go to Oslo.\"",
            "GUARDRAIL_VIOLATION: structured: the JSON in the output does not match the requested type: unknown field `via`, \
             expected `to` or `days` at line 1 column 20",
            "GUARDRAIL_VIOLATION: structured: the JSON in the output is refused: no days",
        ]
    );
    let state = whole.result.as_ref().unwrap();
    assert_eq!(
        (state.attempts, state.model_retries, state.violations.len()),
        (4, 3, 3),
        "of the model's budget"
    );
    let failed = ["GUARDRAIL_RULE_RESULT", "ERROR", "RETRY_ATTEMPT", "ATTEMPT_START"];
    let mut told = vec!["SESSION_START"];
    told.extend(failed.repeat(3));
    told.extend(["GUARDRAIL_RULE_RESULT", "COMPLETE"]);
    assert_eq!(documented(&whole), told, "the one path of every failure");

    let mut session = trip(session(attempts)).build();
    let collected = session.value::<Trip>().await.unwrap();
    assert_eq!(collected.value, Trip { to: "Oslo".into(), days: 2 });
    assert_eq!(collected.json, "{\"to\":\"Oslo\",\"days\":2}");
    assert!(collected.repairs.contains(&Repair::Quotes), "{:?}", collected.repairs);
    assert!(session.recording().unwrap().replay(()).unwrap().result.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_spent_says_what_does_not_fit() {
    let seen = Seen::default();
    let builder = on(&seen, vec![tokens("{\"to\": 7}")]).retry(RetryPolicy { model_retries: 2, ..policy() });
    let mut session = builder.build();
    let error = session.value::<Trip>().await.unwrap_err();
    assert_eq!((seen.opened(), error.code()), (3, ErrorCode::GuardrailViolation));
    assert_eq!(
        error.to_string(),
        "the JSON in the output does not match the requested type: invalid type: integer `7`, expected a string at line 1 \
         column 8 (attempts: 3)"
    );
    assert!(error.source().unwrap().downcast_ref::<serde_json::Error>().is_some());
    let CollectError::Misfit { misfit: StructuredError::Mismatch { json, .. }, state } = error else {
        panic!()
    };
    assert_eq!((json.as_str(), state.failures.len()), ("{\"to\": 7}", 3));
    assert!(session.result().unwrap().is_err(), "such an output is never reported as success");

    // The same question again gets the same answer: the session is over.
    let again = session.value::<Value>().await.unwrap_err();
    assert!(matches!(again, CollectError::Session(error) if error.code() == ErrorCode::GuardrailViolation));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_is_asked_when_the_budget_is_spent() {
    let (primary, other) = (Seen::default(), Seen::default());
    let builder = on(&primary, vec![tokens("no JSON")])
        .fallback(scripted(&other, vec![tokens("none here"), tokens(GOOD)]))
        .retry(RetryPolicy { model_retries: 1, ..policy() });
    let collected = builder.build().collect::<Trip>().await.unwrap();
    assert_eq!((collected.value.days, primary.opened(), other.opened()), (2, 2, 2), "with a fresh budget");

    let whole = drive(trip(
        session(vec![tokens("no JSON")])
            .fallback(scripted(&other, vec![tokens("none")]))
            .retry(RetryPolicy::none()),
    ))
    .await;
    assert_eq!(
        whole.code(),
        Some(ErrorCode::GuardrailViolation),
        "its code is kept when all streams fail (C3)"
    );
}

#[tokio::test(start_paused = true)]
async fn continuation_drops_an_output_that_does_not_fit() {
    let attempts = vec![tokens("{\"to\": \"Oslo\", \"days\": 0}"), tokens(GOOD)];
    let seen = Seen::default();
    let whole = drive(trip(on(&seen, attempts)).continuation(every(1))).await;
    assert_eq!(whole.text, GOOD);
    let rejected = whole.events.iter().find_map(|event| match &event.kind {
        EventKind::CheckpointRejected { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    assert_eq!(
        rejected,
        Some(
            "it is the beginning of an output that failed: structured: the JSON in the output is refused: no days"
        )
    );
    assert_eq!(seen.openings.lock().unwrap()[1].checkpoint, None);

    // What was cut is gone on from, and a later misfit is of the whole.
    let cut = vec![then(tokens("{\"to\": "), &[Step::Throw(ErrorKind::Network)]), tokens("7}"), tokens(GOOD)];
    let whole = drive(trip(session(cut)).continuation(every(1))).await;
    assert_eq!(whole.text, GOOD);
    let names = whole.names();
    assert_eq!(names.iter().filter(|name| **name == "RESUME_START").count(), 1);
    assert_eq!(names.iter().filter(|name| **name == "CHECKPOINT_REJECTED").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn other_failures_are_the_sessions_own() {
    let fatal = vec![tokens("no JSON"), then(tokens(GOOD), &[Step::Throw(ErrorKind::Fatal)])];
    let error = session(fatal).build().collect::<Trip>().await.unwrap_err();
    assert!(matches!(&error, CollectError::Session(session) if session.state.failures.len() == 2), "{error}");
    assert_eq!(error.code(), ErrorCode::InvalidStream);

    let ruled = session(vec![tokens(GOOD)]).guardrail(no("Oslo")).retry(RetryPolicy::none());
    let error = ruled.build().collect::<Trip>().await.unwrap_err();
    assert_eq!(error.to_string(), "GUARDRAIL_VIOLATION: no-word: it was said (at byte 8)");

    let empty = session(vec![vec![]]).retry(RetryPolicy::none()).build().collect::<Trip>().await.unwrap_err();
    assert_eq!(empty.code(), ErrorCode::ZeroOutput);
}

#[tokio::test(start_paused = true)]
async fn dropped_collection_continues_and_a_late_one_reads_the_value() {
    let attempts = vec![then(tokens("no "), &[Step::Wait(50)]), then(tokens(GOOD), &[Step::Wait(50)])];
    let mut session = session(attempts).callbacks(Notes::default()).build();
    let mut dropped = 0;
    let trip = loop {
        match tokio::time::timeout(std::time::Duration::from_millis(7), session.value::<Trip>()).await {
            Ok(collected) => break collected.unwrap().value,
            Err(_) => dropped += 1,
        }
    };
    assert_eq!((trip.days, dropped > 20), (2, true), "{dropped}");
    assert_eq!(session.value::<Trip>().await.unwrap().value, trip);
    assert_eq!(session.value::<Value>().await.unwrap().value["to"], "Oslo");
    let late = session.value::<Vec<u8>>().await.unwrap_err();
    assert!(matches!(late, CollectError::Misfit { misfit: StructuredError::Mismatch { .. }, .. }));
}

#[derive(Debug)]
struct Broken;

impl<'de> Deserialize<'de> for Broken {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        std::panic::resume_unwind(Box::new("cannot read"))
    }
}

#[tokio::test(start_paused = true)]
async fn reading_that_panics_is_a_failure_of_this_side() {
    let error = session(vec![tokens(GOOD)]).build().collect::<Broken>().await.unwrap_err();
    let CollectError::Session(error) = error else { panic!("{error}") };
    assert_eq!((error.failure.kind, error.state.attempts), (ErrorKind::Internal, 1));
}
