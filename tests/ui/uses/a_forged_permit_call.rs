use runstate::kernel::Restore;
use runstate::snapshot::{RestoreError, Snapshot};
use runstate::tool_call::{AnyToolCall, CallRecord, ToolCallStatus};
use serde::Deserializer;

#[cfg(illegal)]
pub fn woken<'de, D: Deserializer<'de>>(record: CallRecord, state: D) -> Result<AnyToolCall, D::Error> {
    AnyToolCall::rehydrate((), ToolCallStatus::Succeeded, record, state)
}

#[cfg(not(illegal))]
pub fn woken(stored: &Snapshot) -> Result<impl Restore, RestoreError> {
    stored.restore::<AnyToolCall>()
}

#[cfg(not(illegal))]
pub fn unused<'de, D: Deserializer<'de>>(_: CallRecord, _: D) -> ToolCallStatus {
    ToolCallStatus::Succeeded
}
