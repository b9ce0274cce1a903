//! Against `aimock`, a mock server from the npm registry, in each wire format.

use std::time::Duration;

use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate_agent::{
    Agent, InferenceRequest, Input, Message, RunHandles, RunState, Tool, ToolContext, ToolSpec, async_trait,
    run_loop,
};
use runstate_agent_stream::SessionModel;
use runstate_genai::{Genai, GenaiModel, Provider};
use runstate_stream::{Backoff, ErrorKind, RetryPolicy, Session};

#[path = "../../openai/tests/servers/start.rs"]
mod start;

const WIRES: [(Provider, &str); 3] =
    [(Provider::ANTHROPIC, "v1"), (Provider::GEMINI, "v1beta"), (Provider::RESPONSES, "v1")];

fn model(base: &str, provider: Provider, path: &str) -> GenaiModel {
    let server = Genai::new(provider, &format!("{base}/{path}")).unwrap().with_key("test").unwrap();
    GenaiModel::new(server, "m-1").with_max_output(100)
}

fn retry() -> RetryPolicy {
    RetryPolicy { backoff: Backoff::fixed(Duration::from_millis(1)), ..RetryPolicy::default() }
}

#[tokio::test]
async fn answers_are_whole_after_retries() {
    for (provider, path) in WIRES {
        // The server counts the questions, so each wire has a server of its own.
        let Some((base, _process)) = start::aimock().await else { return };
        for (question, whole) in [
            ("hello", "Hi there, it is a fine day."),
            ("busy", "Free again."),
            ("cut", "This answer is whole."),
        ] {
            let request = InferenceRequest::of_message("r1", question);
            let source = model(&base, provider, path).source(&request);
            let mut session = Session::builder(question, source).retry(retry()).require_complete().build();
            session.run().await.unwrap();
            assert_eq!(session.content(), whole, "{provider}");
        }
    }
}

#[tokio::test]
async fn refused_key_is_fatal() {
    let Some((base, _process)) = start::aimock().await else { return };
    for (provider, path) in WIRES {
        let request = InferenceRequest::of_message("r1", "wrong key");
        let source = model(&base, provider, path).source(&request);
        let mut session = Session::builder("refused", source).retry(retry()).build();
        let error = session.run().await.unwrap_err();
        let failure = &error.failure;
        assert_eq!((failure.kind, failure.attempt), (ErrorKind::Fatal, 1), "{provider}: {error}");
        assert!(error.to_string().contains("no such key"), "{provider}: {error}");
    }
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
    let Some((base, _process)) = start::aimock().await else { return };
    for (provider, path) in WIRES {
        let model = model(&base, provider, path);
        let model = SessionModel::new(move |request| {
            Session::builder("weather", model.source(request)).retry(retry()).require_complete()
        });
        let tool = Weather(ToolSpec::new("weather", "The weather of a city."));
        let agent = Agent::builder(model).tool(tool).build().unwrap();
        let mut state = RunState::new("r1");
        let outcome =
            run_loop(&agent, &mut state, Input::message("weather"), RunHandles::new()).await.unwrap();
        assert_eq!(outcome.reason, TerminationReason::NaturalEnd, "{provider}");
        assert_eq!(state.thread().last_answer().unwrap().text, "Rain in both.", "{provider}");
        let results = state.thread().history().iter().filter(|message| matches!(message, Message::Result(_)));
        assert_eq!(results.count(), 2, "{provider}");
    }
}
