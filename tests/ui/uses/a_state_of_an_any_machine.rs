use runstate::tool_call::{AnyToolCall, New, ToolCall};

#[cfg(illegal)]
pub fn wrapped(call: ToolCall<New>) -> AnyToolCall {
    AnyToolCall::Running(call)
}

#[cfg(not(illegal))]
pub fn wrapped(call: ToolCall<New>) -> AnyToolCall {
    AnyToolCall::New(call)
}
