//! A tool of a server.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{
    CallToolRequestParams, ElicitResult, InputRequiredResult, ProgressNotificationParam, Tool as Listed,
};
use runstate::decision::Suspension;
use runstate::tool_execution::Effect;
use runstate::tool_result::ToolResult;
use runstate_agent::{Approval, Tool, ToolContext, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use crate::error::one_line;
use crate::handler::Update;
use crate::input::Input;
use crate::list;
use crate::open_call::{Next, OpenCall};
use crate::output;
use crate::server::Server;

/// The most times that a server may require input without a question, in one execution.
const MAX_ROUNDS: u32 = 10;

/// The pause before a call is sent again to a server that required no input.
const PAUSE: Duration = Duration::from_millis(500);

/// A tool of a server. Its specification has the schema and the description of the server.
#[derive(Debug, Clone)]
pub struct McpTool {
    server: Server,
    spec: ToolSpec,
    /// The name at the server.
    tool: String,
    /// The digest of the definition that the specification was made from.
    definition: String,
}

/// What a call is sent with, and how its questions are answered.
#[derive(Default)]
struct Answers {
    inputs: BTreeMap<String, Value>,
    state: Option<String>,
    /// The question of an earlier execution, and its answer. The same question is answered without the person.
    open: Option<(Input, Value)>,
}

/// The continuation of a call after a message.
enum Then {
    Done(ToolResult),
    Again(Answers),
}

impl McpTool {
    pub(crate) fn new(server: Server, name: String, listed: &Listed) -> Self {
        let schema = Value::Object(listed.input_schema.as_ref().clone());
        let about = listed.description.as_deref().or(listed.title.as_deref()).unwrap_or_default();
        // The model reads both.
        let secrets = &server.0.secrets;
        let (about, schema) = (secrets.withheld(about).into_owned(), secrets.withheld_value(schema));
        let mut spec = ToolSpec::new(name, about).with_schema(schema);
        let hints = listed.annotations.as_ref().filter(|_| server.0.options.trusted);
        let is = |hint: Option<bool>| hint == Some(true);
        let is_read_only = hints.is_some_and(|hints| is(hints.read_only_hint));
        if is_read_only || hints.is_some_and(|hints| is(hints.idempotent_hint)) {
            spec = spec.repeatable();
        }
        let definition = list::definition(listed);
        let mut tool = McpTool { server, spec, tool: listed.name.to_string(), definition };
        if !is_read_only {
            tool.spec = tool.spec.clone().needs_approval(tool.approval());
        }
        tool
    }

    /// The name at the server.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The approval of each call, by one person. It is bound to the server, the tool, and the digest of the tool's input
    /// schema and annotations.
    pub fn approval(&self) -> Approval {
        let (server, tool) = (self.server.name().to_owned(), one_line(&self.tool));
        Approval::always().bound_to(self.bound_to()).asking(move |_| {
            format!("may {tool} of the MCP server {server} be executed with these arguments?")
        })
    }

    /// Sets whether each call needs an approval. Default: it does, unless the server is trusted and declares the tool
    /// read-only.
    #[must_use]
    pub fn with_approval(mut self, needed: bool) -> Self {
        let mut spec = ToolSpec::new(self.spec.name(), self.spec.description());
        if let Some(schema) = self.spec.schema() {
            spec = spec.with_schema(schema.clone());
        }
        if self.spec.effect() == Effect::Repeatable {
            spec = spec.repeatable();
        }
        self.spec = if needed { spec.needs_approval(self.approval()) } else { spec };
        self
    }

    fn bound_to(&self) -> Value {
        json!({ "server": self.server.name(), "tool": self.tool, "schema": self.definition })
    }

    fn changed(&self) -> String {
        "it has changed the tool since the agent read it; the call was not sent".to_owned()
    }

    async fn execute(&self, cx: &mut ToolContext) -> Result<ToolResult, String> {
        let key = cx.idempotency_key();
        // Without the number of the execution: the next one takes the call that this one holds.
        let key = key.rsplit_once('/').map_or(&*key, |(call, _)| call);
        let held = self.server.0.held.take(key);
        let answered = cx.question().and_then(Input::of);
        let result = cx.decision().map(|decision| decision.result.clone()).unwrap_or_default();
        let of_question = cx.question().and_then(|question| question.parameters.get("bound_to"));
        if of_question.is_some_and(|bound| *bound != self.bound_to()) {
            return Err(self.changed());
        }
        let mut answers = Answers::default();
        let mut call = None;
        match (answered, held) {
            (Some(input), Some(held)) if input.is_open => {
                let answer = input.open_answer(&result).ok_or("its question cannot be read")?;
                // A server that takes no answer any more has answered the call, or has ended.
                held.answer.send(answer).ok();
                call = Some(held.call);
            }
            (Some(input), _) if input.is_open => {
                if self.spec.effect() == Effect::Once {
                    return Err("it ended while it waited for the answer; the call may have had an effect and is not repeated"
                        .to_owned());
                }
                answers.open = Some((input, result));
            }
            (Some(input), _) => {
                answers.inputs = input.answers(&result);
                answers.state = input.into_state();
            }
            // The call was held for another question than the one that was answered last.
            (None, Some(_)) if self.spec.effect() == Effect::Once => {
                return Err("it waited for an answer to another question; the call may have had an effect and is not repeated"
                    .to_owned());
            }
            (None, _) => {}
        }
        let end = Instant::now() + self.server.0.options.max_time;
        for _ in 0..MAX_ROUNDS {
            let open = match call.take() {
                Some(call) => call,
                None => self.send(cx, &mut answers).await?,
            };
            match self.follow(cx, key, open, &mut answers, end).await? {
                Then::Done(result) => return Ok(result),
                Then::Again(with) => answers = with,
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(format!("it required input {MAX_ROUNDS} times without a question"))
    }

    /// Sends the call, if the tool is the one that the agent read.
    async fn send(&self, cx: &ToolContext, answers: &mut Answers) -> Result<OpenCall, String> {
        let arguments = match cx.arguments() {
            Value::Object(arguments) => arguments.clone(),
            other => {
                return Err(format!("expected an object of arguments, got {}", one_line(&other.to_string())));
            }
        };
        let server = &self.server.0;
        let connection = server.connection().await.map_err(|error| error.to_string())?;
        let listed = connection.tools(server.options.timeout).await?;
        let Some(now) = listed.iter().find(|of| of.name == self.tool) else {
            return Err("it has removed the tool since the agent read it; the call was not sent".to_owned());
        };
        if list::definition(now) != self.definition {
            return Err(self.changed());
        }
        let mut params = CallToolRequestParams::new(self.tool.clone()).with_arguments(arguments);
        if !answers.inputs.is_empty() {
            params = params.with_input_responses(std::mem::take(&mut answers.inputs));
        }
        if let Some(state) = answers.state.take() {
            params = params.with_request_state(state);
        }
        OpenCall::start(connection, params).await
    }

    /// Waits for the result of a call.
    async fn follow(
        &self,
        cx: &ToolContext,
        key: &str,
        mut call: OpenCall,
        answers: &mut Answers,
        end: Instant,
    ) -> Result<Then, String> {
        let options = &self.server.0.options;
        let mut silent = Instant::now() + options.timeout;
        loop {
            let next = tokio::select! {
                biased;
                next = call.next() => next,
                () = sleep_until(silent.min(end)) => {
                    let limit = if silent <= end { options.timeout } else { options.max_time };
                    return Err(format!("it did not answer within {limit:?}, and was asked to stop the call"));
                }
            };
            match next {
                Next::Update(Update::Progress(progress)) => {
                    silent = Instant::now() + options.timeout;
                    cx.progress(self.server.0.secrets.withheld_value(report(progress))).await;
                }
                Next::Update(Update::Question(params, sender)) => {
                    let input = Input::open(&params)?.withheld(&self.server.0.secrets)?;
                    match answers.open.take() {
                        Some((known, result)) if known == input => {
                            let answer = input.open_answer(&result).ok_or("its question cannot be read")?;
                            sender.send(answer).ok();
                            silent = Instant::now() + options.timeout;
                        }
                        _ => return Ok(Then::Done(self.hold(key, call, &input, sender))),
                    }
                }
                Next::Complete(result) => {
                    return Ok(Then::Done(output::result(
                        *result,
                        &self.server.0.secrets,
                        options.max_output,
                    )));
                }
                Next::InputRequired(required) => return self.required(*required),
                Next::Failed(why) => return Err(call.connection.with_last_words(why).await),
            }
        }
    }

    fn hold(
        &self,
        key: &str,
        call: OpenCall,
        input: &Input,
        sender: oneshot::Sender<ElicitResult>,
    ) -> ToolResult {
        self.server.0.held.hold(key.to_owned(), call, sender, self.server.0.options.hold);
        ToolResult::Pending(self.question(input))
    }

    fn required(&self, required: InputRequiredResult) -> Result<Then, String> {
        let requests = required.input_requests.unwrap_or_default();
        if requests.is_empty() {
            // It is sent back at once, and not stored.
            let state = required.request_state;
            return Ok(Then::Again(Answers { state, ..Answers::default() }));
        }
        let input = Input::required(requests, required.request_state)?.withheld(&self.server.0.secrets)?;
        Ok(Then::Done(ToolResult::Pending(self.question(&input))))
    }

    /// The question of a server, which has no secrets any more.
    fn question(&self, input: &Input) -> Suspension {
        input.suspension(self.server.name(), &self.bound_to())
    }
}

fn report(progress: ProgressNotificationParam) -> Value {
    let mut report = json!({ "progress": progress.progress });
    if let Some(total) = progress.total {
        report["total"] = total.into();
    }
    if let Some(message) = progress.message {
        report["message"] = one_line(&message).into();
    }
    report
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        match self.execute(cx).await {
            Ok(result) => result,
            Err(why) => {
                let why = format!("the MCP server {:?}: {why}", self.server.name());
                ToolResult::Error(self.server.0.secrets.withheld(&why).into_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerOptions;

    fn tool(listed: Value) -> McpTool {
        let options = ServerOptions::http("docs", "http://127.0.0.1:1/mcp").header("x-key", "sk-12345678");
        let server = Server::new(options).unwrap();
        McpTool::new(server, "docs__read".to_owned(), &serde_json::from_value(listed).unwrap())
    }

    #[test]
    fn definition_that_repeats_a_header_is_withheld_from_the_model() {
        let schema = json!({ "type": "object", "description": "with sk-12345678" });
        let tool =
            tool(json!({ "name": "read", "description": "reads with sk-12345678", "inputSchema": schema }));
        assert_eq!(tool.spec().description(), "reads with [key]");
        assert_eq!(tool.spec().schema().unwrap()["description"], "with [key]");
    }

    #[test]
    fn question_that_repeats_a_header_is_withheld_from_the_person() {
        let tool = tool(json!({ "name": "read", "inputSchema": { "type": "object" } }));
        let params = json!({
            "message": "is sk-12345678 yours?",
            "requestedSchema": { "type": "object", "properties": { "ok": { "type": "boolean", "title": "sk-12345678" } } },
        });
        let input = Input::open(&serde_json::from_value(params).unwrap()).unwrap();
        let asked = tool.question(&input.withheld(&tool.server.0.secrets).unwrap());
        assert!(asked.message.contains("is [key] yours?"), "{}", asked.message);
        assert!(!json!(asked).to_string().contains("sk-1"), "{asked:?}");
    }

    #[test]
    fn required_input_that_repeats_a_header_is_not_stored() {
        let tool = tool(json!({ "name": "read", "inputSchema": { "type": "object" } }));
        let requests = |key: &str| {
            json!({ key: { "method": "elicitation/create", "params": {
                "mode": "url", "message": "x".repeat(290) + "sk-12345678", "url": "https://a.example/sk-12345678", "elicitationId": "7",
            } } })
        };
        let required = |key: &str, state: &str| {
            tool.required(
                serde_json::from_value(json!({ "resultType": "input_required", "inputRequests": requests(key), "requestState": state }))
                    .unwrap(),
            )
        };
        let Ok(Then::Done(ToolResult::Pending(asked))) = required("a", "s-1") else { panic!("no question") };
        assert!(!json!(asked).to_string().contains("sk-1"), "{asked:?}");
        for (key, state) in [("a", "s sk-12345678"), ("sk-12345678", "s")] {
            let Err(why) = required(key, state) else { panic!("{key} {state}") };
            assert!(why.contains("has the value of a header"), "{why}");
        }
    }
}
