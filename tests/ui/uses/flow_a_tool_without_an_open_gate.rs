use runstate::agent::{Tool, ToolInput};
use runstate::tool_execution::{Allow, BeforeToolExecute, ExecuteTool, ToolExecution};
use runstate::tool_result::ToolResult;

#[cfg(illegal)]
pub fn with_a_gate_that_is_shut(tool: &mut dyn Tool, gate: &ToolExecution<BeforeToolExecute>) -> ToolResult {
    tool.call(&ToolInput::new("r1", gate, todo!(), todo!(), None))
}

#[cfg(illegal)]
pub fn before_the_gate(gate: ToolExecution<BeforeToolExecute>, result: &ToolResult) {
    drop(gate.answered(result));
}

#[cfg(not(illegal))]
pub fn behind_the_gate(
    tool: &mut dyn Tool,
    gate: ToolExecution<BeforeToolExecute>,
    input: impl Fn(&ToolExecution<ExecuteTool>) -> &ToolInput<'_>,
) {
    let open = gate.allow(Allow::execution());
    let result: ToolResult = tool.call(input(&open));
    drop(open.answered(&result));
}
