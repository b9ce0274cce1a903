use runstate::run_flow::FlowId;
use runstate::run_flow::{LoopTop, RunFlow};
use runstate::tool_execution::ExecutionRecord;

#[cfg(illegal)]
pub fn numbered() -> ExecutionRecord {
    ExecutionRecord::new("pay_1", "pay").of(FlowId(1))
}

#[cfg(illegal)]
pub fn defaulted() -> FlowId {
    FlowId::default()
}

#[cfg(not(illegal))]
pub fn of(flow: &RunFlow<LoopTop>) -> ExecutionRecord {
    let id: FlowId = flow.record().flow_id();
    ExecutionRecord::new("pay_1", "pay").of(id)
}
