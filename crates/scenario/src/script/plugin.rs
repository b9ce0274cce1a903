//! Plugins with one action each.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use runstate::decision::Decision;
use runstate::termination::{FinalReason, TerminationReason};
use runstate::turn::Turn;
use runstate_agent::answer::Usage;
use runstate_agent::{
    Approval, Approvals, ExecutedCall, GateCall, InferenceRequest, Phase, PhaseContext, Plugin, PluginError,
    Verdict, async_trait,
};
use tokio::time::sleep;

use super::tool::patched;
use crate::Scenario;
use crate::file::{self, At, Says, Ticket};

/// The plugins of a scenario; plugins for `approve` come first.
pub(super) fn all(scenario: &Scenario) -> Vec<Arc<dyn Plugin>> {
    let approvals = scenario.approve.iter().map(|tool| {
        let does = file::Plugin::Ask { tool: tool.clone(), times: 1, ticket: Ticket::default() };
        Arc::new(Scripted { name: format!("approve {tool}"), does, supplies: true }) as Arc<dyn Plugin>
    });
    let plugins = scenario.plugins.iter().map(|does| match does {
        file::Plugin::Approval { tool, people, message, bound_to } => {
            let mut approval = Approval::always().by(*people);
            if let Some(message) = message.clone() {
                approval = approval.asking(move |_| message.clone());
            }
            if let Some(value) = bound_to.clone() {
                approval = approval.bound_to(value);
            }
            Arc::new(Approvals::new().tool(tool, approval)) as Arc<dyn Plugin>
        }
        does => Arc::new(Scripted { name: name(does), does: does.clone(), supplies: false }),
    });
    approvals.chain(plugins).collect()
}

struct Scripted {
    name: String,
    does: file::Plugin,
    /// Is a decision's result the call's result?
    supplies: bool,
}

fn name(does: &file::Plugin) -> String {
    match does {
        file::Plugin::Ask { tool, .. } => format!("ask {tool}"),
        file::Plugin::Approval { tool, .. } => format!("approval {tool}"),
        file::Plugin::Block { tool, .. } => format!("block {tool}"),
        file::Plugin::BlockRun { tool, .. } => format!("block_run {tool}"),
        file::Plugin::SetResult { tool, .. } => format!("set_result {tool}"),
        file::Plugin::Gate { call, .. } => format!("gate {call}"),
        file::Plugin::EndRun { .. } => "end_run".to_owned(),
        file::Plugin::SkipInference { .. } => "skip_inference".to_owned(),
        file::Plugin::System { .. } => "system".to_owned(),
        file::Plugin::Parameter { .. } => "parameter".to_owned(),
        file::Plugin::Offer { .. } => "offer".to_owned(),
        file::Plugin::LastMessages { .. } => "last_messages".to_owned(),
        file::Plugin::Say { .. } => "say".to_owned(),
        file::Plugin::DropCalls { .. } => "drop_calls".to_owned(),
        file::Plugin::Set { .. } => "set".to_owned(),
        file::Plugin::Wait { .. } => "wait".to_owned(),
        file::Plugin::Fail { .. } => "fail".to_owned(),
        file::Plugin::Panic { .. } => "panic".to_owned(),
    }
}

fn is_here(at: &At, cx: &PhaseContext<'_>) -> bool {
    cx.phase() == at.phase.into()
        && at.step.is_none_or(|step| step == cx.step())
        && at.activation.is_none_or(|activation| activation == cx.activation())
}

impl Scripted {
    /// The action in any phase.
    async fn anywhere(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        match &self.does {
            file::Plugin::EndRun { at, reason } if is_here(at, cx) => {
                cx.end_run(FinalReason::try_from(reason.clone())?);
            }
            file::Plugin::Set { at, patch } if is_here(at, cx) => patched(patch, |key, value| match value {
                Some(value) => cx.set(key, value),
                None => {
                    cx.remove(key);
                    Ok(())
                }
            })
            .map_err(|error| PluginError::new(error.to_string()))?,
            file::Plugin::Wait { at, ms } if is_here(at, cx) => sleep(Duration::from_millis(*ms)).await,
            file::Plugin::Fail { at, message } if is_here(at, cx) => {
                return Err(PluginError::new(message.clone()));
            }
            // Without the panic hook: a scripted panic must not appear on standard error.
            file::Plugin::Panic { at, message } if is_here(at, cx) => {
                resume_unwind(Box::new(message.clone()))
            }
            _ => {}
        }
        Ok(())
    }

    fn verdict(&self, cx: &PhaseContext<'_>, call: &GateCall<'_>) -> Verdict {
        match &self.does {
            file::Plugin::Ask { tool, times, ticket } if tool == call.tool() => {
                // Decisions are counted, not passes: a dropped pass comes again. A doubt is no question of this gate.
                let given = answered(call);
                match call.decision() {
                    Some(decision) if self.supplies && !decision.result.is_null() => {
                        Verdict::SetResult(decision.result.clone())
                    }
                    _ if given < *times as usize => Verdict::Suspend(ticket.suspension(tool, cx.now_ms())),
                    _ if given > *times as usize && call.is_replaced() => Verdict::Block(format!(
                        "{tool} is approved before it executes, and a later decision replaced its arguments: call it anew with them"
                    )),
                    _ => Verdict::Allow,
                }
            }
            file::Plugin::Block { tool, reason, on_replay }
                if tool == call.tool() && (!on_replay || call.decision().is_some()) =>
            {
                Verdict::Block(reason.clone())
            }
            file::Plugin::BlockRun { tool, reason } if tool == call.tool() => {
                Verdict::BlockRun(reason.clone())
            }
            file::Plugin::SetResult { tool, result } if tool == call.tool() => {
                Verdict::SetResult(result.clone())
            }
            file::Plugin::Gate { call: named, asked, says }
                if named == call.name() && *asked as usize == answered(call) =>
            {
                match says {
                    Says::Ask(ticket) => Verdict::Suspend(ticket.suspension(call.tool(), cx.now_ms())),
                    Says::Block(reason) => Verdict::Block(reason.clone()),
                    Says::BlockRun(reason) => Verdict::BlockRun(reason.clone()),
                    Says::SetResult(result) => Verdict::SetResult(result.clone()),
                }
            }
            _ => Verdict::Allow,
        }
    }
}

/// The number of answered questions of the gate or the tool of a call. A doubt is no question of either.
fn answered(call: &GateCall<'_>) -> usize {
    let is_ours = |decision: &&&Decision| !decision.suspension_id.ends_with("/in_doubt");
    call.decisions().iter().filter(is_ours).count()
}

#[async_trait]
impl Plugin for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    async fn run_start(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        self.anywhere(cx).await
    }

    async fn step_start(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        self.anywhere(cx).await
    }

    async fn before_inference(
        &self,
        cx: &mut PhaseContext<'_>,
        request: &mut InferenceRequest,
    ) -> Result<(), PluginError> {
        match &self.does {
            file::Plugin::SkipInference { step } if *step == cx.step() => cx.skip_inference(),
            file::Plugin::System { prompt } => request.system = Some(prompt.as_str().into()),
            file::Plugin::Parameter { name, value } => request.set_parameter(name.as_str(), value.clone()),
            file::Plugin::Offer { tools, step } if step.is_none_or(|step| step == cx.step()) => {
                request.offer_only(|tool| tools.iter().any(|offered| offered == tool.name()));
            }
            file::Plugin::LastMessages { count } => {
                let messages = request.history.edit();
                let first = messages.len().saturating_sub(*count);
                messages.drain(..first);
            }
            _ => {}
        }
        self.anywhere(cx).await
    }

    async fn after_inference(
        &self,
        cx: &mut PhaseContext<'_>,
        turn: &mut Turn,
        _: &Usage,
    ) -> Result<(), PluginError> {
        match &self.does {
            file::Plugin::Say { step, text } if *step == cx.step() => turn.text.clone_from(text),
            file::Plugin::DropCalls { tool } => turn.calls.retain(|call| call.tool != *tool),
            _ => {}
        }
        self.anywhere(cx).await
    }

    async fn before_tool_execute(
        &self,
        cx: &mut PhaseContext<'_>,
        call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        debug_assert_eq!(cx.phase(), Phase::BeforeToolExecute);
        self.anywhere(cx).await?;
        Ok(self.verdict(cx, call))
    }

    async fn after_tool_execute(
        &self,
        cx: &mut PhaseContext<'_>,
        _: &ExecutedCall<'_>,
    ) -> Result<(), PluginError> {
        self.anywhere(cx).await
    }

    async fn step_end(&self, cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        self.anywhere(cx).await
    }

    async fn run_end(&self, cx: &mut PhaseContext<'_>, _: &TerminationReason) -> Result<(), PluginError> {
        self.anywhere(cx).await
    }
}
