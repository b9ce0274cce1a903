//! The gate for tools that need an approval.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use runstate::actor::is_one_actor;
use runstate::decision::{Decision, Suspension, digest};
use serde_json::{Map, Value, json};

use super::super::preview::Preview;
use super::{GateCall, Phase, PhaseContext, Phases, Plugin, PluginError, Verdict};

/// The approval policy of a tool: the calls that need an approval, the number of approvers, and the expiry of the
/// question.
///
/// ```
/// use std::time::Duration;
///
/// use runstate_agent::{Approval, ToolSpec};
///
/// // Every call needs an approval.
/// let delete = ToolSpec::new("delete", "Deletes a file.").needs_approval(Approval::always());
///
/// // Two approvers, for more than 100. If `amount` is missing or not a number, the predicate requires approval.
/// let large = Approval::when(|arguments| arguments["amount"].as_f64().is_none_or(|amount| amount > 100.0));
/// let pay = ToolSpec::new("pay", "Pays.").needs_approval(large.by(2));
///
/// // Every call of a run except its first ten. The question expires after an hour, which cancels its call.
/// let later = Approval::after(10).expiring_after(Duration::from_secs(3600));
/// let fetch = ToolSpec::new("fetch", "Reads a page.").needs_approval(later);
///
/// assert!([delete, pay, fetch].iter().all(|tool| tool.approval().is_some()));
/// assert!(ToolSpec::new("read", "Reads a file.").approval().is_none());
/// ```
#[derive(Clone)]
pub struct Approval {
    when: When,
    people: u32,
    message: Option<Arc<Message>>,
    expires_after: Option<Duration>,
    bound: Option<Arc<Bound>>,
}

/// The value that an approval is bound to, and the id suffix of its questions.
struct Bound {
    value: Value,
    word: String,
}

type Message = dyn Fn(&GateCall<'_>) -> String + Send + Sync;

#[derive(Clone)]
enum When {
    Always,
    If(Arc<dyn Fn(&Value) -> bool + Send + Sync>),
    After(u32),
}

impl Approval {
    fn of(when: When) -> Self {
        Approval { when, people: 1, message: None, expires_after: None, bound: None }
    }

    /// Requires an approval for every call.
    pub fn always() -> Self {
        Self::of(When::Always)
    }

    /// Requires an approval for the calls whose arguments satisfy `predicate`. If the predicate panics, the run ends
    /// with an error and the tool is not executed. After a first approval, the call needs all its approvals, even if
    /// the predicate changes.
    pub fn when(predicate: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        Self::of(When::If(Arc::new(predicate)))
    }

    /// Requires an approval for every call except the first `calls` calls of the tool in a run, in the order of the
    /// model's requests. Failed and refused calls count.
    pub fn after(calls: u32) -> Self {
        Self::of(When::After(calls))
    }

    /// Sets the number of approvers. Default: 1. Each approver gets a separate question, and no actor is accepted
    /// twice ([`Suspension::by_distinct_actors`]). 0 counts as 1.
    #[must_use]
    pub fn by(mut self, people: u32) -> Self {
        self.people = people.max(1);
        self
    }

    /// Sets the text of the question. The arguments are shown beside it. A redactor gets the text as part of the
    /// suspension, and not as arguments. So the text should not repeat confidential arguments. Default: a question
    /// with the name of the tool.
    #[must_use]
    pub fn asking(mut self, message: impl Fn(&GateCall<'_>) -> String + Send + Sync + 'static) -> Self {
        self.message = Some(Arc::new(message));
        self
    }

    /// Sets the time until a question expires, measured on the agent's clock with a resolution of 1 ms. Its call is
    /// cancelled then. Default: no expiry.
    #[must_use]
    pub fn expiring_after(mut self, time: Duration) -> Self {
        self.expires_after = Some(time);
        self
    }

    /// Binds the approvals to a value that describes the tool, such as its server and the digest of its schema. The value
    /// is the parameter `bound_to` of the question, so the digest of the question covers it. An approval that was given
    /// for another value does not count: the call is asked about again. Default: none.
    ///
    /// ```
    /// use runstate_agent::{Approval, ToolSpec};
    /// use serde_json::json;
    ///
    /// let version = |schema: &str| Approval::always().bound_to(json!({ "server": "notes", "schema": schema }));
    /// let delete = ToolSpec::new("delete", "Deletes a note.").needs_approval(version("sha256:0a"));
    ///
    /// // The server changes the tool: an approval of the earlier version executes nothing.
    /// assert_ne!(delete.approval(), Some(&version("sha256:0b")));
    /// assert_eq!(delete.approval(), Some(&version("sha256:0a")));
    /// ```
    #[must_use]
    pub fn bound_to(mut self, value: Value) -> Self {
        let word = bound_word(&value);
        self.bound = Some(Arc::new(Bound { value, word }));
        self
    }

    /// The suffix of the ids of the questions about a call with that preview.
    fn word(&self, preview: Option<&Preview>) -> Cow<'_, str> {
        match (&self.bound, preview) {
            (None, None) => WORD.into(),
            (Some(bound), None) => bound.word.as_str().into(),
            (bound, Some(preview)) => question_word(bound.as_ref().map(|bound| &bound.value), preview).into(),
        }
    }

    /// A call that was asked about is asked about to the end: a predicate that changes its mind lifts no question.
    fn asks_about(&self, call: &GateCall<'_>) -> bool {
        was_asked(call) && !call.is_replaced() || self.is_needed_for(call)
    }

    fn is_needed_for(&self, call: &GateCall<'_>) -> bool {
        match &self.when {
            When::Always => true,
            When::If(predicate) => predicate(call.arguments()),
            When::After(calls) => call.number() > *calls,
        }
    }

    /// The number of approvers of the call.
    fn given(&self, call: &GateCall<'_>, our_word: &str) -> u32 {
        // A question of a tool or of another plugin is a different question. Its answer approves nothing here.
        let ours = call.decisions().iter().filter(|it| word(&it.suspension_id) == Some(our_word));
        let given = match self.people {
            1 => ours.count(),
            _ => people(ours.filter_map(|decision| decision.actor.as_deref())),
        };
        u32::try_from(given).unwrap_or(u32::MAX)
    }

    fn verdict(&self, call: &GateCall<'_>, preview: Option<&Preview>, now_ms: u64) -> Verdict {
        let word = self.word(preview);
        let (given, is_needed) = (self.given(call, &word), self.asks_about(call));
        if given >= self.people && !call.is_replaced() || !is_needed {
            return Verdict::Allow;
        }
        if call.is_replaced() {
            let tool = call.tool();
            return Verdict::Block(format!(
                "{tool} needs an approval, and a decision replaced its arguments: call it anew with them"
            ));
        }
        let message = match &self.message {
            Some(message) => message(call),
            None => format!("may {} be executed with these arguments?", call.tool()),
        };
        let mut suspension = Suspension::new(word, "approve", message);
        let mut parameters = Map::new();
        if self.people > 1 {
            parameters.insert("approval".to_owned(), (given + 1).into());
            parameters.insert("of".to_owned(), self.people.into());
            suspension = suspension.by_distinct_actors();
        }
        if let Some(bound) = &self.bound {
            parameters.insert("bound_to".to_owned(), bound.value.clone());
        }
        if let Some(preview) = preview {
            parameters.insert("preview".to_owned(), json!(preview));
        }
        if given == 0 && was_asked(call) {
            // An approval of another version or of another preview does not count.
            parameters.insert("changed".to_owned(), true.into());
        }
        if !parameters.is_empty() {
            suspension = suspension.with_parameters(parameters.into());
        }
        if let Some(time) = self.expires_after {
            let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            suspension = suspension.expiring_at(now_ms.saturating_add(time));
        }
        Verdict::Suspend(suspension)
    }
}

/// Policies are equal if one was cloned from the other, because predicates and message functions cannot be compared.
impl PartialEq for Approval {
    fn eq(&self, other: &Self) -> bool {
        let when = match (&self.when, &other.when) {
            (When::Always, When::Always) => true,
            (When::If(one), When::If(other)) => Arc::ptr_eq(one, other),
            (When::After(one), When::After(other)) => one == other,
            _ => false,
        };
        let message = match (&self.message, &other.message) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        let bound = |of: &Self| of.bound.as_ref().map(|bound| bound.value.clone());
        when && message
            && self.people == other.people
            && self.expires_after == other.expires_after
            && bound(self) == bound(other)
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = match &self.when {
            When::Always => "always".to_owned(),
            When::If(_) => "if its predicate says so".to_owned(),
            When::After(calls) => format!("after {calls}"),
        };
        f.debug_struct("Approval")
            .field("when", &when)
            .field("people", &self.people)
            .field("lapses_after", &self.expires_after)
            .field("bound_to", &self.bound.as_ref().map(|bound| &bound.value))
            .finish_non_exhaustive()
    }
}

/// The suffix after the colon in the ids of this gate's suspensions.
const WORD: &str = "runstate.approval";

/// The digits of the digest in the suffix of a bound approval: 128 bits, since a server may choose both values.
const BOUND_DIGITS: usize = 32;

/// The id suffix of a question from foreign code. Suffixes that begin with `runstate.` belong to the library's gates:
/// the answer to a tool or to another plugin is no approval.
pub(crate) fn foreign_word(word: &str) -> &str {
    word.trim_start_matches("runstate.")
}

/// The suffix in the id of a suspension. Names before it are escaped, and the suffix has no slash.
fn word(suspension: &str) -> Option<&str> {
    suspension.rsplit('/').next()?.split_once(':').map(|(_, word)| word)
}

/// The suffix of the ids of questions about a value.
fn bound_word(value: &Value) -> String {
    let digest = digest(value);
    let hex = digest.rsplit(':').next().unwrap_or(&digest);
    format!("{WORD}.{}", hex.get(..BOUND_DIGITS).unwrap_or(hex))
}

/// The suffix of the ids of questions about a call with a preview.
pub(crate) fn question_word(bound_to: Option<&Value>, preview: &Preview) -> String {
    bound_word(&json!({ "bound_to": bound_to, "preview": preview }))
}

/// Returns whether a decision answered a question of this gate, of any version and of any preview.
fn is_ours(decision: &Decision) -> bool {
    let rest = word(&decision.suspension_id).and_then(|word| word.strip_prefix(WORD));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns whether an earlier question of this gate was about another version or preview than the present one. Its answer
/// counts no more.
pub(crate) fn is_superseded(earlier: &str, present: &str) -> bool {
    let of_gate = |id: &str| word(id).filter(|word| word.starts_with(WORD)).map(str::to_owned);
    matches!((of_gate(earlier), of_gate(present)), (Some(earlier), Some(present)) if earlier != present)
}

/// Returns whether this gate has asked about the call before.
fn was_asked(call: &GateCall<'_>) -> bool {
    call.decisions().iter().any(|decision| is_ours(decision))
}

/// The number of actors that answered questions of this gate.
pub(crate) fn approvers(decisions: &[Decision]) -> usize {
    let ours = decisions.iter().filter(|decision| is_ours(decision));
    people(ours.filter_map(|it| it.actor.as_deref()))
}

/// The number of distinct actors among these names.
fn people<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    let mut people: Vec<&str> = Vec::new();
    for name in names {
        if !people.iter().any(|one| is_one_actor(one, name)) {
            people.push(name);
        }
    }
    people.len()
}

/// Plugin that asks approvers before tools execute. It is for tools whose [`ToolSpec`](crate::ToolSpec) cannot
/// be changed. For tools that [need an approval](crate::ToolSpec::needs_approval), an agent asks without this
/// plugin.
///
/// An approved call executes; a denied call is cancelled. An approval is for the arguments that were shown. If a
/// decision on another question replaces them, and the new arguments need an approval, the call is blocked.
///
/// The suspension id of each question ends in `:runstate.approval`, with a digest behind it if the approval is bound to a
/// version or to a preview. Suffixes that begin with `runstate.` belong to
/// the library, and no tool or other plugin can use them. The answer to any other question approves nothing. The
/// plugin must therefore be passed to the agent directly. If another plugin forwards its verdicts, the questions
/// belong to that plugin, and the call is asked about again and again.
///
/// If several policies apply to one tool, one approval counts for all of them that are bound to the same version, and the
/// policy with the most approvers decides.
///
/// ```
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::{
///     Agent, Approval, Approvals, Incoming, InferenceRequest, Input, RunHandles, Message, Model, ModelStream, RunState, Tool,
///     ToolContext, ToolSpec, async_trait, inbox, run_loop,
/// };
/// use runstate::decision::DecisionAction;
/// use runstate::tool_result::ToolResult;
///
/// struct Pays;
///
/// impl Model for Pays {
///     fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
///         let events = match request.history.last() {
///             Some(Message::Result(_)) => vec![ModelEvent::Text("paid".into()), ModelEvent::Finish(FinishReason::Stop)],
///             _ => vec![
///                 ModelEvent::CallStart { index: 0, id: "c1".into(), tool: "pay".into() },
///                 ModelEvent::Arguments { index: 0, delta: r#"{"amount": 1000}"#.into() },
///                 ModelEvent::Finish(FinishReason::ToolCalls),
///             ],
///         };
///         Box::pin(futures_util::stream::iter(events))
///     }
/// }
///
/// struct Pay(ToolSpec);
///
/// #[async_trait]
/// impl Tool for Pay {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///
///     async fn call(&self, cx: &mut ToolContext) -> ToolResult {
///         ToolResult::Success(cx.arguments()["amount"].clone())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pay = || Pay(ToolSpec::new("pay", "Pays."));
/// let two = || Approvals::new().tool("pay", Approval::always().by(2));
/// let agent = Agent::builder(Pays).tool(pay()).plugin(two()).build()?;
/// let mut state = RunState::new("r1");
/// run_loop(&agent, &mut state, Input::message("pay"), RunHandles::new()).await?;
///
/// for (id, actor) in [("d1", "ada"), ("d2", "ben")] {
///     let question = state.pending().first().ok_or("nothing waits")?.suspension.id.clone();
///     let (_handle, mut decisions) = inbox();
///     decisions.put(Incoming::new(id, "c1", DecisionAction::Resume).on(&question).by(actor));
///     run_loop(&agent, &mut state, Input::Resume, RunHandles::new().inbox(&mut decisions)).await?;
/// }
/// assert_eq!(state.thread().last_answer().unwrap().text, "paid");
///
/// // A tool unknown to the agent is refused, because no call would ever reach its gate.
/// let typo = Approvals::new().tool("pya", Approval::always());
/// let error = Agent::builder(Pays).tool(pay()).plugin(typo).build().unwrap_err();
/// assert_eq!(error.to_string(), "the plugin \"approvals\" is about the tool \"pya\"; the agent has pay");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Approvals {
    of: HashMap<String, Vec<Approval>>,
}

impl Approvals {
    /// Creates a plugin without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool and its policy. [`build`](crate::AgentBuilder::build) refuses an agent that has no tool of
    /// that name.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>, approval: Approval) -> Self {
        self.of.entry(tool.into()).or_default().push(approval);
        self
    }
}

#[async_trait]
impl Plugin for Approvals {
    fn name(&self) -> &str {
        "approvals"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[Phase::BeforeToolExecute])
    }

    fn tools(&self) -> Vec<&str> {
        let mut tools: Vec<_> = self.of.keys().map(String::as_str).collect();
        tools.sort_unstable();
        tools
    }

    async fn before_tool_execute(
        &self,
        cx: &mut PhaseContext<'_>,
        call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        let of = || self.of.get(call.tool()).into_iter().flatten();
        let preview = match of().any(|approval| approval.asks_about(call)) {
            true => call.preview().await.map(|preview| preview.shortened()),
            false => None,
        };
        let now_ms = cx.now_ms();
        let verdicts = of().map(|approval| approval.verdict(call, preview.as_ref(), now_ms));
        Ok(verdicts.fold(Verdict::Allow, Verdict::and))
    }
}
