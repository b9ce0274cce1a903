//! What servers do that no description has.

use std::time::Duration;

use runstate::agent::{Agent, Input, Io, RunState, run_loop};
use runstate::stream::{ErrorKind, FinishReason, StreamEvent};
use runstate_openai::OpenAiModel;
use serde_json::json;

use crate::server::{Server, answer, chunk, events_head, finish, of, send, text, tokens};

const DONE: &str = "data: [DONE]\n\n";

fn piece(call: &str) -> String {
    chunk(&format!("{{\"delta\":{{\"tool_calls\":[{call}]}}}}"))
}

fn with_reason(piece: &str, reason: &str) -> String {
    piece.replacen("\"delta\"", &format!("\"finish_reason\":\"{reason}\",\"delta\""), 1)
}

/// Some give a reason with each chunk, or before the last calls.
#[tokio::test]
async fn what_follows_the_first_reason_belongs_to_the_answer() {
    let script = with_reason(&text("one "), "stop") + &with_reason(&text("two"), "stop") + DONE;
    assert_eq!(answer(of(vec![events_head(), send(script)]).await), tokens(&["one ", "two"]));
    let call = |index: usize| {
        piece(&format!(r#"{{"index":{index},"id":"c{index}","function":{{"name":"f","arguments":"{{}}"}}}}"#))
    };
    let script = with_reason(&call(0), "tool_calls") + &call(1) + DONE;
    let both = [0, 1].map(|index| StreamEvent::tool_call(format!("c{index}"), "f", json!({})));
    assert_eq!(answer(of(vec![events_head(), send(script)]).await), both);
}

/// Some tell with each chunk how many tokens there were so far.
#[tokio::test]
async fn the_last_count_of_tokens_is_that_of_the_answer() {
    let usage = |output: u32| {
        format!(
            "data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":9,\"completion_tokens\":{output}}}}}\n\n"
        )
    };
    let script = text("a") + &usage(1) + &text("b") + &usage(2) + &finish("stop") + &usage(3) + DONE;
    let (events, failure) = of(vec![events_head(), send(script)]).await;
    assert_eq!(failure, None);
    let told: Vec<_> = events.iter().filter(|event| matches!(event, StreamEvent::Progress(_))).collect();
    let last = StreamEvent::Progress(json!({"usage": {"prompt_tokens": 9, "completion_tokens": 3}}));
    assert_eq!(told, [&last]);
    // Those of an answer that fails were spent as well.
    let (events, failure) = of(vec![events_head(), send(text("a") + &usage(1))]).await;
    assert!(failure.is_some());
    assert!(events.iter().any(|event| matches!(event, StreamEvent::Progress(_))), "{events:?}");
}

/// Some send all that came so far beside the piece.
#[tokio::test]
async fn a_piece_counts_and_what_stands_beside_it_does_not() {
    let both = |delta: &str, message: &str| {
        chunk(&format!("{{\"message\":{{\"content\":\"{message}\"}},\"delta\":{{\"content\":\"{delta}\"}}}}"))
    };
    let script = both("a", "a") + &both("b", "ab") + &finish("stop") + DONE;
    assert_eq!(answer(of(vec![events_head(), send(script)]).await), tokens(&["a", "b"]));
}

/// Some give each piece of one call an id of its own.
#[tokio::test]
async fn a_piece_without_a_name_stays_with_the_call_of_its_index() {
    let script = piece(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#)
        + &piece(r#"{"index":0,"id":"b","function":{"arguments":"}"}}"#)
        + &finish("tool_calls")
        + DONE;
    let call = StreamEvent::tool_call("a", "f", json!({}));
    assert_eq!(answer(of(vec![events_head(), send(script)]).await), [call]);
}

#[tokio::test]
async fn an_error_that_is_the_event_itself_is_one() {
    for (event, reason) in [
        (r#"{"object":"error","message":"out of memory","code":500}"#, "the server reports: out of memory"),
        (r#"{"text":"half","error_code":50001,"message":"busy"}"#, "the server reports: busy"),
        (r#"{"detail":"no such model"}"#, "the server reports: no such model"),
    ] {
        let script = text("half") + &format!("data: {event}\n\n") + DONE;
        let (_, failure) = of(vec![events_head(), send(script)]).await;
        assert_eq!(failure.expect(event).message(), reason);
    }
}

/// The text before it is then not gone on from, as behind a finish that says so.
#[tokio::test]
async fn a_filter_that_stops_an_answer_by_an_error_is_a_finish() {
    let script = text("half") + "data: {\"error\":{\"code\":\"content_filter\",\"message\":\"no\"}}\n\n";
    let (events, failure) = of(vec![events_head(), send(script)]).await;
    assert_eq!(failure, None);
    assert!(events.contains(&StreamEvent::Finish(FinishReason::ContentFilter)), "{events:?}");
}

#[tokio::test]
async fn words_of_other_servers_for_a_cut_or_broken_answer_are_known() {
    for word in ["length", "max_tokens", "MAX_TOKENS", "model_length"] {
        let (events, _) = of(vec![events_head(), send(text("a") + &finish(word) + DONE)]).await;
        assert!(events.contains(&StreamEvent::Finish(FinishReason::Length)), "{word}: {events:?}");
    }
    for word in ["error", "abort", "insufficient_system_resource"] {
        let (_, failure) = of(vec![events_head(), send(text("a") + &finish(word) + DONE)]).await;
        let failure = failure.expect(word);
        assert_eq!(failure.kind(), ErrorKind::ServerError);
        assert!(failure.message().contains(word), "{failure}");
    }
}

#[tokio::test]
async fn the_status_of_a_refusal_counts_whatever_its_encoding() {
    let head = "HTTP/1.1 503 Service Unavailable\r\nContent-Encoding: gzip\r\nRetry-After: 2\r\nContent-Length: 3\r\n\r\nabc";
    let failure = of(vec![send(head)]).await.1.unwrap();
    assert_eq!(
        (failure.kind(), failure.retry_after()),
        (ErrorKind::ServerError, Some(Duration::from_secs(2)))
    );
}

/// A run with a model that has no session around it.
async fn run(script: String) -> (RunState, Option<String>) {
    let server = Server::start(vec![vec![events_head(), send(script)]]).await;
    let agent = Agent::builder(OpenAiModel::new(server.client(), "m")).build().unwrap();
    let mut state = RunState::new("r1");
    let ended = run_loop(&agent, &mut state, Input::message("go"), Io::default()).await;
    (state, ended.err().map(|error| error.to_string()))
}

#[tokio::test]
async fn without_a_session_a_cut_answer_fails_the_run_and_one_without_a_reason_does_not() {
    let (state, error) = run(text("fi") + &finish("length") + DONE).await;
    let told = format!("{error:?} {:?}", state.run());
    assert!(told.contains("cut at its limit on length"), "{told}");
    let (state, error) = run(text("all") + DONE).await;
    assert_eq!(error, None);
    assert!(format!("{:?}", state.run()).contains("NaturalEnd"), "{:?}", state.run());
}
