//! Behaviours: whole answers.

use runstate_agent::answer::{FinishReason, Usage};
use runstate_stream::StreamEvent;

use super::server::{Step, head, send};
use super::world::{PATIENT, answer_of, ask, asked, bytes_of, stream_of};
use super::{Answer, Wire};

const TEXT: [&str; 3] = ["Grüße ", "from 東京, ", "all is well. 🦀"];

fn plain() -> Answer {
    Answer::new(FinishReason::Stop).text(&TEXT)
}

pub(super) async fn answer_is_read_whole(wire: &dyn Wire) {
    let outcome = answer_of(wire, &plain()).await;
    assert_eq!((outcome.whole(), outcome.text()), (FinishReason::Stop, TEXT.concat()));
    assert_eq!(outcome.calls(), []);
}

async fn split(wire: &dyn Wire, bytes: String) {
    let pieces = bytes.into_bytes().into_iter().map(|byte| Step::Send(vec![byte]));
    let script = [head()].into_iter().chain(pieces).collect();
    let outcome = ask(wire, script, &asked("hello"), PATIENT).await;
    assert_eq!((outcome.whole(), outcome.text()), (FinishReason::ToolCalls, TEXT.concat()));
    assert_eq!(outcome.calls().len(), 1);
}

fn with_a_call() -> Answer {
    Answer::new(FinishReason::ToolCalls).text(&TEXT).call("c1", "weather", &["{\"city\":", "\"Oslo\"}"])
}

pub(super) async fn answer_split_at_each_byte_is_read(wire: &dyn Wire) {
    split(wire, bytes_of(wire, &with_a_call())).await;
}

pub(super) async fn answer_with_crlf_is_read(wire: &dyn Wire) {
    let events = wire.events(&plain()).into_iter().map(|event| event.replace('\n', "\r\n")).collect();
    let outcome = stream_of(wire, events).await;
    assert_eq!((outcome.whole(), outcome.text()), (FinishReason::Stop, TEXT.concat()));
}

pub(super) async fn answer_with_crlf_split_at_each_byte_is_read(wire: &dyn Wire) {
    split(wire, bytes_of(wire, &with_a_call()).replace('\n', "\r\n")).await;
}

pub(super) async fn comments_are_no_part_of_an_answer(wire: &dyn Wire) {
    let events = wire.events(&plain()).into_iter().map(|event| format!(": a comment\n\n{event}")).collect();
    let outcome = stream_of(wire, events).await;
    assert_eq!((outcome.whole(), outcome.text()), (FinishReason::Stop, TEXT.concat()));
}

pub(super) async fn reasoning_is_not_text(wire: &dyn Wire) {
    let answer = Answer::new(FinishReason::Stop).reasoning("I must greet.", "EqoBCkg=").text(&["Hello."]);
    let outcome = answer_of(wire, &answer).await;
    assert_eq!((outcome.whole(), outcome.text()), (FinishReason::Stop, "Hello.".to_owned()));
    let thought = outcome.events.iter().filter_map(|event| match event {
        StreamEvent::Reasoning(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(thought.collect::<String>(), "I must greet.");
}

pub(super) async fn tokens_are_counted(wire: &dyn Wire) {
    let usage = Usage { input_tokens: 1_207, output_tokens: 45 };
    let answer = Answer { usage: Some(usage), ..plain() };
    let outcome = answer_of(wire, &answer).await;
    outcome.whole();
    let counted = outcome.events.iter().filter_map(|event| match event {
        StreamEvent::Progress(progress) => wire.usage(progress),
        _ => None,
    });
    // A run adds the reports, so each token is reported once.
    assert_eq!(counted.collect::<Vec<_>>(), [usage]);
}

pub(super) async fn finish_reasons_are_typed(wire: &dyn Wire) {
    for reason in [FinishReason::Stop, FinishReason::Length, FinishReason::ContentFilter] {
        let outcome = answer_of(wire, &Answer::new(reason.clone()).text(&["Some text"])).await;
        assert_eq!((outcome.whole(), outcome.text()), (reason, "Some text".to_owned()));
    }
    let sent = [head(), send(bytes_of(wire, &with_a_call()))].to_vec();
    let outcome = ask(wire, sent, &asked("hello"), PATIENT).await;
    assert_eq!(outcome.whole(), FinishReason::ToolCalls);
}
