use runstate::tool_call::{Cancel, New, Running, Start, Suspended, ToolCall};

#[cfg(illegal)]
pub fn cancel_before_the_start(call: ToolCall<New>, event: Cancel) {
    drop(call.cancel(event));
}

#[cfg(illegal)]
pub fn start_while_suspended(call: ToolCall<Suspended>) -> ToolCall<Running> {
    call.start(Start)
}

#[cfg(not(illegal))]
pub fn cancel_after_the_start(call: ToolCall<New>, event: Cancel) {
    drop(call.start(Start).cancel(event));
}

#[cfg(not(illegal))]
pub fn cancel_while_suspended(call: ToolCall<Suspended>, event: Cancel) {
    drop(call.cancel(event));
}

#[cfg(not(illegal))]
pub type Here = Running;
