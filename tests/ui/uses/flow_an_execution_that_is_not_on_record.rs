use runstate::checkpoint::Receipt;
use runstate::run_flow::{RunFlow, Starting, ToolRound};
use runstate::tool_execution::{Allow, BeforeToolExecute, Started, ToolExecution};

#[cfg(illegal)]
pub fn not_committed(flow: &mut RunFlow<ToolRound>, gate: &ToolExecution<BeforeToolExecute>) -> Allow {
    Allow::once(flow.calls_started([gate]))
}

#[cfg(illegal)]
pub fn by_name(flow: &mut RunFlow<ToolRound>) -> Starting {
    flow.calls_started(["call_1"])
}

#[cfg(illegal)]
pub fn without_a_receipt(starting: Starting) -> Vec<Started> {
    starting.committed(starting.due()).expect("it is what is due")
}

pub fn twice(first: ToolExecution<BeforeToolExecute>, second: ToolExecution<BeforeToolExecute>, started: [Started; 2]) {
    let [one, other] = started;
    drop(first.allow(Allow::once(one)));
    #[cfg(illegal)]
    drop(second.allow(Allow::once(one)));
    #[cfg(not(illegal))]
    drop(second.allow(Allow::once(other)));
    #[cfg(illegal)]
    drop(other);
}

#[cfg(not(illegal))]
pub fn committed(
    flow: &mut RunFlow<ToolRound>,
    gates: &[ToolExecution<BeforeToolExecute>],
    receipt: Receipt,
) -> Vec<Allow> {
    let starting: Starting = flow.calls_started(gates);
    let started: Vec<Started> = starting.committed(receipt).expect("the receipt is for this commit");
    started.into_iter().map(Allow::once).collect()
}
