//! A planner and a judge on a model of agents.
//!
//! A model that retries, falls back and keeps budgets is a stream session as a model of agents: the package
//! `runstate-agent-stream` has it. An answer of another form is no error here; the graph reads it as a plan without
//! actions, or as NEEDS_REWORK.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{InferenceRequest, Model};
use serde::Serialize;
use serde_json::Value;

use crate::port::{Judge, JudgeInput, Planner, PlannerInput, PortError};

/// The default system prompt of a planner.
pub const PLANNER_PROMPT: &str = "You plan wallet actions for the request in `intent`. Answer with one JSON object: \
    {\"actions\": [...], \"summary\": \"...\"}. An action is {\"kind\": \"send\", \"amount\", \"asset\", \"recipient\"} or \
    {\"kind\": \"swap\", \"amount_in\", \"token_in\", \"token_out\", \"slippage_bps\"}. Amounts are decimal strings, assets are \
    symbols of `assets`. Leave out a value that the request does not have. Use at most three actions; use none if there \
    is nothing to do. `user_inputs` has the user's answers. With `repair`, solve its issues in `previous_plan`.";

/// The default system prompt of a judge.
pub const JUDGE_PROMPT: &str = "You review planned wallet transactions for the request in `intent`. Answer with one JSON object: \
    {\"verdict\": \"PASS\" | \"NEEDS_REWORK\" | \"BLOCK\", \"summary\": \"...\", \"issues\": [\"...\"]}. PASS if the transactions \
    do what the request asks for. NEEDS_REWORK with issues if another plan would. BLOCK if the request must not be executed.";

/// A model with its prompt.
#[derive(Clone)]
struct Prompted {
    model: Arc<dyn Model>,
    system: Arc<str>,
    port: &'static str,
}

impl Prompted {
    async fn ask(&self, input: &impl Serialize) -> Result<Value, PortError> {
        let refused = |reason: String| PortError::Refused { port: self.port, reason };
        let message = serde_json::to_string(input).map_err(|error| refused(error.to_string()))?;
        let request = InferenceRequest::of_message(self.port, message).with_system(Arc::clone(&self.system));
        let (mut events, mut text) = (self.model.infer(request), String::new());
        while let Some(event) = events.next().await {
            match event {
                ModelEvent::Text(piece) => text.push_str(&piece),
                ModelEvent::Finish(FinishReason::Stop | FinishReason::Unknown) => return Ok(read(&text)),
                ModelEvent::Finish(reason) => {
                    return Err(refused(format!("the answer ended with {reason}")));
                }
                ModelEvent::Error(error) => {
                    return Err(PortError::Unreachable { port: self.port, reason: error.to_string() });
                }
                _ => {}
            }
        }
        Err(refused("the answer has no end".to_owned()))
    }
}

/// The JSON of an answer, with or without a Markdown fence; the text itself if it is no JSON.
fn read(text: &str) -> Value {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let inner = fenced.map_or(text, |text| text.strip_prefix("json").unwrap_or(text));
    serde_json::from_str(inner.trim()).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// A planner on a model.
///
/// ```
/// use std::sync::Arc;
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::{InferenceRequest, Model, ModelStream};
/// use runstate_service::model::ModelPlanner;
/// use runstate_service::sim::SimChain;
///
/// struct Sends;
///
/// impl Model for Sends {
///     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
///         let plan = r#"{"actions": [{"kind": "send", "amount": "5", "asset": "USDC", "recipient": "0xbeef"}]}"#;
///         let events = [ModelEvent::Text(plan.into()), ModelEvent::Finish(FinishReason::Stop)];
///         Box::pin(futures_util::stream::iter(events))
///     }
/// }
///
/// let mut ports = SimChain::example().ports();
/// ports.planner = Some(Arc::new(ModelPlanner::new(Arc::new(Sends))));
/// ```
#[derive(Clone)]
pub struct ModelPlanner(Prompted);

impl ModelPlanner {
    /// Creates a planner with the [default prompt](PLANNER_PROMPT).
    pub fn new(model: Arc<dyn Model>) -> Self {
        ModelPlanner(Prompted { model, system: PLANNER_PROMPT.into(), port: "the planner" })
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn with_system(mut self, system: impl Into<Arc<str>>) -> Self {
        self.0.system = system.into();
        self
    }
}

#[async_trait]
impl Planner for ModelPlanner {
    async fn plan(&self, input: &PlannerInput) -> Result<Value, PortError> {
        self.0.ask(input).await
    }
}

/// A judge on a model.
#[derive(Clone)]
pub struct ModelJudge(Prompted);

impl ModelJudge {
    /// Creates a judge with the [default prompt](JUDGE_PROMPT).
    pub fn new(model: Arc<dyn Model>) -> Self {
        ModelJudge(Prompted { model, system: JUDGE_PROMPT.into(), port: "the judge" })
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn with_system(mut self, system: impl Into<Arc<str>>) -> Self {
        self.0.system = system.into();
        self
    }
}

#[async_trait]
impl Judge for ModelJudge {
    async fn judge(&self, input: &JudgeInput<'_>) -> Result<Value, PortError> {
        self.0.ask(input).await
    }
}

impl fmt::Debug for ModelPlanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelPlanner").field("system", &self.0.system).finish_non_exhaustive()
    }
}

impl fmt::Debug for ModelJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelJudge").field("system", &self.0.system).finish_non_exhaustive()
    }
}
