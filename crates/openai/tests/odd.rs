//! What servers do that no description has.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use runstate_agent::answer::ModelEvent;
use runstate_agent::{Agent, InferenceRequest, Input, Model, ModelStream, RunHandles, RunState, run_loop};
use runstate_openai::OpenAiModel;
use runstate_stream::{ErrorKind, FinishReason, StreamEvent};
use serde_json::json;

use crate::server::{Act, Server, answer, chunk, events_head, finish, of, send, text, tokens};

const DONE: &str = "data: [DONE]\n\n";

fn piece(call: &str) -> String {
    chunk(&format!("{{\"delta\":{{\"tool_calls\":[{call}]}}}}"))
}

fn with_reason(piece: &str, reason: &str) -> String {
    piece.replacen("\"delta\"", &format!("\"finish_reason\":\"{reason}\",\"delta\""), 1)
}

/// Some give a reason with each chunk, or before the last calls.
#[tokio::test]
async fn output_after_the_first_finish_reason_is_kept() {
    let script = with_reason(&text("one "), "stop") + &with_reason(&text("two"), "stop") + DONE;
    assert_eq!(answer(of(vec![events_head(), send(script)]).await), tokens(&["one ", "two"]));
    let call = |index: usize| {
        piece(&format!(r#"{{"index":{index},"id":"c{index}","function":{{"name":"f","arguments":"{{}}"}}}}"#))
    };
    let script = with_reason(&call(0), "tool_calls") + &call(1) + DONE;
    let both = [0, 1].map(|index| StreamEvent::tool_call(format!("c{index}"), "f", json!({})));
    assert_eq!(answer(of(vec![events_head(), send(script)]).await), both);
}

/// Where a reason came with a piece, or before one, it does not say that the answer is whole.
#[tokio::test]
async fn answer_cut_after_an_early_finish_reason_is_incomplete() {
    let early = || events_head_of(with_reason(&text("one "), "stop"));
    let half = text("two");
    let half = half.split_at(half.len() / 2).0.to_owned();
    for (name, rest) in [("a cut", vec![Act::Cut]), ("half an event", vec![send(half)])] {
        let script = [early(), vec![Act::Pause(Duration::from_millis(30))], rest].concat();
        let (_, error) = of(script).await;
        assert_eq!(error.expect(name).kind(), ErrorKind::Network, "{name}");
    }
    // A pause is none.
    let pause =
        vec![Act::Pause(Duration::from_millis(2_200)), send(with_reason(&text("two"), "stop") + DONE)];
    assert_eq!(answer(of([early(), pause].concat()).await), tokens(&["one ", "two"]));
    // The connection ends well.
    assert_eq!(answer(of(early()).await), tokens(&["one "]));
    // A reason that came last is one, whatever becomes of the connection.
    let last = [
        events_head_of(text("one ") + &finish("stop")),
        vec![Act::Pause(Duration::from_millis(30)), Act::Cut],
    ];
    assert_eq!(answer(of(last.concat()).await), tokens(&["one "]));
}

fn events_head_of(events: String) -> Vec<Act> {
    vec![events_head(), send(events)]
}

#[tokio::test]
async fn an_error_is_one_in_each_form_and_a_zero_is_none() {
    let usage = |more: &str| format!("data: {{\"choices\":[],\"usage\":{{}}{more}}}\n\n");
    for more in ["", ",\"error_code\":0", ",\"detail\":\"\"", ",\"detail\":false"] {
        let script = text("a") + &usage(more) + &finish("stop") + DONE;
        assert_eq!(answer(of(events_head_of(script)).await), tokens(&["a"]), "{more}");
    }
    let json = |body: &str| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        vec![send(head + body)]
    };
    let (_, error) = of(json(r#"{"object":"error","message":"no such model","code":404}"#)).await;
    assert!(error.unwrap().message().contains("no such model"));
    // Each is the filter's, and no text is gone on from.
    let filtered = r#"{"object":"error","message":"filtered","code":"content_filter"}"#;
    for script in [
        events_head_of(text("a") + &format!("event: error\ndata: {filtered}\n\n")),
        events_head_of(text("a") + &format!("data: {filtered}\n\n")),
        json(filtered),
    ] {
        let (events, error) = of(script).await;
        assert_eq!(error, None);
        assert!(events.contains(&StreamEvent::Finish(FinishReason::ContentFilter)), "{events:?}");
    }
}

/// Reads each answer to its end, as a run does not, and counts the finishes behind an error.
struct Heard(OpenAiModel, Arc<AtomicUsize>);

impl Model for Heard {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let heard = async move {
            let events: Vec<ModelEvent> = self.0.infer(request).collect().await;
            let broken = events.iter().skip_while(|event| !matches!(event, ModelEvent::Error(_)));
            let late = broken.filter(|event| matches!(event, ModelEvent::Finish(_))).count();
            self.1.fetch_add(late, Ordering::Relaxed);
            stream::iter(events)
        };
        Box::pin(stream::once(heard).flatten())
    }
}

#[tokio::test]
async fn a_model_gives_no_finish_behind_an_error() {
    for reason in ["length", "content_filter"] {
        let server = Server::start(vec![events_head_of(text("a") + &finish(reason) + DONE)]).await;
        let late = Arc::new(AtomicUsize::new(0));
        let model = Heard(OpenAiModel::new(server.client(), "m"), Arc::clone(&late));
        let agent = Agent::builder(model).build().unwrap();
        run_loop(&agent, &mut RunState::new("r1"), Input::message("go"), RunHandles::new()).await.unwrap();
        assert_eq!(late.load(Ordering::Relaxed), 0, "{reason}");
    }
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
    let length = [
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "max_output_tokens",
        "incomplete",
        "model_length",
        "model_context_window_exceeded",
    ];
    let filter = ["content_filter", "content_filtered", "guardrail_intervened", "sensitive", "SAFETY"];
    let google = [
        "refusal",
        "ERROR_TOXIC",
        "IMAGE_SAFETY",
        "LANGUAGE",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
    ];
    let filter = [&filter[..], &google].concat();
    let broken = [
        "error",
        "ERROR",
        "abort",
        "insufficient_system_resource",
        "network_error",
        "MALFORMED_FUNCTION_CALL",
    ];
    // Some proxies send a reason of their own after the reason of their server.
    for more in [String::new(), finish("stop")] {
        let said = async |word: &str| of(events_head_of(text("a") + &finish(word) + &more + DONE)).await;
        for (words, reason) in
            [(&length[..], FinishReason::Length), (&filter[..], FinishReason::ContentFilter)]
        {
            for word in words {
                let finishes = said(word).await.0;
                let finishes = finishes.iter().filter(|event| matches!(event, StreamEvent::Finish(_)));
                let meant = StreamEvent::Finish(reason.clone());
                assert_eq!(finishes.collect::<Vec<_>>(), [&meant], "{word}, {more:?}");
            }
        }
        for word in broken {
            let failure = said(word).await.1.expect(word);
            assert_eq!(failure.kind(), ErrorKind::ServerError);
            assert!(failure.message().contains(word), "{failure}");
        }
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
    let ended = run_loop(&agent, &mut state, Input::message("go"), RunHandles::default()).await;
    (state, ended.err().map(|error| error.to_string()))
}

#[tokio::test]
async fn length_cut_fails_a_sessionless_run_missing_reason_does_not() {
    let (state, error) = run(text("fi") + &finish("length") + DONE).await;
    let told = format!("{error:?} {:?}", state.run());
    assert!(told.contains("cut at its limit on length"), "{told}");
    let (state, error) = run(text("all") + DONE).await;
    assert_eq!(error, None);
    assert!(format!("{:?}", state.run()).contains("NaturalEnd"), "{:?}", state.run());
}
