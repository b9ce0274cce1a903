//! An agent on an OpenAI-compatible server, end to end: the model asks for the weather, the tool answers, the model reads it.
//!
//! ```sh
//! OPENAI_BASE_URL=https://api.openai.com/v1 OPENAI_API_KEY=sk-... cargo run -p runstate-openai --example agent -- gpt-5
//! ```
//!
//! Without a key, against the mock server of the tests:
//!
//! ```sh
//! sh crates/openai/tests/servers/install.sh
//! node target/servers/node_modules/@copilotkit/aimock/dist/cli.js --fixtures crates/openai/tests/servers/fixtures.json &
//! OPENAI_BASE_URL=http://127.0.0.1:4010/v1 cargo run -p runstate-openai --example agent
//! ```

use std::error::Error;

use runstate::tool_result::ToolResult;
use runstate_agent::{
    Agent, Input, RunHandles, RunState, Tool, ToolContext, ToolSpec, Unchecked, async_trait, run_loop,
};
use runstate_openai::{OpenAi, OpenAiModel};
use serde_json::json;

struct Weather(ToolSpec);

#[async_trait]
impl Tool for Weather {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        match cx.arguments()["city"].as_str() {
            Some(city) => ToolResult::Success(format!("rain in {city}, 9 degrees").into()),
            None => ToolResult::Error("expected a `city`".to_owned()),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let base = std::env::var("OPENAI_BASE_URL").unwrap_or_else(|_| "http://127.0.0.1:4010/v1".to_owned());
    let mut server = OpenAi::new(&base)?;
    if let Ok(key) = std::env::var("OPENAI_API_KEY") {
        server = server.with_key(&key)?;
    }
    let model = std::env::args().nth(1).unwrap_or_else(|| "gpt-4".to_owned());
    let city =
        json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let weather = Weather(ToolSpec::new("weather", "The weather of a city.").with_schema(city).repeatable());
    // Its arguments are looked at by the tool itself; `runstate-schema` would hold them against the schema.
    let agent = Agent::builder(OpenAiModel::new(server, model)).tool(weather).schemas(Unchecked).build()?;
    let mut state = RunState::new("r1");
    let question = Input::message("What is the weather in Oslo and in Bergen?");
    let outcome = run_loop(&agent, &mut state, question, RunHandles::new()).await?;
    for message in state.thread().history().iter() {
        println!("{message:?}");
    }
    println!("{:?}", outcome.reason);
    Ok(())
}
