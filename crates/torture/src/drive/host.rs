//! The agent of a driver: a model that follows the run's script, tools that write into the ledger, a gate that asks.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use runstate::decision::{ResumeMode, Suspension};
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{
    Agent, Approval, Approvals, GateCall, InferenceRequest, Model, ModelStream, Phase, PhaseContext, Phases,
    Plugin, PluginError, Verdict, async_trait,
};
use runstate_runtime::clock::Clock;
use runstate_store::{Ended, Executor, ExecutorError, JobSpec, Loaded};

use super::ahead::Ahead;
use super::tools::Act;
use crate::ledger::{Entry, Ledger};
use crate::script::{Asks, Call, Script, Step, ToolName};

/// The first message of a run.
pub const MESSAGE: &str = "go";

/// Drives runs whose spec is a [`Script`].
#[derive(Debug)]
pub struct Scripts {
    ledger: Ledger,
    by: Arc<str>,
    clock: Ahead,
    all_repeatable: bool,
}

impl Scripts {
    /// An executor with this ledger, under this name; its tools are all declared repeatable, or declared truthfully.
    pub fn new(ledger: Ledger, by: &str, clock: Ahead, all_repeatable: bool) -> Self {
        Scripts { ledger, by: by.into(), clock, all_repeatable }
    }

    fn tool(&self, name: ToolName) -> Act {
        let is_repeatable = self.all_repeatable || name == ToolName::Again;
        Act::new(name, is_repeatable, self.ledger.clone(), Arc::clone(&self.by), self.clock)
    }
}

#[async_trait]
impl Executor for Scripts {
    async fn prepare(&self, run: &Loaded) -> Result<JobSpec, ExecutorError> {
        let script: Script = serde_json::from_value(run.spec.clone()).map_err(ExecutorError::new)?;
        let agent = Agent::builder(Scripted(script.steps))
            .tool(self.tool(ToolName::Once))
            .tool(self.tool(ToolName::Again))
            .plugin(Gate(self.clock))
            .plugin(two_people())
            .mode(script.mode)
            .durability(script.durability)
            .clock(self.clock)
            .build()
            .map_err(ExecutorError::new)?;
        Ok(JobSpec::new(agent, MESSAGE))
    }

    fn ended(&self, run: &str, ended: &Ended) {
        let (run, why, by) = (run.to_owned(), ended.to_string(), self.by.to_string());
        // A missing entry is not counted; no check depends on it.
        self.ledger.note(&Entry::GaveBack { run, why, by }).ok();
    }
}

/// Answers with the calls of its step, and with a text after the last step.
struct Scripted(Vec<Step>);

impl Model for Scripted {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let at = usize::try_from(request.step).unwrap_or(usize::MAX);
        let step = self.0.get(at.saturating_sub(1));
        let mut events = Vec::new();
        for (index, call) in (0..).zip(step.map_or(&[][..], |step| &step.calls)) {
            let (id, tool) = (call.id.clone(), call.tool.name().to_owned());
            events.push(ModelEvent::CallStart { index, id, tool });
            let delta = serde_json::to_string(call).unwrap_or_default();
            events.push(ModelEvent::Arguments { index, delta });
        }
        if events.is_empty() {
            events.push(ModelEvent::Text("done".to_owned()));
        }
        events.push(ModelEvent::Finish(FinishReason::Stop));
        let think = Duration::from_millis(step.map_or(0, |step| step.think_ms));
        let thought = async move {
            tokio::time::sleep(think).await;
            futures_util::stream::iter(events)
        };
        Box::pin(futures_util::stream::once(thought).flatten())
    }
}

/// Asks before calls with that setting.
struct Gate(Ahead);

#[async_trait]
impl Plugin for Gate {
    fn name(&self) -> &str {
        "gate"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[Phase::BeforeToolExecute])
    }

    async fn before_tool_execute(
        &self,
        _: &mut PhaseContext<'_>,
        call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        if call.decision().is_some() {
            return Ok(Verdict::Allow);
        }
        let asked: Call = serde_json::from_value(call.arguments().clone()).map_err(PluginError::new)?;
        Ok(match asked.asks {
            Asks::Nobody | Asks::Tool | Asks::TwoPeople => Verdict::Allow,
            Asks::Gate => Verdict::Suspend(question(&asked, &self.0)),
            Asks::GateForResult => {
                let question = question(&asked, &self.0);
                Verdict::Suspend(question.resuming_by(ResumeMode::UseDecisionAsToolResult))
            }
        })
    }
}

/// Asks two people before calls with that setting.
fn two_people() -> Approvals {
    let two = || Approval::when(|arguments| arguments["asks"] == "two_people").by(2);
    Approvals::new().tool(ToolName::Once.name(), two()).tool(ToolName::Again.name(), two())
}

/// The question about a call.
pub(super) fn question(call: &Call, clock: &Ahead) -> Suspension {
    let asked = Suspension::ask("approve", "may it?");
    match call.stands_ms {
        Some(ms) => asked.expiring_at(clock.now_ms() + ms),
        None => asked,
    }
}
