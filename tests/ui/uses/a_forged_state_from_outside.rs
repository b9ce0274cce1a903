use runstate::tool_call::{CallRecord, Running, ToolCall};

#[cfg(illegal)]
pub fn running(record: CallRecord, state: Running) -> ToolCall<Running> {
    ToolCall { record, state }
}

#[cfg(not(illegal))]
pub fn running(record: CallRecord) -> ToolCall<Running> {
    ToolCall::new(record).start(runstate::tool_call::Start)
}
