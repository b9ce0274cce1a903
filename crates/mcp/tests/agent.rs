//! An agent with tools of the test server, whose model is a list of calls.

use std::path::Path;
use std::sync::{Arc, Mutex};

use runstate::decision::DecisionAction;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::event::{AgentEvent, EventSink};
use runstate_agent::{
    Agent, Incoming, InferenceRequest, Input, MemoryCommitter, Message, Model, ModelStream, Outcome,
    RunHandles, RunState, Tool, inbox, run_loop,
};
use runstate_mcp::{McpTool, Server, ServerOptions};
use runstate_schema::JsonSchemas;
use serde_json::{Value, json};

use super::server::command;

/// A model that makes one call of each tool in turn, and then ends.
struct Calls(Vec<(String, Value)>);

impl Model for Calls {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let done = request.history.iter().filter(|message| matches!(message, Message::Result(_))).count();
        let events = match self.0.get(done) {
            Some((tool, arguments)) => vec![
                ModelEvent::CallStart { index: 0, id: format!("c{done}"), tool: tool.clone() },
                ModelEvent::Arguments { index: 0, delta: arguments.to_string() },
                ModelEvent::Finish(FinishReason::ToolCalls),
            ],
            None => vec![ModelEvent::Text("done".into()), ModelEvent::Finish(FinishReason::Stop)],
        };
        Box::pin(futures_util::stream::iter(events))
    }
}

#[derive(Debug, Default)]
pub struct Events(Mutex<Vec<AgentEvent>>);

impl EventSink for Events {
    fn emit(&self, event: &Arc<AgentEvent>) {
        self.0.lock().unwrap().push((**event).clone());
    }
}

impl Events {
    /// The events as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(&*self.0.lock().unwrap()).unwrap()
    }
}

/// The options of the test server in a folder.
pub fn options(folder: &Path) -> ServerOptions {
    let (command, variables) = command();
    let options = ServerOptions::command("t", command).folder(folder);
    variables.into_iter().fold(options, |options, (name, value)| options.env(name, value))
}

/// A run of an agent with the tools of a server.
pub struct World {
    pub server: Server,
    calls: Vec<(String, Value)>,
    /// Whether the calls need approvals as the tools say.
    approvals: bool,
    pub kept: MemoryCommitter,
    pub events: Arc<Events>,
    decisions: u32,
}

impl World {
    /// Without approvals.
    pub fn new(options: ServerOptions, calls: &[(&str, &str)]) -> Self {
        let calls =
            calls.iter().map(|(tool, text)| (format!("t__{tool}"), json!({ "text": text }))).collect();
        World {
            server: Server::new(options).unwrap(),
            calls,
            approvals: false,
            kept: MemoryCommitter::default(),
            events: Arc::default(),
            decisions: 0,
        }
    }

    pub fn asking(mut self) -> Self {
        self.approvals = true;
        self
    }

    pub async fn agent(&self) -> Agent {
        let tools = self.server.tools().await.unwrap();
        let shown = |tool: McpTool| if self.approvals { tool } else { tool.with_approval(false) };
        let tools = tools.into_iter().map(|tool| Arc::new(shown(tool)) as Arc<dyn Tool>);
        Agent::builder(Calls(self.calls.clone())).tools(tools).schemas(JsonSchemas::new()).build().unwrap()
    }

    pub async fn drive(&mut self, state: &mut RunState, input: Input) -> Outcome {
        let agent = self.agent().await;
        let events = Arc::clone(&self.events);
        let handles = RunHandles::new().committer(&mut self.kept).events(&*events);
        run_loop(&agent, state, input, handles).await.unwrap()
    }

    pub async fn start(&mut self) -> RunState {
        let mut state = RunState::new("r1");
        self.drive(&mut state, Input::message("go")).await;
        state
    }

    /// Decides the only question, from the bytes that another process would have.
    pub async fn decide(&mut self, action: DecisionAction, result: Value) -> RunState {
        let mut state = self.kept.restore().unwrap();
        let pending = state.pending();
        let [asked] = pending.as_slice() else { panic!("{} questions", pending.len()) };
        self.decisions += 1;
        let id = format!("d{}", self.decisions);
        let decision = Incoming::new(id, asked.call, action).on(&asked.suspension.id).with_result(result);
        let (_handle, mut decisions) = inbox();
        decisions.put(decision);
        let agent = self.agent().await;
        let events = Arc::clone(&self.events);
        let handles = RunHandles::new().committer(&mut self.kept).events(&*events).inbox(&mut decisions);
        run_loop(&agent, &mut state, Input::Resume, handles).await.unwrap();
        state
    }
}

/// The results of the calls: the output, or the error.
pub fn results(state: &RunState) -> Vec<Result<Value, String>> {
    use runstate_agent::ResultContent;

    let of = |message: &Message| match message {
        Message::Result(result) => Some(match &result.content {
            ResultContent::Output { value, .. } => Ok(value.clone()),
            ResultContent::Error(error) => Err(error.clone()),
        }),
        _ => None,
    };
    state.thread().history().iter().filter_map(of).collect()
}
