//! A tool whose effect is a line in the ledger.

use std::sync::Arc;
use std::time::Duration;

use runstate::tool_result::ToolResult;
use runstate_agent::keys::{Key, Scope};
use runstate_agent::{Tool, ToolContext, ToolSpec, async_trait};
use serde_json::json;

use super::ahead::Ahead;
use super::host::question;
use crate::ledger::{Entry, Execution, Ledger};
use crate::script::{Asks, Call, ToolName};

/// Writes before and after its effect; its arguments give its duration.
pub(super) struct Act {
    spec: ToolSpec,
    ledger: Ledger,
    by: Arc<str>,
    clock: Ahead,
}

impl Act {
    pub(super) fn new(
        name: ToolName,
        is_repeatable: bool,
        ledger: Ledger,
        by: Arc<str>,
        clock: Ahead,
    ) -> Self {
        let spec = ToolSpec::new(name.name(), "Writes into the ledger.");
        let spec = if is_repeatable { spec.repeatable() } else { spec };
        Act { spec, ledger, by, clock }
    }

    async fn act(&self, cx: &ToolContext, call: &Call) -> std::io::Result<()> {
        let execution = Execution {
            run: cx.run().to_owned(),
            call: cx.call().to_owned(),
            key: cx.idempotency_key(),
            by: self.by.to_string(),
        };
        self.ledger.note_durably(Entry::Began(execution.clone())).await?;
        tokio::time::sleep(Duration::from_millis(call.ms)).await;
        self.ledger.note_durably(Entry::Ended(execution)).await
    }
}

#[async_trait]
impl Tool for Act {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        let call: Call = match serde_json::from_value(cx.arguments().clone()) {
            Ok(call) => call,
            Err(error) => return ToolResult::Error(format!("these are not its arguments: {error}")),
        };
        if let Err(error) = self.act(cx, &call).await {
            return ToolResult::Error(format!("the ledger: {error}"));
        }
        let key = cx.idempotency_key();
        if call.asks == Asks::Tool && cx.decision().is_none() {
            return ToolResult::Pending(question(&call, &self.clock));
        }
        // Each call writes its own key: the values of a round's calls must not contradict each other.
        let kept = Key::<String>::named(cx.call(), Scope::Run).persistent();
        if let Err(error) = cx.set(&kept, &key) {
            return ToolResult::Error(error.to_string());
        }
        match call.fails {
            true => ToolResult::Error(format!("failed as {key}")),
            false => ToolResult::Success(json!({ "acted_as": key })),
        }
    }
}
