use runstate::tool_call::{Running, ToolCall};

#[cfg(illegal)]
pub fn running() -> Running {
    Running
}

#[cfg(not(illegal))]
pub fn running(call: &ToolCall<Running>) -> Running {
    *call.state()
}
