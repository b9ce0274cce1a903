//! Behaviours: requests, and the data that goes back.

use std::sync::Arc;

use runstate_agent::answer::FinishReason;
use runstate_agent::{InferenceRequest, ToolSpec};
use runstate_stream::ErrorKind;
use serde_json::{Value, json};

use super::server::{Request, Server, head, response, send};
use super::world::{
    KEY, PATIENT, after, answer_of, ask, asked, bytes_of, connection, contains, continuing, open, read,
    stream_of, text_of,
};
use super::{Answer, Wire};

fn done(wire: &dyn Wire) -> String {
    bytes_of(wire, &Answer::new(FinishReason::Stop).text(&["done"]))
}

async fn sent(wire: &dyn Wire, request: &InferenceRequest) -> Request {
    let outcome = ask(wire, vec![head(), send(done(wire))], request, PATIENT).await;
    outcome.whole();
    let mut requests = outcome.requests;
    requests.pop().unwrap_or_else(|| panic!("expected a request"))
}

/// Checks that each text is a part of a text of the body.
fn has_texts(body: &Value, texts: &[&str]) {
    for text in texts {
        assert!(body.to_string().contains(text), "expected {text:?} in the request {body}");
    }
}

pub(super) async fn request_has_all_its_parts(wire: &dyn Wire) {
    let mut request = asked("Which river?").with_system("Answer in one word.");
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let tool = ToolSpec::new("weather", "The weather of a city.").with_schema(schema.clone());
    let without = ToolSpec::new("ring", "Rings.");
    let empty = ToolSpec::new("stop", "Stops.").with_schema(json!({ "type": "object" }));
    request.tools = [tool, without, empty].map(Arc::new).into_iter().collect();
    request.set_parameter("a_parameter_of_the_test", 17);
    let body = sent(wire, &request).await.body;
    has_texts(&body, &["Which river?", "Answer in one word.", "weather", "The weather of a city."]);
    assert!(contains(&body, &schema), "{body}");
    assert_eq!(body["a_parameter_of_the_test"], 17, "{body}");
    assert!(contains(&body, &json!(321)), "expected the limit of tokens in {body}");
}

pub(super) async fn results_go_back_with_their_calls(wire: &dyn Wire) {
    let answer = Answer::new(FinishReason::ToolCalls)
        .text(&["I ask."])
        .call("c1", "weather", &["{\"city\":\"Oslo\"}"])
        .call("c2", "weather", &["{\"city\":\"Bergen\"}"]);
    let turn = answer_of(wire, &answer).await.turn();
    let body = sent(wire, &after(&turn, &["rain at four", "snow at five"])).await.body;
    has_texts(&body, &["hello", "I ask.", "Oslo", "Bergen", "rain at four", "snow at five"]);
    let text = body.to_string();
    let place = |needle: &str| text.find(needle);
    assert!(place("Bergen") < place("rain at four"), "expected the results after the calls: {body}");
    assert!(place("rain at four") < place("snow at five"), "{body}");
}

fn signed() -> Answer {
    Answer::new(FinishReason::ToolCalls)
        .reasoning("I must read. Then I see.", "EqoBCkgIARAB+signed/text==")
        .call("c1", "read", &["{\"path\":\"notes.md\"}"])
}

pub(super) async fn own_data_goes_back_unchanged(wire: &dyn Wire) {
    let answer = signed();
    let turn = answer_of(wire, &answer).await.turn();
    let body = sent(wire, &after(&turn, &["buy milk"])).await.body;
    let kept = wire.kept(&answer);
    assert!(!kept.is_empty(), "expected a value that is kept");
    for value in kept {
        assert!(contains(&body, &value), "expected {value} in the request {body}");
    }
}

pub(super) async fn signature_goes_back(wire: &dyn Wire) {
    let turn = answer_of(wire, &signed()).await.turn();
    let body = sent(wire, &after(&turn, &["buy milk"])).await.body;
    assert!(contains(&body, &json!("EqoBCkgIARAB+signed/text==")), "{body}");
}

pub(super) async fn calls_of_a_request_have_distinct_ids(wire: &dyn Wire) {
    let answer = Answer::new(FinishReason::ToolCalls)
        .call("c/1", "weather", &["{\"city\":\"Oslo\"}"])
        .call("c/1", "weather", &["{\"city\":\"Bergen\"}"])
        .call("c#1", "weather", &["{\"city\":\"Narvik\"}"]);
    let turn = answer_of(wire, &answer).await.turn();
    let mut request = after(&turn, &["rain", "snow", "sun"]);
    // The next answer has the same ids.
    let again = after(&turn, &["fog", "hail", "wind"]);
    request.history.edit().extend(again.history.iter().skip(1).cloned());
    let body = sent(wire, &request).await.body;
    has_texts(&body, &["Oslo", "Bergen", "Narvik", "rain", "snow", "sun", "fog", "hail", "wind"]);
}

pub(super) async fn unreadable_call_goes_back(wire: &dyn Wire) {
    let answer = Answer::new(FinishReason::ToolCalls).call("c1", "weather", &["{\"city\": ", "\"Osl"]);
    let turn = answer_of(wire, &answer).await.turn();
    let body = sent(wire, &after(&turn, &["the arguments cannot be read"])).await.body;
    has_texts(&body, &["Osl", "the arguments cannot be read"]);
}

pub(super) async fn checkpoint_is_sent(wire: &dyn Wire) {
    let server = Server::start(vec![vec![head(), send(done(wire))]]).await;
    let connection = connection(&server, PATIENT);
    let opening = continuing("The first half.").await;
    let (events, failure) = read(open(wire, &connection, &asked("Tell a story."), opening).await).await;
    assert_eq!((failure, text_of(&events)), (None, "done".to_owned()), "{events:?}");
    let body = server.requests().await.remove(0).body;
    has_texts(&body, &["Tell a story.", "The first half."]);
}

pub(super) async fn key_is_sent_and_never_shown(wire: &dyn Wire) {
    let request = sent(wire, &asked("hello")).await;
    assert!(request.head.contains(KEY), "{}", request.head);
    assert!(!request.body.to_string().contains(KEY), "{}", request.body);
    let hidden = |shown: String| assert!(!shown.contains(KEY), "{shown}");

    let echo = format!("wrong key {KEY}");
    let refused = response(401, "", "application/json", &wire.error_body(401, &echo));
    let outcome = ask(wire, refused, &asked("hello"), PATIENT).await;
    outcome.failed(ErrorKind::Fatal);
    hidden(format!("{:?}", outcome.failure));

    // A letter of JSON may be written as an escape.
    let escaped = |text: &str| text.replace(KEY, &KEY.replace('-', "\\u002d"));
    let refused = response(401, "", "application/json", &escaped(&wire.error_body(401, &echo)));
    let outcome = ask(wire, refused, &asked("hello"), PATIENT).await;
    hidden(format!("{:?}", outcome.failed(ErrorKind::Fatal)));
    // A message that is shortened within the key.
    let long = format!("{}{KEY}", "x".repeat(990));
    let refused = response(401, "", "application/json", &wire.error_body(401, &long));
    let outcome = ask(wire, refused, &asked("hello"), PATIENT).await;
    let failure = format!("{:?}", outcome.failed(ErrorKind::Fatal));
    assert!(!failure.contains(&KEY[..8]), "{failure}");
    let outcome = stream_of(wire, vec![escaped(&wire.error_event(&echo))]).await;
    hidden(format!("{:?}", outcome.failure));
    let thought =
        Answer::new(FinishReason::Stop).reasoning(&echo, "EqoBCkgIARAB+signed/text==").text(&["done"]);
    for events in [wire.events(&thought), wire.events(&thought).iter().map(|event| escaped(event)).collect()]
    {
        let outcome = stream_of(wire, events).await;
        hidden(format!("{:?} {:?}", outcome.events, outcome.failure));
    }

    let outcome = stream_of(wire, vec![wire.error_event(&echo)]).await;
    assert!(outcome.failure.is_some(), "{:?}", outcome.events);
    hidden(format!("{:?}", outcome.failure));

    let answer = Answer::new(FinishReason::ToolCalls).text(&[&echo]).call(
        "c1",
        "tell",
        &[&format!("{{\"a\":\"{KEY}\"}}")],
    );
    let outcome = answer_of(wire, &answer).await;
    outcome.whole();
    hidden(format!("{:?}", outcome.events));

    let malformed = stream_of(wire, vec![format!("event: message\ndata: {{{KEY}\n\n")]).await;
    hidden(format!("{:?}", malformed.failure));
}
