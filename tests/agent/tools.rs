//! Tools that keep a ledger, and the gate before them.

use std::cell::RefCell;
use std::rc::Rc;

use runstate::agent::{Effect, Gate, Tool, ToolInput, Verdict};
use runstate::decision::{Decision, ResumeMode, Suspension};
use runstate::tool_call::CallRecord;
use runstate::tool_result::ToolResult;
use serde_json::{Value, json};

/// What tools did, outside of the run: the idempotency key of each execution.
pub type Ledger = Rc<RefCell<Vec<String>>>;

/// A tool that writes into the ledger and answers as it was told.
struct Noted {
    name: &'static str,
    effect: Effect,
    answer: fn(&ToolInput<'_>) -> ToolResult,
    ledger: Ledger,
}

impl Tool for Noted {
    fn name(&self) -> &str {
        self.name
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn call(&mut self, input: &ToolInput<'_>) -> ToolResult {
        self.ledger.borrow_mut().push(input.idempotency_key());
        (self.answer)(input)
    }
}

/// A tool by its name: how it may be repeated, and what it answers.
pub type Kind = (&'static str, Effect, fn(&ToolInput<'_>) -> ToolResult);

/// All tools that tests call.
pub const KINDS: [Kind; 20] = [
    ("read", Effect::Repeatable, |input| ToolResult::Success(input.arguments().clone())),
    ("write", Effect::Once, |_| ToolResult::Success(json!("written"))),
    ("write_twice", Effect::Once, |_| ToolResult::Success(json!("written at last"))),
    ("note", Effect::Once, |input| ToolResult::Success(json!({ "noted": input.arguments() }))),
    ("fail", Effect::Repeatable, |_| ToolResult::Error("no such file".into())),
    ("panic", Effect::Repeatable, |_| std::panic::resume_unwind(Box::new("out of paper"))),
    ("warn", Effect::Repeatable, |_| ToolResult::Warning {
        output: json!("done"),
        warning: "the disk is nearly full".into(),
    }),
    ("blocked", Effect::Once, |_| panic!("the gate lets nothing through")),
    ("fixed", Effect::Once, |_| panic!("the gate gives the result")),
    ("revoked", Effect::Once, |_| panic!("the gate lets nothing through")),
    ("deep", Effect::Repeatable, |_| ToolResult::Success(nested(200))),
    ("deep_question", Effect::Repeatable, |_| {
        let mut suspension = Suspension::new("", "ask", "how deep?");
        suspension.parameters = nested(200);
        ToolResult::Pending(suspension)
    }),
    ("deep_gate", Effect::Repeatable, |_| panic!("the gate gives the result")),
    ("ask", Effect::Repeatable, |input| ask(input, ResumeMode::ReplayToolCall, 1)),
    ("ask_once", Effect::Once, |input| ask(input, ResumeMode::ReplayToolCall, 1)),
    ("ask_twice", Effect::Repeatable, |input| ask(input, ResumeMode::ReplayToolCall, 2)),
    ("ask_result", Effect::Once, |input| ask(input, ResumeMode::UseDecisionAsToolResult, 1)),
    ("ask_arguments", Effect::Once, |input| ask(input, ResumeMode::PassDecisionToTool, 1)),
    ("lapsing", Effect::Repeatable, |input| match input.decision() {
        None => ToolResult::Pending(Suspension::new("soon", "ask", "quick!").expiring_at(1_000)),
        Some(_) => ToolResult::Success(json!("in time")),
    }),
    ("careless", Effect::Repeatable, |input| match input.decision() {
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
fn ask(input: &ToolInput<'_>, mode: ResumeMode, times: u32) -> ToolResult {
    let key = input.idempotency_key();
    let attempt: u32 = key.rsplit('/').next().unwrap().parse().unwrap();
    if input.decision().is_none() || attempt <= times {
        return ToolResult::Pending(Suspension::new(format!("ask/{key}"), "ask", "which?").resuming_by(mode));
    }
    ToolResult::Success(input.arguments().clone())
}

pub fn tools(ledger: &Ledger) -> Vec<Box<dyn Tool>> {
    let tool = |(name, effect, answer): &Kind| -> Box<dyn Tool> {
        Box::new(Noted { name, effect: *effect, answer: *answer, ledger: Rc::clone(ledger) })
    };
    KINDS.iter().map(tool).collect()
}

/// The gate, by the tool's name.
pub struct Rules;

impl Gate for Rules {
    fn check(&self, call: &CallRecord, decision: Option<&Decision>) -> Verdict {
        let asked =
            || Verdict::Suspend { action: "approve".into(), message: format!("execute {}?", call.tool()) };
        match call.tool() {
            "write" if decision.is_none() => asked(),
            "revoked" if decision.is_some() => Verdict::Block("the permission was withdrawn".into()),
            "revoked" => asked(),
            "write_twice" if call.suspensions() < 2 => asked(),
            "blocked" => Verdict::Block("not in this folder".into()),
            "deep_gate" => Verdict::SetResult(nested(200)),
            "fixed" => Verdict::SetResult(json!("from the gate")),
            _ => Verdict::Allow,
        }
    }
}
