//! Agent runs whose model calls are sessions with a server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use runstate::termination::TerminationReason;
use runstate::tool_call::ToolCallStatus;
use runstate::tool_result::ToolResult;
use runstate_agent::answer::Usage;
use runstate_agent::{
    Agent, Input, RunHandles, RunState, Tool, ToolContext, ToolSpec, async_trait, run_loop,
};
use runstate_agent_stream::SessionModel;
use runstate_guardrails::drift::DriftDetector;
use runstate_guardrails::{Guardrail, OutputFacts, Patterns, Severity, Violation};
use runstate_openai::{Chat, OpenAiModel, usage};
use runstate_stream::{
    Backoff, Continuation, ErrorKind, FinishReason, OnFinish, RetryPolicy, Session, StreamEvent, Timeouts,
};
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
    let outcome =
        run_loop(&agent, &mut state, Input::message("How is it?"), RunHandles::new()).await.unwrap();
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(state.thread().last_answer().unwrap().text, "rains in Oslo.", "its checkpoint was refused");
    assert_eq!(state.usage(), Usage { input_tokens: 18, output_tokens: 8 });
    assert_eq!(server.requests().await.len(), 2);
}

/// The model reads why, and gives the call again.
/// Counts its executions.
struct Read(ToolSpec, Arc<Mutex<u32>>);

#[async_trait]
impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &mut ToolContext) -> ToolResult {
        *self.1.lock().unwrap() += 1;
        ToolResult::Success("read".into())
    }
}

#[tokio::test]
async fn bad_arguments_and_duplicate_ids_fail_calls_not_the_run() {
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
    let executions = Arc::new(Mutex::new(0));
    let read = Read(ToolSpec::new("read", "Reads."), Arc::clone(&executions));
    let agent = Agent::builder(OpenAiModel::new(server.client(), "m")).tool(read).build().unwrap();
    let mut state = RunState::new("r1");
    let outcome = run_loop(&agent, &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    let statuses: Vec<_> = state.calls().map(|(_, call)| call.status()).collect();
    assert_eq!(statuses, [ToolCallStatus::Failed, ToolCallStatus::Succeeded, ToolCallStatus::Failed]);
    assert_eq!(*executions.lock().unwrap(), 1, "the first call of the id alone");
    let requests = server.requests().await;
    let body: Value = serde_json::from_str(requests[1].split_once("\r\n\r\n").unwrap().1).unwrap();
    let results: Vec<_> =
        body["messages"].as_array().unwrap().iter().filter(|one| one["role"] == "tool").collect();
    assert_eq!(results.len(), 3, "{body}");
    assert!(results[0]["content"].as_str().unwrap().contains("JSON"), "{body}");
    assert!(results[1]["content"].as_str().unwrap().contains("read"), "{body}");
    assert!(results[2]["content"].as_str().unwrap().contains("the same id"), "{body}");
    assert_eq!(
        body["messages"][1]["tool_calls"][0]["function"]["arguments"],
        "{\"unreadable\":\"{\\\"path\\\": \"}"
    );
}

#[tokio::test]
async fn continuation_request_contains_the_checkpoint() {
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
    run_loop(&agent, &mut state, Input::message("How is it?"), RunHandles::new()).await.unwrap();
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

#[tokio::test]
async fn an_answer_that_was_cut_at_its_length_is_gone_on_from() {
    let server = Server::start(vec![
        vec![events_head(), send(text("It rains ")), send(finish("length"))],
        vec![events_head(), send(text("in Oslo.")), send(finish("stop"))],
    ])
    .await;
    let asked = OpenAiModel::new(server.client(), "m");
    let model = SessionModel::new(move |request| {
        Session::builder("stream_1", asked.source(request))
            .retry(RetryPolicy {
                backoff: Backoff::fixed(Duration::from_millis(1)),
                ..RetryPolicy::default()
            })
            .on_finish(FinishReason::Length, OnFinish::Continue)
    });
    let agent = Agent::builder(model).build().unwrap();
    let mut state = RunState::new("r1");
    run_loop(&agent, &mut state, Input::message("How is it?"), RunHandles::new()).await.unwrap();
    assert_eq!(state.thread().last_answer().unwrap().text, "It rains in Oslo.");
    let messages = body(&server.requests().await[1])["messages"].clone();
    assert_eq!(messages[1], json!({ "role": "assistant", "content": "It rains " }));
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// The arguments of the last call may be incomplete, also where they are JSON.
#[tokio::test]
async fn a_call_of_an_answer_that_was_cut_is_not_executed() {
    let call =
        r#"{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":"{}"}}]}}"#;
    for in_session in [false, true] {
        let cut = vec![events_head(), send(crate::server::chunk(call)), send(finish("length"))];
        let server = Server::start(vec![cut]).await;
        let executions = Arc::new(Mutex::new(0));
        let read = Read(ToolSpec::new("read", "Reads."), Arc::clone(&executions));
        let asked = OpenAiModel::new(server.client(), "m");
        let agent = if in_session {
            Agent::builder(SessionModel::new(move |request| {
                Session::builder("stream_1", asked.source(request))
            }))
        } else {
            Agent::builder(asked)
        };
        let mut state = RunState::new("r1");
        let agent = agent.tool(read).build().unwrap();
        let outcome = run_loop(&agent, &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
        let TerminationReason::Error(why) = &outcome.reason else { panic!("{outcome:?}") };
        assert!(why.contains("cut at its limit on length"), "{why}");
        assert_eq!((*executions.lock().unwrap(), state.calls().count()), (0, 0));
    }
}

/// Ids of calls that are numbers are texts here, and in the next request.
#[tokio::test]
async fn ids_that_are_numbers_come_back_with_their_results() {
    let call = r#"{"delta":{"tool_calls":[{"index":0,"id":7,"function":{"name":"read","arguments":"{}"}}]}}"#;
    let server = Server::start(vec![
        vec![events_head(), send(crate::server::chunk(call)), send(finish("tool_calls"))],
        vec![events_head(), send(text("done")), send(finish("stop"))],
    ])
    .await;
    let read = Read(ToolSpec::new("read", "Reads."), Arc::default());
    let agent = Agent::builder(OpenAiModel::new(server.client(), "m")).tool(read).build().unwrap();
    let mut state = RunState::new("r1");
    run_loop(&agent, &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
    let messages = body(&server.requests().await[1])["messages"].clone();
    assert_eq!(
        (&messages[1]["tool_calls"][0]["id"], &messages[2]["tool_call_id"]),
        (&"7".into(), &"7".into())
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
    run_loop(&agent, &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
    assert_signed(&server.requests().await);
    // It survives storage.
    let stored = runstate_agent::StoredRun::of(&state).unwrap().to_json();
    let restored = runstate_agent::StoredRun::from_json(stored.as_bytes()).unwrap().restore().unwrap();
    let Some(runstate_agent::Message::Assistant(turn)) = restored.history().get(1) else { panic!() };
    assert_eq!(turn.extra.fields()["reasoning_details"][1]["data"], "EjQK");
    assert_eq!(turn.calls[0].extra.fields()["extra_content"]["google"]["thought_signature"], "AbC=");
}

/// A later process that continues the thread sends the provider's data back unchanged.
#[tokio::test]
async fn the_providers_own_data_comes_back_behind_a_restart() {
    let mut scripts = signed();
    scripts.push(vec![events_head(), send(text("more")), send(finish("stop"))]);
    let server = Server::start(scripts).await;
    let agent = || Agent::builder(OpenAiModel::new(server.client(), "m")).build().unwrap();
    let mut state = RunState::new("r1");
    run_loop(&agent(), &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
    let stored = runstate_agent::StoredRun::of(&state).unwrap().to_json();
    drop(state);
    let restored = runstate_agent::StoredRun::from_json(stored.as_bytes()).unwrap().restore().unwrap();
    let mut state = RunState::on_thread("r2", restored.into_thread().unwrap());
    run_loop(&agent(), &mut state, Input::message("go on"), RunHandles::new()).await.unwrap();
    assert_eq!(state.thread().last_answer().unwrap().text, "more");
    let requests = server.requests().await;
    assert_eq!(requests.len(), 3);
    assert_signed(&requests);
}

/// A server of another provider may refuse fields that it did not write.
#[tokio::test]
async fn provider_data_is_kept_from_a_server_of_another_provider() {
    let server = Server::start(signed()).await;
    let mut state = RunState::new("r1");
    let agent = Agent::builder(OpenAiModel::new(server.client(), "m")).build().unwrap();
    run_loop(&agent, &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
    let other = Server::start(vec![vec![events_head(), send(text("more")), send(finish("stop"))]]).await;
    let model = OpenAiModel::new(other.client(), "n").keep_only([]);
    let mut state = RunState::on_thread("r2", state.into_thread().unwrap());
    run_loop(&Agent::builder(model).build().unwrap(), &mut state, Input::message("go on"), RunHandles::new())
        .await
        .unwrap();
    let sent = other.requests().await.remove(0);
    assert!(sent.contains("tool_calls"), "{sent}");
    for field in ["reasoning_details", "extra_content", "thought_signature"] {
        assert!(!sent.contains(field), "{sent}");
    }
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
async fn provider_data_of_the_successful_attempt_is_sent_back() {
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
    run_loop(&agent, &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
    assert_signed(&server.requests().await);
}

/// A rule of the caller that cannot read an output.
#[derive(Clone)]
struct Brittle;

impl Guardrail for Brittle {
    fn name(&self) -> &'static str {
        "brittle"
    }

    fn streaming(&mut self, _: &str, content: &str) -> Option<Violation> {
        assert!(!content.contains("fi\u{fffd}"), "a character that the rule does not know");
        None
    }

    fn complete(&mut self, _: &str, _: &OutputFacts) -> Vec<Violation> {
        Vec::new()
    }

    fn reset(&mut self) {}
}

/// The course of a run with a server that fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
    /// The same stream is asked again.
    Again,
    /// The fallback is asked.
    Fallback,
    /// The run ends.
    Ends,
}

/// Each kind of failure, as the run of an agent sees it: how often the server is asked, for which model, and how the run ends.
#[tokio::test]
async fn each_kind_of_failure_ends_or_is_asked_again() {
    use Course::{Again, Ends, Fallback};
    let good = || vec![events_head(), send(text("fine")), send(finish("stop"))];
    let status = |head: &str, body: &str| {
        let length = body.len();
        vec![send(format!(
            "HTTP/1.1 {head}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))]
    };
    let half = |end: Vec<Act>| [vec![events_head(), send(text("fi"))], end].concat();
    let error = r#"{"error":{"message":"so it is"}}"#;
    let timeout = r#"{"error":{"message":"so it is","type":"timeout"}}"#;
    let circle = "and then and then we ".repeat(60);
    let thought = crate::server::chunk(r#"{"delta":{"reasoning_content":"hm"}}"#);
    let cases: Vec<(&str, ErrorKind, Vec<Act>, Course)> = vec![
        ("a cut", ErrorKind::Network, half(vec![Act::Cut]), Again),
        ("an end without a finish", ErrorKind::Network, half(vec![]), Again),
        ("silence", ErrorKind::Timeout, half(vec![Act::Hang]), Again),
        ("silence before the answer", ErrorKind::Timeout, vec![events_head(), Act::Hang], Again),
        ("a request that took too long", ErrorKind::Transient, status("408 Request Timeout", error), Again),
        ("a conflict", ErrorKind::Transient, status("409 Conflict", error), Again),
        ("too early", ErrorKind::Transient, status("425 Too Early", error), Again),
        (
            "a limit of time within the answer",
            ErrorKind::Transient,
            half(vec![send(format!("data: {timeout}\n\n"))]),
            Again,
        ),
        ("overload", ErrorKind::ServerError, status("503 Service Unavailable", error), Again),
        ("a limit on requests", ErrorKind::RateLimit, status("429 Too Many Requests", error), Again),
        ("an error of the server", ErrorKind::ServerError, status("500 Internal Server Error", error), Again),
        ("no answer", ErrorKind::ZeroOutput, vec![events_head(), send(finish("stop"))], Again),
        (
            "reasoning alone",
            ErrorKind::ZeroOutput,
            vec![events_head(), send(thought), send(finish("stop"))],
            Again,
        ),
        ("a filter", ErrorKind::Model, half(vec![send(finish("content_filter"))]), Again),
        ("no chunk", ErrorKind::Model, half(vec![send("data: <html>\n\n")]), Again),
        (
            "a rule",
            ErrorKind::Guardrail,
            vec![events_head(), send(text("never fine")), send(finish("stop"))],
            Again,
        ),
        ("a circle", ErrorKind::Drift, vec![events_head(), send(text(&circle)), send(finish("stop"))], Again),
        // No server makes a fault of this side, but a rule may break on what it sends.
        (
            "a rule that breaks",
            ErrorKind::Internal,
            vec![events_head(), send(text("fi\u{fffd}")), send(finish("stop"))],
            Fallback,
        ),
        ("a wrong key", ErrorKind::Fatal, status("401 Unauthorized", error), Ends),
        ("a bad request", ErrorKind::Fatal, status("400 Bad Request", error), Ends),
        ("a cut at the limit on length", ErrorKind::Model, half(vec![send(finish("length"))]), Fallback),
        (
            "an encoding",
            ErrorKind::Fatal,
            vec![send("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}")],
            Ends,
        ),
    ];
    for kind in ErrorKind::ALL {
        assert!(cases.iter().any(|(_, of, ..)| *of == kind), "no answer fails as {kind}");
    }
    for (name, kind, script, course) in cases {
        let scripts = if course == Ends { vec![script] } else { vec![script, good()] };
        let server = Server::start(scripts).await;
        let asked = OpenAiModel::new(server.client(), "m");
        let other = OpenAiModel::new(server.client(), "other");
        let failures = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&failures);
        let model = SessionModel::new(move |request| {
            let policy =
                RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(1)), ..RetryPolicy::default() };
            let timeouts = Timeouts {
                initial: Some(Duration::from_millis(300)),
                inter: Some(Duration::from_millis(300)),
            };
            let rule = Patterns::new().category("never", Severity::Error, ["never"]);
            Session::builder("stream_1", asked.source(request))
                .fallback(other.source(request))
                .retry(policy)
                .timeouts(timeouts)
                .guardrail(rule)
                .guardrail(Brittle)
                .drift(DriftDetector::new().each(Severity::Error))
        })
        .ended(move |session| {
            let state = match session.result().unwrap() {
                Ok(state) => state,
                Err(error) => &error.state,
            };
            seen.lock().unwrap().extend(state.failures.iter().map(|failure| failure.kind));
        });
        let agent = Agent::builder(model).build().unwrap();
        let mut state = RunState::new("r1");
        let outcome = run_loop(&agent, &mut state, Input::message("go"), RunHandles::new()).await.unwrap();
        assert_eq!(*failures.lock().unwrap(), [kind], "{name}");
        match outcome.reason {
            TerminationReason::NaturalEnd if course != Ends => {
                assert_eq!(state.thread().last_answer().unwrap().text, "fine", "{name}");
            }
            TerminationReason::Error(_) if course == Ends => {}
            other => panic!("{name}: {other}"),
        }
        let models: Vec<Value> = server
            .requests()
            .await
            .iter()
            .map(|request| {
                let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
                body["model"].clone()
            })
            .collect();
        let expected: &[&str] = match course {
            Again => &["m", "m"],
            Fallback => &["m", "other"],
            Ends => &["m"],
        };
        assert_eq!(models, expected, "{name}");
    }
}
