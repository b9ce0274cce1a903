use runstate_agent::{Tool, ToolContext};
use runstate::tool_execution::{Allow, BeforeToolExecute, ExecuteTool, ToolExecution};
use runstate::tool_result::ToolResult;

#[cfg(illegal)]
pub async fn with_a_gate_that_is_shut(tool: &dyn Tool, gate: &ToolExecution<BeforeToolExecute>) -> ToolResult {
    tool.call(&mut ToolContext::new(gate, todo!(), todo!(), todo!(), todo!(), None)).await
}

#[cfg(illegal)]
pub fn before_the_gate(gate: ToolExecution<BeforeToolExecute>, result: &ToolResult) {
    drop(gate.answered(result));
}

#[cfg(not(illegal))]
pub async fn behind_the_gate(
    tool: &dyn Tool,
    gate: ToolExecution<BeforeToolExecute>,
    context: impl Fn(&ToolExecution<ExecuteTool>) -> ToolContext,
) {
    let Ok(open) = gate.allow(Allow::execution()) else { return };
    let result: ToolResult = tool.call(&mut context(&open)).await;
    drop(open.answered(&result));
}
