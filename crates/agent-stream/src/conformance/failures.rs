//! Behaviours: answers that fail.

use std::time::Duration;

use runstate_agent::answer::FinishReason;
use runstate_stream::{ErrorKind, StreamEvent};

use super::server::{Server, Step, head, response, send};
use super::world::{PATIENT, ask, asked, connection, open, opening, read, stream_of};
use super::{Answer, Wire};

fn plain() -> Answer {
    Answer::new(FinishReason::Stop).text(&["Half an ", "answer"])
}

fn unfinished(wire: &dyn Wire) -> Vec<String> {
    wire.events(&plain().unfinished())
}

fn is_complete(events: &[StreamEvent]) -> bool {
    events.contains(&StreamEvent::Complete)
}

pub(super) async fn answer_without_an_end_is_a_network_failure(wire: &dyn Wire) {
    let outcome = stream_of(wire, unfinished(wire)).await;
    outcome.failed(ErrorKind::Network);
    assert!(outcome.text().starts_with("Half an "), "{:?}", outcome.events);
    assert!(!is_complete(&outcome.events));
    let nothing = stream_of(wire, Vec::new()).await;
    nothing.failed(ErrorKind::Network);
}

pub(super) async fn answer_cut_within_an_event_is_a_network_failure(wire: &dyn Wire) {
    let mut events = unfinished(wire);
    let last = events.pop().unwrap_or_default();
    // The cut is within the data.
    events.push(last.trim_end()[..last.trim_end().len() - 3].to_owned());
    let outcome = stream_of(wire, events).await;
    let kind = outcome.failure.as_ref().map(|failure| failure.kind());
    // A half event counts as a cut, or as malformed. Both are retried.
    assert!(matches!(kind, Some(ErrorKind::Network | ErrorKind::Model)), "{outcome:?}");
}

pub(super) async fn reset_connection_is_a_network_failure(wire: &dyn Wire) {
    let events = unfinished(wire).into_iter().map(send);
    let script = [head()].into_iter().chain(events).chain([Step::Reset]).collect();
    ask(wire, script, &asked("hello"), PATIENT).await.failed(ErrorKind::Network);
}

pub(super) async fn error_within_an_answer_ends_it(wire: &dyn Wire) {
    let mut events = unfinished(wire);
    events.push(wire.error_event("the servers are full"));
    events.extend(wire.events(&plain()));
    let outcome = stream_of(wire, events).await;
    let failure = outcome.failed(ErrorKind::ServerError);
    assert!(failure.message().contains("the servers are full"), "{failure}");
    assert_eq!(outcome.text(), "Half an answer");
    assert!(!is_complete(&outcome.events));
}

async fn refusal(wire: &dyn Wire, status: u16, more: &str, kind: ErrorKind) -> Option<Duration> {
    let body = wire.error_body(status, "it cannot be done");
    let script = response(status, more, "application/json", &body);
    let outcome = ask(wire, script, &asked("hello"), PATIENT).await;
    let failure = outcome.failed(kind);
    assert!(failure.message().contains(&status.to_string()), "{status}: {failure}");
    assert!(failure.message().contains("it cannot be done"), "{status}: {failure}");
    failure.retry_after()
}

pub(super) async fn refused_requests_are_fatal(wire: &dyn Wire) {
    for status in [400, 401, 403, 404, 413, 422] {
        refusal(wire, status, "", ErrorKind::Fatal).await;
    }
}

pub(super) async fn rate_limit_has_its_wait(wire: &dyn Wire) {
    assert_eq!(refusal(wire, 429, "", ErrorKind::RateLimit).await, None);
    let wait = refusal(wire, 429, "Retry-After: 7\r\n", ErrorKind::RateLimit).await;
    assert_eq!(wait, Some(Duration::from_secs(7)));
    let wait = refusal(wire, 503, "Retry-After: 2\r\n", ErrorKind::ServerError).await;
    assert_eq!(wait, Some(Duration::from_secs(2)));
}

pub(super) async fn failures_of_the_server_are_its_own(wire: &dyn Wire) {
    for status in [500, 502, 503, 529] {
        refusal(wire, status, "", ErrorKind::ServerError).await;
    }
}

pub(super) async fn absent_server_is_a_network_failure(wire: &dyn Wire) {
    let server = Server::start(Vec::new()).await;
    let connection = connection(&server, PATIENT);
    // The port is closed with the server.
    server.requests().await;
    let opened = open(wire, &connection, &asked("hello"), opening().await).await;
    let (_, failure) = read(opened).await;
    assert_eq!(failure.as_ref().map(|failure| failure.kind()), Some(ErrorKind::Network), "{failure:?}");
}

/// Sends this event between the text and the end of an answer.
async fn with_an_event(wire: &dyn Wire, event: Vec<u8>) {
    let (begun, whole) = (unfinished(wire), wire.events(&plain()));
    let mut script: Vec<Step> = [head()].into_iter().chain(begun.iter().cloned().map(send)).collect();
    script.push(Step::Send(event));
    script.extend(whole.into_iter().skip(begun.len()).map(send));
    let outcome = ask(wire, script, &asked("hello"), PATIENT).await;
    assert!(outcome.failure.is_some() && !is_complete(&outcome.events), "{:?}", outcome.events);
}

pub(super) async fn malformed_event_is_a_failure(wire: &dyn Wire) {
    with_an_event(wire, b"event: message\ndata: {\"type\": \"half\n\n".to_vec()).await;
}

pub(super) async fn text_that_is_not_utf8_is_a_failure(wire: &dyn Wire) {
    with_an_event(wire, b"event: message\ndata: \"\xff\xfe\"\n\n".to_vec()).await;
}

pub(super) async fn page_is_a_failure(wire: &dyn Wire) {
    let page = "<html><body>Please log in.</body></html>";
    let outcome = ask(wire, response(200, "", "text/html", page), &asked("hello"), PATIENT).await;
    assert!(outcome.failure.is_some() && !is_complete(&outcome.events), "{:?}", outcome.events);
}
