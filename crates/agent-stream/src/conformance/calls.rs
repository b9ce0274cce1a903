//! Behaviours: calls of tools.

use std::collections::BTreeSet;

use runstate_agent::answer::FinishReason;
use runstate_stream::{ErrorKind, StreamEvent};
use serde_json::json;

use super::world::{answer_of, stream_of};
use super::{Answer, Wire};

pub(super) async fn calls_are_whole(wire: &dyn Wire) {
    let answer = Answer::new(FinishReason::ToolCalls)
        .text(&["Let me ", "see."])
        .call("c1", "weather", &["{\"city\"", ":\"Os", "lo\",\"days\":[1,", "2]}"])
        .call("c2", "clock", &["{\"zone\":\"CET\"}"]);
    let outcome = answer_of(wire, &answer).await;
    assert_eq!((outcome.whole(), outcome.text()), (FinishReason::ToolCalls, "Let me see.".to_owned()));
    let calls = outcome.calls();
    let calls: Vec<_> = calls.iter().map(|call| (&*call.id, &*call.tool, &call.arguments)).collect();
    let (first, second) = (json!({ "city": "Oslo", "days": [1, 2] }), json!({ "zone": "CET" }));
    assert_eq!(calls, [("c1", "weather", &first), ("c2", "clock", &second)]);
}

pub(super) async fn calls_with_one_id_stay_two(wire: &dyn Wire) {
    let answer = Answer::new(FinishReason::ToolCalls)
        .call("c1", "weather", &["{\"city\":", "\"Oslo\"}"])
        .call("c1", "weather", &["{\"city\":", "\"Bergen\"}"]);
    let outcome = answer_of(wire, &answer).await;
    outcome.whole();
    let calls = outcome.calls();
    let cities: Vec<_> = calls.iter().map(|call| &call.arguments["city"]).collect();
    assert_eq!(cities, [&json!("Oslo"), &json!("Bergen")]);
}

pub(super) async fn calls_without_ids_get_distinct_ones(wire: &dyn Wire) {
    let answer = Answer::new(FinishReason::ToolCalls).call("", "weather", &["{\"n\":1}"]).call(
        "",
        "weather",
        &["{\"n\":2}"],
    );
    let outcome = answer_of(wire, &answer).await;
    outcome.whole();
    let calls = outcome.calls();
    let ids: BTreeSet<&str> = calls.iter().map(|call| &*call.id).collect();
    assert!(ids.len() == 2 && !ids.contains(""), "{calls:?}");
}

pub(super) async fn call_without_arguments_has_an_empty_object(wire: &dyn Wire) {
    let outcome = answer_of(wire, &Answer::new(FinishReason::ToolCalls).call("c1", "clock", &[])).await;
    outcome.whole();
    let calls = outcome.calls();
    assert_eq!((calls.len(), &calls[0].arguments, &calls[0].unreadable), (1, &json!({}), &None));
}

/// A tool must not act on a guess.
pub(super) async fn call_with_unreadable_arguments_is_told(wire: &dyn Wire) {
    let answer = Answer::new(FinishReason::ToolCalls).call("c1", "weather", &["{\"city\": ", "\"Os"]);
    let outcome = answer_of(wire, &answer).await;
    outcome.whole();
    let calls = outcome.calls();
    assert_eq!(calls.len(), 1, "{:?}", outcome.events);
    assert!(calls[0].unreadable.is_some(), "{:?}", calls[0]);
    assert_eq!(calls[0].arguments, json!("{\"city\": \"Os"));
}

pub(super) async fn cut_call_is_no_call(wire: &dyn Wire) {
    let answer = Answer::new(FinishReason::ToolCalls).text(&["a"]).call("c1", "weather", &["{\"n\":1}"]);
    let outcome = stream_of(wire, wire.events(&answer.unfinished())).await;
    outcome.failed(ErrorKind::Network);
    let called = outcome.events.iter().any(|event| matches!(event, StreamEvent::ToolCall(_)));
    assert!(!called, "{:?}", outcome.events);
}
