//! The whole loop: a scripted model, a tool that needs a person's approval, a run that survives its process.
//!
//! `cargo run --example agent_loop`

use std::error::Error;

use runstate::decision::DecisionAction;
use runstate::termination::TerminationReason;
use runstate::tool_result::ToolResult;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::stop::{StopConditionSpec, StopConditions};
use runstate_agent::{
    Agent, Approval, Incoming, InferenceRequest, Input, MemoryCommitter, Message, Model, ModelStream,
    ResultContent, RunHandles, RunState, Tool, ToolContext, ToolSpec, async_trait, inbox, run_loop,
};

/// A model that requests one call, and then reports its result.
struct Script;

impl Model for Script {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let result = request.history.iter().rev().find_map(|message| match message {
            Message::Result(result) => Some(match &result.content {
                ResultContent::Output { value, .. } => format!("Done: {value}."),
                ResultContent::Error(error) => format!("It was not done: {error}."),
            }),
            _ => None,
        });
        let events = match result {
            Some(text) => vec![ModelEvent::Text(text), ModelEvent::Finish(FinishReason::Stop)],
            None => vec![
                ModelEvent::CallStart { index: 0, id: "call_1".to_owned(), tool: "delete".to_owned() },
                ModelEvent::Arguments { index: 0, delta: r#"{"path": "notes.tmp"}"#.to_owned() },
                ModelEvent::Finish(FinishReason::ToolCalls),
            ],
        };
        Box::pin(futures_util::stream::iter(events))
    }
}

/// A stand-in for a tool with an effect.
struct Delete(ToolSpec);

#[async_trait]
impl Tool for Delete {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        match cx.arguments()["path"].as_str() {
            Some(path) => ToolResult::Success(format!("{path} is gone").into()),
            None => ToolResult::Error("expected a text in `path`".to_owned()),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let asks = Approval::always().asking(|call| format!("delete {}?", call.arguments()["path"]));
    let delete = Delete(ToolSpec::new("delete", "Deletes a file.").needs_approval(asks));
    let stop = StopConditions::new(vec![StopConditionSpec::MaxRounds { rounds: 10 }])?;
    let agent = Agent::builder(Script).tool(delete).stop(stop).build()?;

    for action in [DecisionAction::Resume, DecisionAction::Cancel] {
        // The first process: the run waits at its end.
        let mut committer = MemoryCommitter::default();
        let mut state = RunState::new("r1");
        let io = RunHandles::new().committer(&mut committer);
        let outcome = run_loop(&agent, &mut state, Input::message("tidy up"), io).await?;
        assert_eq!(outcome.reason, TerminationReason::Suspended);
        let question = state.pending().first().ok_or("no call waits")?.suspension.clone();
        println!("{}", question.message);
        drop(state);

        // A later process: only the committed state is left.
        let mut state = committer.restore()?;
        let (_handle, mut decisions) = inbox();
        decisions.put(Incoming::new("decision-1", "call_1", action).on(question.id));
        let io = RunHandles::new().committer(&mut committer).inbox(&mut decisions);
        let outcome = run_loop(&agent, &mut state, Input::Resume, io).await?;
        assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
        let answer = state.thread().last_answer().map(|turn| turn.text.clone());
        println!("{action:?}: {}", answer.unwrap_or_default());
    }
    Ok(())
}
