use runstate_agent::{Tool, ToolContext};
use runstate::tool_result::ToolResult;
use runstate::turn::CallRequest;

#[cfg(illegal)]
pub async fn called(tool: &dyn Tool, request: &CallRequest) -> ToolResult {
    let arguments = request.arguments.clone();
    tool.call(&mut ToolContext { run: "r1".into(), call: "call_1".into(), attempt: 1, arguments, decision: None }).await
}

#[cfg(not(illegal))]
pub async fn called(tool: &dyn Tool, _: &CallRequest, context: &mut ToolContext) -> ToolResult {
    tool.call(context).await
}
