//! Against `aimock`, a mock server from the npm registry.

use std::time::Duration;

use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate_agent::{
    Agent, Input, Message, RunHandles, RunState, Tool, ToolContext, ToolSpec, async_trait, run_loop,
};
use runstate_guardrails::structured;
use runstate_openai::{Chat, OpenAi, OpenAiModel};
use runstate_stream::{Backoff, ErrorKind, Opening, RetryPolicy, Session, SourceError, StreamEvent};
use serde_json::{Value, json};
use tokio::process::Child;

use crate::server::{answer, tokens};

#[path = "servers/start.rs"]
mod start;

/// The server, which ends with this value.
struct Aimock {
    client: OpenAi,
    _process: Child,
}

impl Aimock {
    /// None where it is not installed.
    async fn start() -> Option<Aimock> {
        let (base, process) = start::aimock().await?;
        Some(Aimock {
            client: OpenAi::new(&format!("{base}/v1")).unwrap().with_key("test").unwrap(),
            _process: process,
        })
    }

    async fn ask(&self, chat: &Chat) -> (Vec<StreamEvent>, Option<SourceError>) {
        use futures_util::StreamExt;
        let mut events = vec![];
        let mut stream = match self.client.stream(chat).await {
            Ok(stream) => stream,
            Err(error) => return (events, Some(error)),
        };
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => events.push(event),
                Err(error) => return (events, Some(error)),
            }
        }
        (events, None)
    }
}

fn asked(text: &str) -> Chat {
    Chat::new("gpt-4").user(text)
}

#[tokio::test]
async fn an_answer_comes_in_its_pieces() {
    let Some(server) = Aimock::start().await else { return };
    let chat = asked("hello").with("stream_options", json!({ "include_usage": true }));
    let (events, failure) = server.ask(&chat).await;
    assert!(events.iter().any(
        |event| matches!(event, StreamEvent::Progress(usage) if usage["usage"]["total_tokens"].is_u64())
    ));
    assert_eq!(answer((events, failure)), tokens(&["Hi there", ", it is ", "a fine d", "ay."]));
}

#[tokio::test]
async fn failures_have_their_kinds() {
    let Some(server) = Aimock::start().await else { return };
    let failure = server.ask(&asked("busy")).await.1.unwrap();
    assert_eq!((failure.kind(), failure.retry_after()), (ErrorKind::RateLimit, Some(Duration::from_secs(1))));
    assert_eq!(server.ask(&asked("wrong key")).await.1.unwrap().kind(), ErrorKind::Fatal);
    let (events, failure) = server.ask(&asked("cut")).await;
    assert_eq!(failure.unwrap().kind(), ErrorKind::Network);
    assert!(events.len() < 10);
}

#[tokio::test]
async fn tools_are_called_and_their_results_are_read() {
    let Some(server) = Aimock::start().await else { return };
    let chat = asked("weather").tool("weather", "The weather of a city", json!({ "type": "object" }));
    let said = answer(server.ask(&chat).await);
    let calls: Vec<_> = said
        .iter()
        .filter_map(|event| if let StreamEvent::ToolCall(call) = event { Some(call) } else { None })
        .collect();
    assert_eq!(calls.len(), 2);
    assert_eq!((calls[0].id.as_str(), &calls[0].arguments), ("c1", &json!({ "city": "Oslo" })));
    assert_eq!((calls[1].name.as_str(), &calls[1].arguments), ("weather", &json!({ "city": "Bergen" })));
    let called: Vec<Value> = calls
        .iter()
        .map(|call| {
            let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
            json!({ "id": call.id, "type": "function", "function": function })
        })
        .collect();
    let mut chat =
        chat.message(json!({ "role": "assistant", "content": "Let me see.", "tool_calls": called }));
    for call in &calls {
        chat = chat.message(json!({ "role": "tool", "tool_call_id": call.id, "content": "rain" }));
    }
    let text: String = answer(server.ask(&chat).await)
        .iter()
        .map(|event| if let StreamEvent::Token(text) = event { text.as_str() } else { "" })
        .collect();
    assert_eq!(text, "Rain in both.");
}

#[tokio::test]
async fn a_session_over_it_ends_with_one_whole_answer() {
    let Some(server) = Aimock::start().await else { return };
    for (question, whole) in [("busy", "Free again."), ("cut", "This answer is whole.")] {
        let client = server.client.clone();
        let mut session = Session::builder(question, move |_: Opening| {
            let client = client.clone();
            async move { client.stream(&asked(question)).await }
        })
        .retry(RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(1)), ..RetryPolicy::default() })
        .require_complete()
        .build();
        session.run().await.unwrap();
        assert_eq!(session.content(), whole);
        assert_eq!(session.ended().map(|ended| ended.status().to_string()).as_deref(), Some("COMPLETE"));
    }
}

#[tokio::test]
async fn a_value_is_read_from_an_answer_that_is_nearly_json() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Weather {
        city: String,
        rain: bool,
    }
    let Some(server) = Aimock::start().await else { return };
    let text: String = answer(server.ask(&asked("as JSON")).await)
        .iter()
        .map(|event| if let StreamEvent::Token(text) = event { text.as_str() } else { "" })
        .collect();
    assert_eq!(
        structured::read::<Weather>(&text).unwrap().value,
        Weather { city: "Oslo".to_owned(), rain: true }
    );
}

struct Weather(ToolSpec);

#[async_trait]
impl Tool for Weather {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        match cx.arguments()["city"].as_str() {
            Some(city) => ToolResult::Success(format!("rain in {city}").into()),
            None => ToolResult::Error("expected a `city`".to_owned()),
        }
    }
}

#[tokio::test]
async fn an_agent_runs_on_it() {
    let Some(server) = Aimock::start().await else { return };
    let model = OpenAiModel::new(server.client.clone(), "gpt-4");
    let agent = Agent::builder(model)
        .tool(Weather(ToolSpec::new("weather", "The weather of a city.")))
        .build()
        .unwrap();
    let mut state = RunState::new("r1");
    let outcome = run_loop(&agent, &mut state, Input::message("weather"), RunHandles::new()).await.unwrap();
    assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
    assert_eq!(state.thread().last_answer().unwrap().text, "Rain in both.");
    let results =
        state.thread().history().iter().filter(|message| matches!(message, Message::Result(_))).count();
    assert_eq!(results, 2);
}
