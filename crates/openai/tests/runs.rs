//! Agent runs whose model calls are sessions with a server.

use std::time::Duration;

use runstate::agent::answer::Usage;
use runstate::agent::{Agent, Input, Io, RunState, run_loop};
use runstate::session_model::SessionModel;
use runstate::stream::guardrail::{Patterns, Severity};
use runstate::stream::{Backoff, Continuation, RetryPolicy, Session, StreamEvent, Timeouts};
use runstate::termination::TerminationReason;
use runstate_openai::{Chat, OpenAiModel, usage};
use serde_json::{Value, json};

use crate::server::{Act, Server, answer_to, events_head, finish, send, text};

#[tokio::test]
async fn a_cut_answer_is_asked_for_again_and_the_run_does_not_notice() {
    let used = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n";
    let server = Server::start(vec![
        vec![events_head(), send(text("It rains ")), send(text("in Os")), send(used), Act::Cut],
        vec![events_head(), send(text("rains in Oslo.")), send(finish("stop")), send(used)],
    ])
    .await;
    let asked = OpenAiModel::new(server.client(), "m");
    let model = SessionModel::new(move |request| {
        let policy =
            RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(1)), ..RetryPolicy::default() };
        Session::builder("stream_1", asked.source(request))
            .retry(policy)
            .continuation(
                Continuation::every(std::num::NonZeroU32::MIN).validate(|text, _| text.ends_with(' ')),
            )
            .require_complete()
    });
    let agent = Agent::builder(model.progress(usage)).build().unwrap();
    let mut state = RunState::new("r1");
    let outcome = run_loop(&agent, &mut state, Input::message("How is it?"), Io::new()).await.unwrap();
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(state.thread().last_answer().unwrap().text, "rains in Oslo.", "its checkpoint was refused");
    assert_eq!(state.usage(), Usage { input_tokens: 18, output_tokens: 8 });
    assert_eq!(server.requests().await.len(), 2);
}

/// The model reads why, and gives the call again.
#[tokio::test]
async fn unreadable_arguments_and_doubled_ids_fail_their_calls_and_not_the_run() {
    let calls =
        |pieces: &str| send(crate::server::chunk(&format!("{{\"delta\":{{\"tool_calls\":[{pieces}]}}}}")));
    let server = Server::start(vec![
        vec![
            events_head(),
            calls(r#"{"index":0,"id":"c","function":{"name":"read","arguments":"{\"path\": "}}"#),
            calls(r#"{"index":1,"id":"d","function":{"name":"read","arguments":"{}"}},{"index":2,"id":"d","function":{"name":"read","arguments":"{}"}}"#),
            send(finish("tool_calls")),
        ],
        vec![events_head(), send(text("done")), send(finish("stop"))],
    ])
    .await;
    let agent = Agent::builder(OpenAiModel::new(server.client(), "m")).build().unwrap();
    let mut state = RunState::new("r1");
    let outcome = run_loop(&agent, &mut state, Input::message("go"), Io::new()).await.unwrap();
    assert_eq!((outcome.reason, state.calls().count()), (TerminationReason::NaturalEnd, 3));
    let requests = server.requests().await;
    let body: Value = serde_json::from_str(requests[1].split_once("\r\n\r\n").unwrap().1).unwrap();
    let results: Vec<_> =
        body["messages"].as_array().unwrap().iter().filter(|one| one["role"] == "tool").collect();
    assert_eq!(results.len(), 3, "{body}");
    assert!(results[0]["content"].as_str().unwrap().contains("JSON"), "{body}");
    assert_eq!(body["messages"][1]["tool_calls"][0]["function"]["arguments"], "{\"path\": ");
}

#[tokio::test]
async fn what_goes_on_from_a_checkpoint_is_asked_with_it() {
    let server = Server::start(vec![
        vec![events_head(), send(text("It rains ")), Act::Cut],
        vec![events_head(), send(text("in Oslo.")), send(finish("stop"))],
    ])
    .await;
    let asked = OpenAiModel::new(server.client(), "m");
    let model = SessionModel::new(move |request| {
        let policy =
            RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(1)), ..RetryPolicy::default() };
        let resumes = Continuation::every(std::num::NonZeroU32::MIN).prompt(|_| "Go on.".to_owned());
        Session::builder("stream_1", asked.source(request)).retry(policy).continuation(resumes)
    });
    let agent = Agent::builder(model).build().unwrap();
    let mut state = RunState::new("r1");
    run_loop(&agent, &mut state, Input::message("How is it?"), Io::new()).await.unwrap();
    assert_eq!(state.thread().last_answer().unwrap().text, "It rains in Oslo.");
    let requests = server.requests().await;
    let body: Value = serde_json::from_str(requests[1].split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(
        body["messages"],
        json!([
            { "role": "user", "content": "How is it?" },
            { "role": "assistant", "content": "It rains " },
            { "role": "user", "content": "Go on." },
        ])
    );
}

/// Two answers of a model that signs its thinking: one with a call, and one that ends the run.
fn signed() -> Vec<Vec<Act>> {
    let head = r#"{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"I "}],"annotations":[]}}"#;
    let more = r#"{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"EjQK"}]}}"#;
    let call = r#"{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"AbC="}}}]}}"#;
    vec![
        vec![
            events_head(),
            send(crate::server::chunk(head)),
            send(crate::server::chunk(more)),
            send(crate::server::chunk(call)),
            send(finish("tool_calls")),
        ],
        vec![events_head(), send(text("done")), send(finish("stop"))],
    ]
}

fn assert_signed(requests: &[String]) {
    let body: Value =
        serde_json::from_str(requests.last().unwrap().split_once("\r\n\r\n").unwrap().1).unwrap();
    let answer = &body["messages"][1];
    assert_eq!(
        answer["reasoning_details"],
        json!([{ "type": "reasoning.text", "text": "I " }, { "type": "reasoning.encrypted", "data": "EjQK" }])
    );
    assert_eq!(
        answer["tool_calls"][0]["extra_content"],
        json!({ "google": { "thought_signature": "AbC=" } })
    );
    assert!(answer.get("annotations").is_none(), "a field that was not asked for is not sent: {answer}");
}

#[tokio::test]
async fn the_providers_own_data_comes_back_with_the_next_request() {
    let server = Server::start(signed()).await;
    let agent = Agent::builder(OpenAiModel::new(server.client(), "m")).build().unwrap();
    let mut state = RunState::new("r1");
    run_loop(&agent, &mut state, Input::message("go"), Io::new()).await.unwrap();
    assert_signed(&server.requests().await);
    // It survives storage.
    let stored = runstate::agent::StoredRun::of(&state).unwrap().to_json();
    let restored = runstate::agent::StoredRun::from_json(stored.as_bytes()).unwrap().restore().unwrap();
    let Some(runstate::agent::Message::Assistant(turn)) = restored.history().get(1) else { panic!() };
    assert_eq!(turn.extra.fields()["reasoning_details"][1]["data"], "EjQK");
    assert_eq!(turn.calls[0].extra.fields()["extra_content"]["google"]["thought_signature"], "AbC=");
}

#[tokio::test]
async fn kept_fields_are_neither_empty_nor_doubled_nor_endless() {
    let piece = |arguments: &str| {
        let call = format!(
            r#"{{"index":0,"id":"c","function":{{"name":"read","arguments":"{arguments}"}},"extra_content":{{"google":{{"thought_signature":"AbC="}}}}}}"#
        );
        send(crate::server::chunk(&format!(
            r#"{{"delta":{{"reasoning_details":[],"tool_calls":[{call}]}}}}"#
        )))
    };
    let script = vec![events_head(), piece("{"), piece("}"), send(finish("tool_calls"))];
    let chat = || Chat::new("m").user("go").keep("reasoning_details").keep("extra_content");
    let server = Server::start(vec![script]).await;
    let (events, failure) = answer_to(&server.client(), chat()).await;
    assert!(failure.is_none(), "{failure:?}");
    assert!(!events.iter().any(|event| matches!(event, StreamEvent::Extra(_))), "{events:?}");
    let call = events.iter().find_map(|event| match event {
        StreamEvent::ToolCall(call) => Some(call),
        _ => None,
    });
    assert_eq!(
        call.unwrap().extra.fields()["extra_content"],
        json!({"google": {"thought_signature": "AbC="}})
    );

    let block = format!(r#"{{"delta":{{"reasoning_details":["{}"]}}}}"#, "x".repeat(1 << 20));
    let script = [vec![events_head()], vec![send(crate::server::chunk(&block)); 9]].concat();
    let server = Server::start(vec![script]).await;
    let (_, failure) = answer_to(&server.client(), chat()).await;
    assert_eq!(
        failure.unwrap().message(),
        "the kept fields of an answer (reasoning_details, extra_content) are longer than 8388608 bytes"
    );
}

#[tokio::test]
async fn of_a_session_the_data_of_the_attempt_that_passed_counts() {
    let lost = r#"{"delta":{"content":"well","reasoning_details":[{"data":"of an attempt that failed"}]}}"#;
    let mut scripts = vec![vec![events_head(), send(crate::server::chunk(lost)), Act::Cut]];
    scripts.extend(signed());
    let server = Server::start(scripts).await;
    let asked = OpenAiModel::new(server.client(), "m");
    let model = SessionModel::new(move |request| {
        let policy =
            RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(1)), ..RetryPolicy::default() };
        Session::builder("stream_1", asked.source(request)).retry(policy)
    });
    let agent = Agent::builder(model).build().unwrap();
    let mut state = RunState::new("r1");
    run_loop(&agent, &mut state, Input::message("go"), Io::new()).await.unwrap();
    assert_signed(&server.requests().await);
}

/// Each kind of failure over the wire, as the run of an agent sees it: how often the server is asked, and how the run ends.
#[tokio::test]
async fn each_kind_of_failure_ends_or_is_asked_again() {
    let good = || vec![events_head(), send(text("fine")), send(finish("stop"))];
    let status = |head: &str, body: &str| {
        let length = body.len();
        vec![send(format!(
            "HTTP/1.1 {head}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))]
    };
    let error = r#"{"error":{"message":"so it is"}}"#;
    let cases: Vec<(&str, Vec<Act>, bool)> = vec![
        ("a cut", vec![events_head(), send(text("fi")), Act::Cut], true),
        ("an end without a finish", vec![events_head(), send(text("fi"))], true),
        ("silence", vec![events_head(), send(text("fi")), Act::Hang], true),
        ("overload", status("503 Service Unavailable", error), true),
        ("a limit on requests", status("429 Too Many Requests", error), true),
        ("an error of the server", status("500 Internal Server Error", error), true),
        ("no answer", vec![events_head(), send(finish("stop"))], true),
        (
            "reasoning alone",
            vec![
                events_head(),
                send(crate::server::chunk(r#"{"delta":{"reasoning_content":"hm"}}"#)),
                send(finish("stop")),
            ],
            true,
        ),
        ("a filter", vec![events_head(), send(text("fi")), send(finish("content_filter"))], true),
        ("no chunk", vec![events_head(), send("data: <html>\n\n")], true),
        ("a rule", vec![events_head(), send(text("never fine")), send(finish("stop"))], true),
        ("a wrong key", status("401 Unauthorized", error), false),
        ("a bad request", status("400 Bad Request", error), false),
        (
            "a cut at the limit on length",
            vec![events_head(), send(text("fi")), send(finish("length"))],
            false,
        ),
        (
            "an encoding",
            vec![send("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}")],
            false,
        ),
    ];
    for (kind, script, again) in cases {
        let scripts = if again { vec![script, good()] } else { vec![script] };
        let server = Server::start(scripts).await;
        let asked = OpenAiModel::new(server.client(), "m");
        let model = SessionModel::new(move |request| {
            let policy =
                RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(1)), ..RetryPolicy::default() };
            let timeouts = Timeouts { inter: Some(Duration::from_millis(300)), ..Timeouts::default() };
            let rule = Patterns::new().category("never", Severity::Error, ["never"]);
            Session::builder("stream_1", asked.source(request))
                .retry(policy)
                .timeouts(timeouts)
                .guardrail(rule)
        });
        let agent = Agent::builder(model).build().unwrap();
        let mut state = RunState::new("r1");
        let outcome = run_loop(&agent, &mut state, Input::message("go"), Io::new()).await.unwrap();
        match outcome.reason {
            TerminationReason::NaturalEnd if again => {
                assert_eq!(state.thread().last_answer().unwrap().text, "fine", "{kind}");
            }
            TerminationReason::Error(_) if !again => {}
            other => panic!("{kind}: {other}"),
        }
        let asked = server.requests().await.len();
        assert_eq!(asked, if again { 2 } else { 1 }, "{kind}");
    }
}
