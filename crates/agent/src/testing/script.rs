//! A model that answers from a list.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt, stream};
use serde_json::Value;

use crate::answer::{FinishReason, ModelEvent, Usage};
use crate::{InferenceRequest, Message, Model, ModelError, ModelStream};

/// An answer of a [`ScriptedModel`].
#[derive(Debug, Clone)]
pub struct ScriptedReply {
    text: String,
    calls: Vec<(String, Value)>,
    usage: Option<Usage>,
    end: End,
}

#[derive(Debug, Clone)]
enum End {
    Finish(Option<FinishReason>),
    Error(String),
    Stall,
}

impl ScriptedReply {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        ScriptedReply { text: text.into(), calls: Vec::new(), usage: None, end: End::Finish(None) }
    }

    /// A call of a tool.
    pub fn call(tool: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self::text("").and_call(tool, arguments)
    }

    /// A failure of the model. The run ends with an error.
    pub fn error(reason: impl Into<String>) -> Self {
        ScriptedReply { end: End::Error(reason.into()), ..Self::text("") }
    }

    /// A model that never ends its answer. The run waits until it is cancelled.
    pub fn stall() -> Self {
        ScriptedReply { end: End::Stall, ..Self::text("") }
    }

    /// Adds a call, which is executed in the round of the others.
    #[must_use]
    pub fn and_call(mut self, tool: impl Into<String>, arguments: impl Into<Value>) -> Self {
        self.calls.push((tool.into(), arguments.into()));
        self
    }

    /// Sets the tokens of the answer. Default: none are reported.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the reason of the finish. Default: [`ToolCalls`](FinishReason::ToolCalls) for an answer with calls, otherwise
    /// [`Stop`](FinishReason::Stop).
    #[must_use]
    pub fn with_finish(mut self, reason: FinishReason) -> Self {
        self.end = End::Finish(Some(reason));
        self
    }

    /// The events of the answer, and whether they end. Ids of calls have the number of the answer.
    fn events(self, answer: usize) -> (Vec<ModelEvent>, bool) {
        let (mut events, mut stalls) = (Vec::new(), false);
        if !self.text.is_empty() {
            events.push(ModelEvent::Text(self.text));
        }
        let has_calls = !self.calls.is_empty();
        for (index, (tool, arguments)) in (0_u32..).zip(self.calls) {
            let id = match index {
                0 => format!("call_{answer}"),
                _ => format!("call_{answer}_{}", index + 1),
            };
            events.push(ModelEvent::CallStart { index, id, tool });
            events.push(ModelEvent::Arguments { index, delta: arguments.to_string() });
        }
        events.extend(self.usage.map(ModelEvent::Usage));
        match self.end {
            End::Finish(reason) => {
                let usual = if has_calls { FinishReason::ToolCalls } else { FinishReason::Stop };
                events.push(ModelEvent::Finish(reason.unwrap_or(usual)));
            }
            End::Error(reason) => events.push(ModelEvent::Error(ModelError::new(reason))),
            End::Stall => stalls = true,
        }
        (events, stalls)
    }
}

/// A model that answers from a list.
///
/// The number of answers in the history of a request chooses the reply. So a run that continues in another process, with
/// a model of the same list, gets the next reply. Clones share their requests.
///
/// ```
/// use runstate::termination::TerminationReason;
/// use runstate::tool_result::ToolResult;
/// use runstate_agent::testing::{ScriptedModel, ScriptedReply};
/// use runstate_agent::{Agent, Input, RunHandles, RunState, Tool, ToolContext, ToolSpec, async_trait, run_loop};
/// use serde_json::json;
///
/// struct Weather(ToolSpec);
///
/// #[async_trait]
/// impl Tool for Weather {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///
///     async fn call(&self, _: &mut ToolContext) -> ToolResult {
///         ToolResult::Success("rain".into())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let call = ScriptedReply::call("weather", json!({ "city": "Oslo" }));
/// let model = ScriptedModel::new([call, ScriptedReply::text("It rains.")]);
/// let tool = Weather(ToolSpec::new("weather", "The weather of a city."));
/// let agent = Agent::builder(model.clone()).tool(tool).build()?;
/// let mut state = RunState::new("r1");
/// let outcome = run_loop(&agent, &mut state, Input::message("the weather?"), RunHandles::new()).await?;
/// assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
/// assert_eq!(model.requests().len(), 2);
///
/// // A list that is too short is an error of the model.
/// let short = Agent::builder(ScriptedModel::new([])).build()?;
/// let outcome = run_loop(&short, &mut RunState::new("r2"), Input::message("hi"), RunHandles::new()).await?;
/// let TerminationReason::Error(error) = outcome.reason else { panic!("{:?}", outcome.reason) };
/// assert!(error.contains("the script has 0 replies"), "{error}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    replies: Arc<[ScriptedReply]>,
    requests: Arc<Mutex<Vec<InferenceRequest>>>,
}

impl ScriptedModel {
    /// Makes a model with these replies.
    pub fn new(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        ScriptedModel { replies: replies.into_iter().collect(), requests: Arc::default() }
    }

    /// The requests so far, of all clones.
    pub fn requests(&self) -> Vec<InferenceRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("replies", &self.replies).finish_non_exhaustive()
    }
}

/// The number of answers before a request.
pub(super) fn answers(request: &InferenceRequest) -> usize {
    request.history.iter().filter(|message| matches!(message, Message::Assistant(_))).count()
}

impl Model for ScriptedModel {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let before = answers(&request);
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let (events, stalls) = match self.replies.get(before) {
            Some(reply) => reply.clone().events(before + 1),
            None => {
                let replies = self.replies.len();
                let error = format!(
                    "the script has {replies} replies, and {before} answers precede this request: expected one reply more"
                );
                (vec![ModelEvent::Error(ModelError::new(error))], false)
            }
        };
        let events = stream::iter(events);
        if stalls { Box::pin(events.chain(stream::pending())) } else { Box::pin(events) }
    }
}
