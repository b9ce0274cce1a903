use runstate::approval::ApprovalRecord;
use runstate::governed_run::RunRecord as GovernedRecord;
use runstate::resume_tool_call::GateRecord;
use runstate::run::RunRecord;
use runstate::run_flow::FlowRecord;
use runstate::service_run::ServiceRunRecord;
use runstate::stream_session::SessionRecord;
use runstate::tool_call::CallRecord;
use runstate::tool_execution::ExecutionRecord;
use serde::de::DeserializeOwned;

pub const fn read<T: DeserializeOwned>() {}

#[cfg(illegal)]
pub const RECORDS: () = {
    read::<RunRecord>();
    read::<FlowRecord>();
    read::<CallRecord>();
    read::<GateRecord>();
    read::<ExecutionRecord>();
    read::<GovernedRecord>();
    read::<ApprovalRecord>();
    read::<SessionRecord>();
    read::<ServiceRunRecord>();
};

#[cfg(not(illegal))]
pub const TEXT: fn() = read::<String>;

pub type Records = (RunRecord, FlowRecord, CallRecord, GateRecord, ExecutionRecord, GovernedRecord);
pub type Others = (ApprovalRecord, SessionRecord, ServiceRunRecord);
