//! Behaviours: limits of time and size, and signs of life.

use std::time::Duration;

use futures_util::StreamExt;
use runstate_agent::answer::FinishReason;
use runstate_stream::{ErrorKind, StreamEvent};

use super::server::{Server, Step, head, send};
use super::world::{IMPATIENT, ask, asked, connection, open, opening, text_of};
use super::{Answer, Wire};

/// The events up to the first text. A wire may end the block of the text by an event of its own.
fn begun(wire: &dyn Wire) -> Vec<Step> {
    let answer = Answer::new(FinishReason::Stop).text(&["It begins"]).unfinished();
    let events = wire.events(&answer);
    let texts = events.iter().position(|event| event.contains("It begins")).map_or(events.len(), |at| at + 1);
    [head()].into_iter().chain(events.into_iter().take(texts).map(send)).collect()
}

pub(super) async fn silent_server_is_a_timeout(wire: &dyn Wire) {
    ask(wire, vec![Step::Hang], &asked("hello"), IMPATIENT).await.failed(ErrorKind::Timeout);
    ask(wire, vec![head(), Step::Hang], &asked("hello"), IMPATIENT).await.failed(ErrorKind::Timeout);
}

pub(super) async fn silence_within_an_answer_is_a_timeout(wire: &dyn Wire) {
    let script = begun(wire).into_iter().chain([Step::Hang]).collect();
    let outcome = ask(wire, script, &asked("hello"), IMPATIENT).await;
    outcome.failed(ErrorKind::Timeout);
    assert_eq!(outcome.text(), "It begins");
}

pub(super) async fn heartbeats_do_not_extend_the_limit(wire: &dyn Wire) {
    let beats = Step::Repeat(wire.heartbeat().into_bytes(), Duration::from_millis(10), 1_000);
    let script = begun(wire).into_iter().chain([beats]).collect();
    ask(wire, script, &asked("hello"), IMPATIENT).await.failed(ErrorKind::Timeout);
}

/// Sends bytes after the begin of an answer, and the rest after a sign of life.
async fn shows_life(wire: &dyn Wire, bytes: Vec<u8>) {
    let mut script = begun(wire);
    script.extend([Step::Gate, Step::Send(bytes), Step::Hang]);
    let server = Server::start(vec![script]).await;
    // The limit ends an answer without a sign of life.
    let connection = connection(&server, Duration::from_secs(3));
    let opened = open(wire, &connection, &asked("hello"), opening().await).await;
    let mut stream = opened.unwrap_or_else(|error| panic!("expected a stream, got {error}"));
    let mut events = Vec::new();
    while text_of(&events) != "It begins" {
        match stream.next().await {
            Some(Ok(event)) => events.push(event),
            other => panic!("expected the text, got {other:?} after {events:?}"),
        }
    }
    server.gate.notify_one();
    let next = stream.next().await;
    assert!(
        matches!(next, Some(Ok(StreamEvent::Alive))),
        "expected a sign of life, got {next:?} after {events:?}"
    );
}

pub(super) async fn heartbeat_is_alive(wire: &dyn Wire) {
    shows_life(wire, wire.heartbeat().into_bytes()).await;
}

pub(super) async fn comment_is_alive(wire: &dyn Wire) {
    shows_life(wire, b": still here\n\n".to_vec()).await;
}

pub(super) async fn piece_of_a_long_event_is_alive(wire: &dyn Wire) {
    shows_life(wire, format!("data: {{\"a\": \"{}", "x".repeat(1 << 16)).into_bytes()).await;
}

/// 12 MiB without the end of an event.
pub(super) async fn event_without_an_end_is_refused(wire: &dyn Wire) {
    let piece = Step::Send(vec![b'x'; 1 << 20]);
    let mut script = begun(wire);
    script.push(send("data: {\"a\": \""));
    script.extend(std::iter::repeat_n(piece, 12));
    let outcome = ask(wire, script, &asked("hello"), Duration::from_secs(6)).await;
    outcome.failed(ErrorKind::Model);
}
