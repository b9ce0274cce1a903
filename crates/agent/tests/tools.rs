//! Tools that keep a ledger, and the gate before them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use runstate::decision::{ResumeMode, Suspension};
use runstate::tool_result::ToolResult;
use runstate_agent::{
    Effect, GateCall, Phase, PhaseContext, Phases, Plugin, PluginError, Tool, ToolContext, ToolSpec, Verdict,
    async_trait,
};
use serde_json::{Value, json};

/// What tools did, outside of the run: the idempotency key of each execution.
pub type Ledger = Arc<Mutex<Vec<String>>>;

/// What a tool does.
type Does = Box<dyn for<'c> Fn(&'c mut ToolContext) -> BoxFuture<'c, ToolResult> + Send + Sync>;

/// A tool that writes into the ledger and answers as it was told.
struct Noted {
    spec: ToolSpec,
    does: Does,
    ledger: Ledger,
}

#[async_trait]
impl Tool for Noted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        self.ledger.lock().unwrap().push(cx.idempotency_key());
        (self.does)(cx).await
    }
}

/// A tool that does this.
pub fn tool<F>(ledger: &Ledger, spec: ToolSpec, does: F) -> Arc<dyn Tool>
where
    F: for<'c> Fn(&'c mut ToolContext) -> BoxFuture<'c, ToolResult> + Send + Sync + 'static,
{
    Arc::new(Noted { spec, does: Box::new(does), ledger: Arc::clone(ledger) })
}

pub fn once(name: &str) -> ToolSpec {
    ToolSpec::new(name, "")
}

pub fn repeatable(name: &str) -> ToolSpec {
    ToolSpec::new(name, "").repeatable()
}

/// A tool by its name: how it may be repeated, and what it answers.
pub type Kind = (&'static str, Effect, fn(&ToolContext) -> ToolResult);

/// The tools that answer at once.
pub const KINDS: [Kind; 21] = [
    ("read", Effect::Repeatable, |cx| ToolResult::Success(cx.arguments().clone())),
    ("write", Effect::Once, |_| ToolResult::Success(json!("written"))),
    ("write_twice", Effect::Once, |_| ToolResult::Success(json!("written at last"))),
    ("two_people", Effect::Once, |_| ToolResult::Success(json!("agreed"))),
    ("note", Effect::Once, |cx| ToolResult::Success(json!({ "noted": cx.arguments() }))),
    ("fail", Effect::Repeatable, |_| ToolResult::Error("no such file".into())),
    ("panic", Effect::Repeatable, |_| std::panic::resume_unwind(Box::new("out of paper"))),
    ("warn", Effect::Repeatable, |_| ToolResult::Warning {
        output: json!("done"),
        warning: "the disk is nearly full".into(),
    }),
    ("blocked", Effect::Once, |_| panic!("the gate lets nothing through")),
    ("fixed", Effect::Once, |_| panic!("the gate gives the result")),
    ("revoked", Effect::Once, |_| panic!("the gate lets nothing through")),
    ("deep", Effect::Repeatable, |_| ToolResult::Success(nested(97))),
    ("deep_question", Effect::Repeatable, |_| {
        let mut suspension = Suspension::new("", "ask", "how deep?");
        suspension.parameters = nested(97);
        ToolResult::Pending(suspension)
    }),
    ("deep_gate", Effect::Repeatable, |_| panic!("the gate gives the result")),
    ("ask", Effect::Repeatable, |cx| ask(cx, ResumeMode::ReplayToolCall, 1)),
    ("ask_once", Effect::Once, |cx| ask(cx, ResumeMode::ReplayToolCall, 1)),
    ("ask_twice", Effect::Repeatable, |cx| ask(cx, ResumeMode::ReplayToolCall, 2)),
    ("ask_result", Effect::Once, |cx| ask(cx, ResumeMode::UseDecisionAsToolResult, 1)),
    ("ask_arguments", Effect::Once, |cx| ask(cx, ResumeMode::PassDecisionToTool, 1)),
    ("lapsing", Effect::Repeatable, |cx| match cx.decision() {
        None => ToolResult::Pending(Suspension::new("soon", "ask", "quick!").expiring_at(1_000)),
        Some(_) => ToolResult::Success(json!("in time")),
    }),
    ("careless", Effect::Repeatable, |cx| match cx.decision() {
        None => ToolResult::Pending(Suspension::new("always the same", "ask", "may I?")),
        Some(_) => ToolResult::Success(json!("thank you")),
    }),
];

/// A value of that many levels.
pub fn nested(levels: usize) -> Value {
    (0..levels)
        .fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "in": inner }) })
}

/// Asks that often, once an execution.
fn ask(cx: &ToolContext, mode: ResumeMode, times: u32) -> ToolResult {
    let key = cx.idempotency_key();
    let attempt: u32 = key.rsplit('/').next().unwrap().parse().unwrap();
    if cx.decision().is_none() || attempt <= times {
        return ToolResult::Pending(Suspension::new(format!("ask/{key}"), "ask", "which?").resuming_by(mode));
    }
    ToolResult::Success(cx.arguments().clone())
}

/// All tools that tests call by name. `slow` and `approved` take as many milliseconds as their argument `ms` says; `hang` never ends.
pub fn tools(ledger: &Ledger) -> Vec<Arc<dyn Tool>> {
    let of_kind = |(name, effect, answer): &Kind| {
        let spec = if *effect == Effect::Once { once(name) } else { repeatable(name) };
        let answer = *answer;
        tool(ledger, spec, move |cx| {
            Box::pin(async move {
                tokio::task::yield_now().await;
                answer(cx)
            })
        })
    };
    let mut tools: Vec<_> = KINDS.iter().map(of_kind).collect();
    for spec in [repeatable("slow"), once("approved"), once("slow_once")] {
        tools.push(tool(ledger, spec, |cx| {
            Box::pin(async move {
                let ms = cx.arguments()["ms"].as_u64().unwrap_or(0);
                tokio::time::sleep(Duration::from_millis(ms)).await;
                ToolResult::Success(json!(ms))
            })
        }));
    }
    tools.push(tool(ledger, repeatable("hang"), |_| Box::pin(std::future::pending())));
    tools
}

/// The gate, by the tool's name.
pub struct Rules;

#[async_trait]
impl Plugin for Rules {
    fn name(&self) -> &str {
        "rules"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[Phase::BeforeToolExecute])
    }

    async fn before_tool_execute(
        &self,
        _: &mut PhaseContext<'_>,
        call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        tokio::task::yield_now().await;
        let asked = || Verdict::Suspend(Suspension::ask("approve", format!("execute {}?", call.tool())));
        Ok(match (call.tool(), call.decision()) {
            ("write" | "approved", None) => asked(),
            ("revoked", Some(_)) => Verdict::Block("the permission was withdrawn".into()),
            ("revoked", None) => asked(),
            ("write_twice", None) => asked(),
            ("two_people", of) if of.is_none_or(|decision| decision.suspension_id.ends_with("/1")) => {
                Verdict::Suspend(Suspension::ask("approve", "do you agree?").by_distinct_actors())
            }
            ("write_twice", Some(decision)) if decision.suspension_id.ends_with("/1") => asked(),
            ("blocked", _) => Verdict::Block("not in this folder".into()),
            ("deep_gate", _) => Verdict::SetResult(nested(97)),
            ("fixed", _) => Verdict::SetResult(json!("from the gate")),
            _ => Verdict::Allow,
        })
    }
}
