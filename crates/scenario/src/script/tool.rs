//! A scripted tool.

use std::panic::resume_unwind;
use std::time::Duration;

use runstate::tool_result::ToolResult;
use runstate_agent::keys::{Key, KeyError};
use runstate_agent::{Effect, GateCall, Preview, Tool, ToolContext, ToolSpec, async_trait};
use serde_json::Value;
use tokio::time::sleep;

use super::Cast;
use crate::file::{self, Behaviour, Gives, Patch};

pub(super) struct Scripted {
    spec: ToolSpec,
    script: file::Tool,
    cast: Cast,
}

impl Scripted {
    pub(super) fn new(name: &str, script: &file::Tool, cast: Cast) -> Self {
        let mut spec = ToolSpec::new(name, &*script.about);
        if let Some(schema) = &script.schema {
            spec = spec.with_schema(schema.clone());
        }
        if Effect::from(script.effect) == Effect::Repeatable {
            spec = spec.repeatable();
        }
        Scripted { spec, script: script.clone(), cast }
    }

    /// The behaviour of an execution of the call; the last behaviour is used for all further ones.
    fn behaviour(&self, call: &str, attempt: u32) -> Behaviour {
        let behaviours = self.script.calls.get(call).unwrap_or(&self.script.does);
        // An interrupted execution continues at its place, also as another attempt.
        let nth = self.cast.asks.of_tool(call).unwrap_or((attempt as usize).saturating_sub(1));
        behaviours.get(nth).or_else(|| behaviours.last()).cloned().unwrap_or_default()
    }
}

#[async_trait]
impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        if self.cast.gone.is() {
            std::future::pending::<()>().await;
        }
        let attempt = attempt(cx);
        let behaviour = self.behaviour(cx.call(), attempt);
        let effect = self.cast.ledger.begin(self.spec.name(), cx, attempt, self.cast.clock.now_ms());
        let mut gone_ms = 0;
        for progress in behaviour.progress {
            wait(progress.at_ms.saturating_sub(gone_ms)).await;
            gone_ms = progress.at_ms;
            cx.progress(progress.value).await;
        }
        wait(behaviour.takes_ms.saturating_sub(gone_ms)).await;
        let patched: Result<(), KeyError> = behaviour.patches.iter().try_for_each(|patch| {
            patched(patch, |key, value| match value {
                Some(value) => cx.set(key, value),
                None => {
                    cx.remove(key);
                    Ok(())
                }
            })
        });
        if behaviour.gives == Gives::Nothing {
            std::future::pending::<()>().await;
        }
        self.cast.ledger.end(effect, self.cast.clock.now_ms());
        match patched {
            Ok(()) => self.result(cx, behaviour.gives),
            Err(error) => ToolResult::Error(error.to_string()),
        }
    }

    async fn preview(&self, call: &GateCall<'_>) -> Option<Preview> {
        let previews = self.script.previews.get(call.name())?;
        previews.get(call.decisions().len()).or(previews.last()).cloned()
    }
}

impl Scripted {
    fn result(&self, cx: &ToolContext, gives: Gives) -> ToolResult {
        match gives {
            Gives::Arguments => ToolResult::Success(cx.arguments().clone()),
            Gives::Success(output) => ToolResult::Success(output),
            Gives::Warning { output, warning } => ToolResult::Warning { output, warning },
            Gives::Pending(ticket) => {
                self.cast.asks.tool_asks(cx.call());
                ToolResult::Pending(ticket.suspension(self.spec.name(), self.cast.clock.now_ms()))
            }
            Gives::Error(error) => ToolResult::Error(error),
            // Without the panic hook: a scripted panic must not appear on standard error.
            Gives::Panic(message) => resume_unwind(Box::new(message)),
            Gives::Nothing => unreachable!("a tool that gives nothing is still waited for"),
        }
    }
}

/// Sets or removes the key of a patch with `write`.
pub(super) fn patched<E>(
    patch: &Patch,
    write: impl FnOnce(&Key<Value>, Option<&Value>) -> Result<(), E>,
) -> Result<(), E> {
    let key = Key::named(&*patch.key, patch.scope);
    write(&if patch.persistent { key.persistent() } else { key }, patch.value.as_ref())
}

async fn wait(ms: u64) {
    if ms > 0 {
        sleep(Duration::from_millis(ms)).await;
    }
}

/// The number of this execution, from the idempotency key: unchanged by a crash.
fn attempt(cx: &ToolContext) -> u32 {
    let key = cx.idempotency_key();
    key.rsplit('/').next().and_then(|attempt| attempt.parse().ok()).unwrap_or(1)
}
