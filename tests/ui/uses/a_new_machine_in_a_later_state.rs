use runstate::tool_call::{CallRecord, New, Running, Start, ToolCall};

#[cfg(illegal)]
pub fn running(record: CallRecord) -> ToolCall<Running> {
    ToolCall::<Running>::new(record)
}

#[cfg(not(illegal))]
pub fn running(record: CallRecord) -> ToolCall<Running> {
    ToolCall::<New>::new(record).start(Start)
}
