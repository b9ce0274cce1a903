use runstate::tool_call::{AnyToolCall, New, Start, ToolCall};

#[cfg(illegal)]
pub fn twice(call: ToolCall<New>, any: AnyToolCall) {
    drop((call.clone().start(Start), call.start(Start)));
    drop((any.clone(), any));
}

#[cfg(not(illegal))]
pub fn once(call: ToolCall<New>, any: AnyToolCall) {
    drop(call.start(Start));
    drop(any);
}
