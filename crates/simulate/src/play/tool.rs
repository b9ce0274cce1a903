//! Tools with the outcomes of the case, and a record of their executions.

use std::sync::Arc;
use std::time::Duration;

use runstate::decision::Suspension;
use runstate::tool_call::CallKey;
use runstate::tool_result::ToolResult;
use runstate_agent::keys::Key;
use runstate_agent::{Approval, SchemaCheck, Tool, ToolContext, ToolSpec, async_trait};
use serde_json::{Value, json};

use super::log::What;
use super::world::World;
use crate::case::{Ask, ComesTo, Needs, ToolName, Writes};

/// The field of an output with the number of the execution.
pub const OUTPUT: &str = "execution";

pub(super) struct Scripted {
    spec: ToolSpec,
    world: Arc<World>,
}

impl Scripted {
    pub(super) fn new(tool: ToolName, world: &Arc<World>) -> Scripted {
        let spec = ToolSpec::new(tool.name(), "scripted");
        let spec = match tool {
            ToolName::Read => spec.repeatable(),
            ToolName::Strict => spec.with_schema(json!({ "need": "n" })),
            ToolName::Write | ToolName::Missing => spec,
        };
        let mut approvals = world.case.approvals.iter();
        let spec = match approvals.find(|needs| needs.tool == tool && !needs.by_plugin) {
            Some(needs) => spec.needs_approval(approval(needs)),
            None => spec,
        };
        Scripted { spec, world: Arc::clone(world) }
    }
}

/// The approvals that a case requires.
pub(super) fn approval(needs: &Needs) -> Approval {
    let approval = match needs.odd {
        true => Approval::when(|arguments| arguments["n"].as_u64().is_none_or(|n| n % 2 == 1)),
        false => Approval::always(),
    };
    approval.by(needs.people)
}

/// Records a tool that is dropped before it answers.
struct Watched<'w> {
    world: &'w World,
    call: String,
    answered: bool,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.world.note(What::Dropped { call: std::mem::take(&mut self.call) });
        }
    }
}

#[async_trait]
impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        let world = Arc::clone(&self.world);
        if world.is_dead() {
            std::future::pending::<()>().await;
        }
        let (call, key) = (cx.call().to_owned(), cx.key());
        let (_, nth) = world.lives(&call);
        let kept = world.durable();
        world.note(What::Began {
            call: call.clone(),
            key,
            nth,
            idempotency: cx.idempotency_key(),
            arguments: cx.arguments().clone(),
            decision: cx.decision().cloned(),
            durable: kept.kept.then_some(kept),
        });
        let mut watched = Watched { world: &world, call: call.clone(), answered: false };
        let planned = world.case.call(key.step, key.ordinal);
        let execution = planned.and_then(|planned| planned.executions.get(nth).or(planned.executions.last()));
        let Some(execution) = execution else {
            return ToolResult::Error(format!("the case has no call {key}"));
        };
        for piece in 0..execution.progress {
            cx.progress(piece).await;
        }
        tokio::time::sleep(Duration::from_millis(execution.delay_ms)).await;
        let written = match execution.writes {
            Writes::Nothing => Ok(()),
            Writes::Own => cx.set(&own_key(key), &(nth as u64 + 1)),
            Writes::Step => cx.set(&STEP, &u64::from(key.step)),
            Writes::Contradiction => cx.set(&STEP, &u64::from(1_000 + key.ordinal)),
        };
        if let Err(error) = written {
            world.wrong(format!("{call} could not write: {error}"));
        }
        watched.answered = true;
        world.note(What::Answered { call: call.clone(), nth });
        match &execution.comes_to {
            ComesTo::Success => ToolResult::Success(output(key, nth)),
            ComesTo::Warning => {
                ToolResult::Warning { output: output(key, nth), warning: "nearly".to_owned() }
            }
            ComesTo::Error => ToolResult::Error(format!("{key} failed")),
            ComesTo::Panic => std::panic::resume_unwind(Box::new(format!("{key} fell over"))),
            ComesTo::Pending(ask) => ToolResult::Pending(suspension(ask, "tool", key, world.now_ms())),
        }
    }
}

/// The key that all calls of a step write.
pub(super) const STEP: Key<u64> = Key::run("step").persistent();

fn own_key(key: CallKey) -> Key<u64> {
    Key::named(format!("own/{key}"), runstate_agent::keys::Scope::Thread).persistent()
}

fn output(key: CallKey, nth: usize) -> Value {
    json!({ "call": key.to_string(), OUTPUT: nth })
}

pub(super) fn suspension(ask: &Ask, action: &str, key: CallKey, now_ms: u64) -> Suspension {
    let mut suspension = Suspension::ask(action, "may I?").resuming_by(ask.mode);
    suspension.parameters = json!({ "key": key });
    suspension.id = ask.id.clone().unwrap_or_default();
    suspension.expires_at_ms = ask.lapses_ms.map(|after| now_ms + after);
    suspension.distinct_actors = ask.distinct;
    suspension.response_schema = ask.schema.then(|| json!({ "need": "ok" }));
    suspension
}

/// A schema is the name of a required field.
#[derive(Debug, Clone, Copy)]
pub struct Checked;

impl SchemaCheck for Checked {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        match schema["need"].as_str() {
            Some(field) if value.get(field).is_none() => Err(format!("{field:?} is missing")),
            _ => Ok(()),
        }
    }
}
