//! Agent runs whose model calls are sessions with a server.

use std::time::Duration;

use runstate::agent::answer::Usage;
use runstate::agent::{Agent, Input, Io, RunState, run_loop};
use runstate::session_model::SessionModel;
use runstate::stream::{Backoff, Continuation, RetryPolicy, Session};
use runstate::termination::TerminationReason;
use runstate_openai::{OpenAiModel, usage};
use serde_json::{Value, json};

use crate::server::{Act, Server, events_head, finish, send, text};

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
