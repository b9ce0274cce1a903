//! Tools.

use std::sync::Arc;

use async_trait::async_trait;
use runstate::actor::is_unseen;
use runstate::decision::{Decision, Suspension};
use runstate::tool_call::{CallKey, CallRecord};
use runstate::tool_execution::{Effect, ExecuteTool, ToolExecution};
use runstate::tool_result::ToolResult;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::keys::{Key, KeyError, Patches, StateView};
use super::plugin::{Approval, GateCall};
use super::preview::Preview;

/// A tool that the model may call.
///
/// ```
/// use runstate_agent::{Tool, ToolContext, ToolSpec, async_trait};
/// use runstate::tool_result::ToolResult;
///
/// struct Double(ToolSpec);
///
/// #[async_trait]
/// impl Tool for Double {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///
///     async fn call(&self, cx: &mut ToolContext) -> ToolResult {
///         match cx.arguments()["n"].as_i64() {
///             Some(n) => ToolResult::Success((2 * n).into()),
///             // The model reads the error, and the loop continues.
///             None => ToolResult::Error("expected a number in `n`".to_owned()),
///         }
///     }
/// }
///
/// let double = Double(ToolSpec::new("double", "Doubles a number.").repeatable());
/// assert_eq!(double.spec().name(), "double");
/// ```
#[async_trait]
pub trait Tool: Send + Sync {
    /// The specification of the tool. The agent reads it once, when it is built.
    fn spec(&self) -> &ToolSpec;

    /// Executes the tool. A panic is a failed call, and so is a result that nests deeper than 96 levels.
    ///
    /// # Cancel safety
    /// The future is dropped when the run is cancelled, at any await. Work that must not be interrupted belongs in a
    /// separate task.
    async fn call(&self, cx: &mut ToolContext) -> ToolResult;

    /// The effect that a call would have, for approvers. It is part of the question, and an approval is for this preview
    /// alone: before an approved call executes, its preview is made again, and another one is a new question. So equal
    /// circumstances need equal previews. It has no effect itself, and is made only for calls that need an approval. A
    /// panic ends the run with an error, and the tool does not execute. Default: none.
    ///
    /// # Cancel safety
    /// The future is dropped when the run is cancelled.
    async fn preview(&self, _call: &GateCall<'_>) -> Option<Preview> {
        None
    }
}

/// Makes a tool of a function of the arguments. A tool that needs its [`ToolContext`] implements [`Tool`].
///
/// ```
/// use runstate::tool_result::ToolResult;
/// use runstate_agent::{Tool, ToolSpec, tool_fn};
/// use serde_json::Value;
///
/// let spec = ToolSpec::new("double", "Doubles a number.").repeatable();
/// let double = tool_fn(spec, |arguments: Value| async move {
///     match arguments["n"].as_i64() {
///         Some(n) => ToolResult::Success((2 * n).into()),
///         None => ToolResult::Error("expected a number in `n`".to_owned()),
///     }
/// });
/// assert_eq!(double.spec().name(), "double");
/// ```
pub fn tool_fn<F, R>(spec: ToolSpec, function: F) -> impl Tool
where
    F: Fn(Value) -> R + Send + Sync,
    R: Future<Output = ToolResult> + Send,
{
    FnTool { spec, function }
}

struct FnTool<F> {
    spec: ToolSpec,
    function: F,
}

#[async_trait]
impl<F, R> Tool for FnTool<F>
where
    F: Fn(Value) -> R + Send + Sync,
    R: Future<Output = ToolResult> + Send,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        (self.function)(cx.arguments().clone()).await
    }
}

/// The specification of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    name: String,
    description: String,
    schema: Option<Value>,
    effect: Effect,
    approval: Option<Approval>,
}

impl ToolSpec {
    /// Creates the specification of a tool that must not run twice.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            schema: None,
            effect: Effect::Once,
            approval: None,
        }
    }

    /// Sets the JSON Schema of the arguments. Arguments are validated before the tool executes. Default: none.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Declares that the tool only reads, or that a second call with the same idempotency key has no further effect.
    /// Default: the tool must not run twice.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.effect = Effect::Repeatable;
        self
    }

    /// Sets the approval policy. The tool does not execute before the call is approved. The agent asks the approvers
    /// without a plugin; the gates of plugins apply in addition. A second call replaces the policy. Default: no
    /// approval.
    ///
    /// ```
    /// use runstate_agent::{Approval, ToolSpec};
    ///
    /// let delete = ToolSpec::new("delete", "Deletes a file.").needs_approval(Approval::always());
    /// assert!(delete.approval().is_some());
    /// ```
    #[must_use]
    pub fn needs_approval(mut self, approval: Approval) -> Self {
        self.approval = Some(approval);
        self
    }

    /// The name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description for the model.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of the arguments.
    pub fn schema(&self) -> Option<&Value> {
        self.schema.as_ref()
    }

    /// The approval policy, if there is one.
    pub fn approval(&self) -> Option<&Approval> {
        self.approval.as_ref()
    }

    /// Returns whether the tool may run twice.
    pub fn effect(&self) -> Effect {
        self.effect
    }
}

/// The context of an execution. Only an execution with an open gate creates one.
#[derive(Debug)]
pub struct ToolContext {
    run: Arc<str>,
    /// The prefix of the idempotency key.
    scope: Option<Arc<str>>,
    thread: Arc<str>,
    call: Arc<str>,
    key: CallKey,
    attempt: u32,
    arguments: Value,
    decision: Option<Decision>,
    question: Option<Suspension>,
    cancelled: CancellationToken,
    progress: mpsc::Sender<Progress>,
    view: StateView,
    patches: Patches,
}

/// A progress report of a tool.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) call: Arc<str>,
    pub(super) value: Value,
}

/// The names of a run and of its call as one unique text.
pub(super) fn path(run: &str, call: &str) -> String {
    // Invisible characters are escaped as bytes too, so that a user can type the name and distinguish it from others.
    let plain = |name: &str| {
        let mut out = String::with_capacity(name.len());
        for c in name.chars() {
            if matches!(c, '%' | '/') || is_unseen(c) {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
            } else {
                out.push(c);
            }
        }
        out
    };
    format!("{}/{}", plain(run), plain(call))
}

/// The run, the call and the number of a question, parsed from its suspension id; `None` for an id of another form.
pub(super) fn parts(suspension: &str) -> Option<(String, String, u32)> {
    let name = |text: &str| {
        let (mut out, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
        while let Some((&byte, behind)) = rest.split_first() {
            let digits = behind.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| byte == b'%') {
                Some(coded) => {
                    out.push(coded);
                    rest = &behind[2..];
                }
                None => {
                    out.push(byte);
                    rest = behind;
                }
            }
        }
        String::from_utf8_lossy(&out).into_owned()
    };
    let mut segments = suspension.splitn(3, '/');
    let (run, call, rest) = (segments.next()?, segments.next()?, segments.next()?);
    let number =
        rest.split(['/', ':']).next().filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    let number = number.parse().ok()?;
    Some((name(run), name(call), number))
}

/// The run in a suspension id; `None` for an id of another form.
#[doc(hidden)]
pub fn asked_in(suspension: &str) -> Option<String> {
    parts(suspension).map(|(run, _, _)| run)
}

/// The data shared by the executions of one run.
pub(super) struct Shared<'a> {
    pub(super) scope: &'a Option<Arc<str>>,
    pub(super) run: &'a Arc<str>,
    pub(super) thread: &'a Arc<str>,
    pub(super) cancelled: &'a CancellationToken,
    pub(super) progress: &'a mpsc::Sender<Progress>,
    pub(super) view: StateView,
    /// The question that the decision answered.
    pub(super) question: Option<Suspension>,
}

impl ToolContext {
    /// Creates a context. `execution` is the proof that the gate is open.
    pub(super) fn new(
        _execution: &ToolExecution<ExecuteTool>,
        shared: Shared<'_>,
        call: Arc<str>,
        record: &CallRecord,
        arguments: Value,
        decision: Option<Decision>,
    ) -> Self {
        ToolContext {
            run: Arc::clone(shared.run),
            scope: shared.scope.clone(),
            thread: Arc::clone(shared.thread),
            call,
            key: record.key(),
            attempt: record.attempts(),
            arguments,
            decision,
            question: shared.question,
            cancelled: shared.cancelled.clone(),
            progress: shared.progress.clone(),
            view: shared.view,
            patches: Patches::default(),
        }
    }

    /// The run's id.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The thread's id.
    pub fn thread(&self) -> &str {
        &self.thread
    }

    /// The name of the call in traces.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// The position of the call in the run.
    pub fn key(&self) -> CallKey {
        self.key
    }

    /// The number of this execution of the call, from 1. A call that suspends executes again behind its decision. A
    /// repetition after a crash has the same number.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The arguments for the tool: those of the model, or the result of a decision that replaces them.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The decision to resume the call, on a replay.
    pub fn decision(&self) -> Option<&Decision> {
        self.decision.as_ref()
    }

    /// The question that the decision answered, on a replay. A tool that asks a question finds its parameters here, also
    /// in another process.
    pub fn question(&self) -> Option<&Suspension> {
        self.question.as_ref()
    }

    /// The idempotency key of this execution: `run/call/attempt`, behind the
    /// [scope](crate::AgentBuilder::idempotency_scope) if there is one. A repetition of the execution, in this process or
    /// after a crash, has an equal key. No other execution of the store has it. In the ids of the run and of the call, a
    /// slash is written `%2F` and a per cent sign `%25`.
    pub fn idempotency_key(&self) -> String {
        let key = format!("{}/{}", path(&self.run, &self.call), self.attempt);
        match &self.scope {
            Some(scope) => format!("{scope}/{key}"),
            None => key,
        }
    }

    /// A token that is cancelled with the run. A tool that ignores it is dropped anyway.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Reports progress to the event sinks. This waits while too many reports are pending.
    ///
    /// # Cancel safety
    /// If the future is dropped before it is ready, the report is not sent.
    pub async fn progress(&self, value: impl Into<Value>) {
        let progress = Progress { call: Arc::clone(&self.call), value: value.into() };
        // It fails only while the run is torn down. No receiver is left then.
        self.progress.send(progress).await.ok();
    }

    /// Returns the value of the key, including this call's own changes. Changes of other calls in the round are not
    /// visible.
    ///
    /// # Errors
    /// [`KeyError`] when the value is not a `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.patches.get(key, &self.view)
    }

    /// Sets the value of the key. It takes effect with the result of this call. If another call of the round sets the
    /// key to a different value, the run ends with an error that names both calls.
    ///
    /// # Errors
    /// [`KeyError`] when the value has no JSON form or nests deeper than 96 levels.
    pub fn set<T: Serialize + DeserializeOwned>(&mut self, key: &Key<T>, value: &T) -> Result<(), KeyError> {
        self.patches.set(key, value)
    }

    /// Removes the value of the key.
    pub fn remove<T>(&mut self, key: &Key<T>) {
        self.patches.remove(key);
    }

    pub(super) fn into_patches(self) -> Patches {
        self.patches
    }
}
