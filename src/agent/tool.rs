//! What can be called.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::keys::{Key, KeyError, Patches, StateView};
use super::plugin::Approval;
use crate::actor::is_unseen;
use crate::decision::Decision;
use crate::tool_call::{CallKey, CallRecord};
use crate::tool_execution::{Effect, ExecuteTool, ToolExecution};
use crate::tool_result::ToolResult;

/// A tool.
///
/// ```
/// use runstate::agent::{Tool, ToolContext, ToolSpec, async_trait};
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
///             // The model reads the error, and the loop goes on.
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
    /// What the model is told of it. Asked once, when the agent is built.
    fn spec(&self) -> &ToolSpec;

    /// Executes it. A panic is a failed call, and so is a result that nests deeper than 96 levels.
    ///
    /// # Cancel safety
    /// The future is dropped when the run is cancelled, wherever it stands. What must not be cut off belongs in a task of
    /// its own.
    async fn call(&self, cx: &mut ToolContext) -> ToolResult;
}

/// What is known of a tool without calling it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    name: String,
    description: String,
    schema: Option<Value>,
    effect: Effect,
    approval: Option<Approval>,
}

impl ToolSpec {
    /// A tool of that name. Until it says otherwise it must not run twice.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            schema: None,
            effect: Effect::Once,
            approval: None,
        }
    }

    /// The same, with the JSON Schema of its arguments, against which they are checked before it executes.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// The same, for a tool that only reads, or that does the same when it is called twice with one idempotency key.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.effect = Effect::Repeatable;
        self
    }

    /// The same, for a tool that does not execute before people approve the call. The agent asks them; no plugin is needed. A gate
    /// that a plugin has beside it holds as well. Said again, the last one counts.
    ///
    /// ```
    /// use runstate::agent::{Approval, ToolSpec};
    ///
    /// let delete = ToolSpec::new("delete", "Deletes a file.").needs_approval(Approval::always());
    /// assert!(delete.approval().is_some());
    /// ```
    #[must_use]
    pub fn needs_approval(mut self, approval: Approval) -> Self {
        self.approval = Some(approval);
        self
    }

    /// The name by which the model calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does, for the model.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of its arguments.
    pub fn schema(&self) -> Option<&Value> {
        self.schema.as_ref()
    }

    /// Which of its calls people must approve, if any.
    pub fn approval(&self) -> Option<&Approval> {
        self.approval.as_ref()
    }

    /// May it run twice?
    pub fn effect(&self) -> Effect {
        self.effect
    }
}

/// What a tool is executed with. Only an execution whose gate is open makes one.
#[derive(Debug)]
pub struct ToolContext {
    run: Arc<str>,
    thread: Arc<str>,
    call: Arc<str>,
    key: CallKey,
    attempt: u32,
    arguments: Value,
    decision: Option<Decision>,
    cancelled: CancellationToken,
    progress: mpsc::Sender<Progress>,
    view: StateView,
    patches: Patches,
}

/// What a tool says while it executes.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) call: Arc<str>,
    pub(super) value: Value,
}

/// The names of a run and of its call as one text that no other two have.
pub(super) fn path(run: &str, call: &str) -> String {
    // What cannot be seen is written in bytes too: a person can type the name, and tell it from each other one.
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

/// The run, the call and the number of a question, as the id of its suspension has them; none for an id of another form.
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

/// The run that asked under the id of a suspension; none for an id of another form.
#[cfg(feature = "store")]
pub(crate) fn asked_in(suspension: &str) -> Option<String> {
    parts(suspension).map(|(run, _, _)| run)
}

/// What the executions of one run have in common.
pub(super) struct Shared<'a> {
    pub(super) run: &'a Arc<str>,
    pub(super) thread: &'a Arc<str>,
    pub(super) cancelled: &'a CancellationToken,
    pub(super) progress: &'a mpsc::Sender<Progress>,
    pub(super) view: StateView,
}

impl ToolContext {
    /// `execution` is the proof that the gate is open.
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
            thread: Arc::clone(shared.thread),
            call,
            key: record.key(),
            attempt: record.attempts(),
            arguments,
            decision,
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

    /// The call, as it is named in traces.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// The call's place in the run.
    pub fn key(&self) -> CallKey {
        self.key
    }

    /// What the tool is called with: the model's arguments, or a decision's result in their place.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The decision that let the call go on, on a replay.
    pub fn decision(&self) -> Option<&Decision> {
        self.decision.as_ref()
    }

    /// The same for the same execution, in this process or after a crash, and of no other: `run/call/attempt`. A slash in the id of
    /// the run or of the call is written `%2F` and a per cent sign `%25`.
    pub fn idempotency_key(&self) -> String {
        format!("{}/{}", path(&self.run, &self.call), self.attempt)
    }

    /// Cancelled with the run. A tool that does not look at it is dropped all the same.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Tells those who watch how far it is. Waits while many such values are on their way.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, the value is not sent.
    pub async fn progress(&self, value: impl Into<Value>) {
        let progress = Progress { call: Arc::clone(&self.call), value: value.into() };
        // It fails only when the run is being torn down, and then nobody listens.
        self.progress.send(progress).await.ok();
    }

    /// What is kept under the key, this call's own changes included. Others of the same round do not show.
    ///
    /// # Errors
    /// [`KeyError`] when the value under the key is no `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.patches.get(key, &self.view)
    }

    /// Keeps a value under the key, once the result of this call is taken in. It must not be set to something else by
    /// another call of the same round: that ends the run with an error that names both.
    ///
    /// # Errors
    /// [`KeyError`] when the value has no form in JSON or nests deeper than 96 levels.
    pub fn set<T: Serialize + DeserializeOwned>(&mut self, key: &Key<T>, value: &T) -> Result<(), KeyError> {
        self.patches.set(key, value)
    }

    /// Keeps nothing under the key any more.
    pub fn remove<T>(&mut self, key: &Key<T>) {
        self.patches.remove(key);
    }

    pub(super) fn into_patches(self) -> Patches {
        self.patches
    }
}
