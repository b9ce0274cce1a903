//! Answers with parts that only one provider has.

use std::sync::Arc;

use futures_util::StreamExt;
use runstate::turn::{CallRequest, Extra, Turn};
use runstate_agent::{InferenceRequest, Message, ToolSpec};
use runstate_genai::{ConfigError, Genai, GenaiModel, Provider, usage};
use runstate_stream::{ErrorKind, FinishReason, RetryPolicy, Session, SourceError, StreamEvent};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::wires::typed;

/// Asks a server that streams this text. Returns the events, the failure, and the body of the request.
async fn ask(
    provider: Provider,
    stream: String,
    request: &InferenceRequest,
) -> (Vec<StreamEvent>, Option<SourceError>, Value) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut got = Vec::new();
        let body = loop {
            socket.read_buf(&mut got).await.unwrap();
            let text = String::from_utf8_lossy(&got);
            let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
            if let Some(body) = body {
                break body;
            }
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        socket.write_all(format!("{head}{stream}").as_bytes()).await.unwrap();
        body
    });
    let model = GenaiModel::new(Genai::new(provider, &base).unwrap(), "m-1");
    let mut source = model.source(request);
    let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
    // A session alone makes an opening.
    let mut session = Session::builder("odd", move |opening| {
        let (opened, said) = (source(opening), said.clone());
        async move {
            let stream = opened.await?;
            Ok::<_, SourceError>(stream.inspect(move |event| said.send(event.clone()).unwrap()))
        }
    })
    .retry(RetryPolicy::none())
    .allow_zero_output()
    .build();
    let _shown_below = session.run().await;
    drop(session);
    let (mut events, mut failure) = (Vec::new(), None);
    while let Some(event) = heard.recv().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => failure = Some(error),
        }
    }
    (events, failure, served.await.unwrap())
}

fn asked() -> InferenceRequest {
    InferenceRequest::of_message("r1", "hello")
}

fn finish(events: &[StreamEvent]) -> Option<&FinishReason> {
    events.iter().find_map(|event| match event {
        StreamEvent::Finish(reason) => Some(reason),
        _ => None,
    })
}

fn extra(events: &[StreamEvent]) -> Extra {
    let extra = events.iter().find_map(|event| match event {
        StreamEvent::Extra(extra) => Some(extra.clone()),
        _ => None,
    });
    extra.unwrap_or_default()
}

fn data(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn start() -> String {
    let usage = json!({ "input_tokens": 40, "cache_read_input_tokens": 5, "output_tokens": 1 });
    typed(&json!({ "type": "message_start", "message": { "usage": usage } }))
}

#[tokio::test]
async fn encrypted_thinking_of_anthropic_goes_back_in_its_place() {
    let redacted = json!({ "type": "redacted_thinking", "data": "EmwKAhgB" });
    let thinking = json!({ "type": "thinking", "thinking": "I see.", "signature": "EqoB" });
    let mut stream = start();
    for (index, block) in
        [&redacted, &thinking, &json!({ "type": "text", "text": "" })].into_iter().enumerate()
    {
        stream += &typed(&json!({ "type": "content_block_start", "index": index, "content_block": block }));
        if block["type"] == "text" {
            let delta = json!({ "type": "text_delta", "text": "Hi." });
            stream += &typed(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        stream += &typed(&json!({ "type": "content_block_stop", "index": index }));
    }
    stream +=
        &typed(&json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": {} }));
    stream += &typed(&json!({ "type": "message_stop" }));
    let (events, failure, _) = ask(Provider::ANTHROPIC, stream.clone(), &asked()).await;
    assert_eq!(failure, None);
    let turn = Turn { text: "Hi.".to_owned(), calls: vec![], extra: extra(&events) };
    let mut request = asked();
    request.history.edit().extend([Message::Assistant(Arc::new(turn)), Message::User("and?".into())]);
    let (_, _, body) = ask(Provider::ANTHROPIC, stream.clone(), &request).await;
    let text = json!({ "type": "text", "text": "Hi." });
    assert_eq!(body["messages"][1]["content"], json!([redacted, thinking, text]));
    // Another provider gets the text alone.
    let (_, _, body) = ask(Provider::GEMINI, String::new(), &request).await;
    assert_eq!(body["contents"][1]["parts"], json!([{ "text": "Hi." }]));
}

#[tokio::test]
async fn tokens_of_a_cut_answer_are_counted() {
    let (events, failure, _) = ask(Provider::ANTHROPIC, start(), &asked()).await;
    assert_eq!(failure.map(|failure| failure.kind()), Some(ErrorKind::Network));
    let counted = events.iter().find_map(|event| match event {
        StreamEvent::Progress(progress) => usage(progress),
        _ => None,
    });
    assert_eq!(counted.map(|usage| (usage.input_tokens, usage.output_tokens)), Some((45, 1)));
}

#[tokio::test]
async fn blocked_prompt_of_gemini_is_a_filter() {
    let blocked = data(&json!({ "promptFeedback": { "blockReason": "SAFETY" } }));
    let (events, failure, _) = ask(Provider::GEMINI, blocked, &asked()).await;
    assert_eq!((finish(&events), failure), (Some(&FinishReason::ContentFilter), None));
}

#[tokio::test]
async fn malformed_call_of_gemini_is_a_failure_of_the_model() {
    let end = data(&json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL" }] }));
    let (events, failure, _) = ask(Provider::GEMINI, end, &asked()).await;
    assert_eq!((finish(&events), failure.unwrap().kind()), (None, ErrorKind::Model));
}

#[tokio::test]
async fn signature_of_a_text_of_gemini_goes_back() {
    let part = json!({ "text": "Hi.", "thoughtSignature": "EqoB" });
    let end = data(&json!({ "candidates": [{ "content": { "parts": [part] }, "finishReason": "STOP" }] }));
    let (events, _, _) = ask(Provider::GEMINI, end.clone(), &asked()).await;
    let turn = Turn { text: "Hi.".to_owned(), calls: vec![], extra: extra(&events) };
    let mut request = asked();
    request.history.edit().extend([Message::Assistant(Arc::new(turn)), Message::User("and?".into())]);
    let (_, _, body) = ask(Provider::GEMINI, end, &request).await;
    assert_eq!(body["contents"][1]["parts"], json!([part]));
}

#[tokio::test]
async fn ids_of_calls_are_new_in_each_answer() {
    let part = json!({ "functionCall": { "name": "read", "args": {} } });
    let end = data(&json!({ "candidates": [{ "content": { "parts": [part] }, "finishReason": "STOP" }] }));
    let mut request = asked();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let (events, _, _) = ask(Provider::GEMINI, end.clone(), &request).await;
        let call = events.iter().find_map(|event| match event {
            StreamEvent::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        });
        let id = call.unwrap();
        let calls = vec![CallRequest::new(id.as_str(), "read", json!({}))];
        let turn = Turn { text: String::new(), calls, extra: Extra::default() };
        request.history.edit().push(Message::Assistant(Arc::new(turn)));
        ids.push(id);
    }
    assert_eq!(ids, ["call#read#0", "call#read#1", "call#read#2"]);
}

#[tokio::test]
async fn refusal_of_responses_is_told() {
    let refusal = typed(&json!({ "type": "response.refusal.delta", "delta": "I cannot help with that." }));
    let response = json!({ "id": "r", "status": "completed", "model": "m", "output": [] });
    let end = typed(&json!({ "type": "response.completed", "response": response }));
    let (events, failure, _) = ask(Provider::RESPONSES, refusal + &end, &asked()).await;
    let failure = failure.unwrap();
    assert_eq!((finish(&events), failure.kind()), (None, ErrorKind::Model));
    assert_eq!(failure.message(), "the model refuses: I cannot help with that.");
}

#[tokio::test]
async fn failed_response_has_the_kind_of_its_code() {
    let codes = [("rate_limit_exceeded", ErrorKind::RateLimit), ("server_error", ErrorKind::ServerError)];
    for (code, kind) in codes {
        let error = json!({ "code": code, "message": "try later" });
        let response = json!({ "id": "r", "status": "failed", "model": "m", "output": [], "error": error });
        let failed = typed(&json!({ "type": "response.failed", "response": response }));
        let (_, failure, _) = ask(Provider::RESPONSES, failed, &asked()).await;
        let failure = failure.unwrap();
        assert_eq!((failure.kind(), failure.message()), (kind, "the server reports: try later"));
    }
}

#[tokio::test]
async fn filter_that_fails_a_response_is_a_reason() {
    let error = json!({ "code": "content_filter", "message": "filtered" });
    let response = json!({ "id": "r", "status": "failed", "model": "m", "output": [], "error": error });
    let failed = typed(&json!({ "type": "response.failed", "response": response }));
    let (events, failure, _) = ask(Provider::RESPONSES, failed, &asked()).await;
    assert_eq!((finish(&events), failure), (Some(&FinishReason::ContentFilter), None));
}

/// genai would offer the tool of the provider in its place.
#[tokio::test]
async fn tool_with_the_name_of_one_of_the_provider_is_refused() {
    let server = Genai::new(Provider::ANTHROPIC, "http://127.0.0.1:9/v1").unwrap();
    let mut request = asked();
    request.tools = [Arc::new(ToolSpec::new("web_search", "Searches the notes."))].into_iter().collect();
    let source = GenaiModel::new(server, "m-1").source(&request);
    let mut session = Session::builder("taken", source).build();
    let error = session.run().await.unwrap_err();
    assert!(error.to_string().contains("\"web_search\" has the name of a tool of the provider"), "{error}");
}

#[test]
fn unusable_addresses_and_keys_are_refused_and_not_shown() {
    let refused = [
        ("https://me:sk-1@models.example/v1", "it has a user or a password"),
        ("https://models.example/v1?key=sk-1", "it has a query or a fragment"),
        ("https://models.example/v1#sk-1", "it has a query or a fragment"),
        ("ftp://models.example/v1", "neither http nor https"),
        ("https://", "empty host"),
    ];
    for (base, expected) in refused {
        let error = Genai::new(Provider::GEMINI, base).unwrap_err();
        assert!(
            error.to_string().contains(expected) && !error.to_string().contains("sk-1"),
            "{base}: {error}"
        );
    }
    let server = Genai::new(Provider::GEMINI, "https://models.example/v1").unwrap();
    for key in ["", "sk-1\n"] {
        let error = server.clone().with_key(key).unwrap_err();
        assert!(matches!(error, ConfigError::Key) && !error.to_string().contains("sk-1"), "{error}");
    }
    let shown = format!("{:?}", server.with_key("sk-1").unwrap());
    assert!(!shown.contains("sk-1"), "{shown}");
}
