use runstate::tool_call::{New, ToolCall};

#[cfg(illegal)]
pub fn new() -> New {
    New
}

#[cfg(not(illegal))]
pub fn new(call: &ToolCall<New>) -> New {
    *call.state()
}
