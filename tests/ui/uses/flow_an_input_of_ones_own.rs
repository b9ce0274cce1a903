use runstate::agent::{Tool, ToolInput};
use runstate::tool_result::ToolResult;
use runstate::turn::CallRequest;

#[cfg(illegal)]
pub fn called(tool: &mut dyn Tool, request: &CallRequest) -> ToolResult {
    let arguments = &request.arguments;
    tool.call(&ToolInput { run: "r1", call: "call_1", attempt: 1, arguments, decision: None })
}

#[cfg(not(illegal))]
pub fn called(tool: &mut dyn Tool, _: &CallRequest, input: &ToolInput<'_>) -> ToolResult {
    tool.call(input)
}
