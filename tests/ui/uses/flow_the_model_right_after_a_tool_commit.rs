use runstate::run_flow::{CommitTool, Infer, ResumeAfterTool, RunFlow};

#[cfg(illegal)]
pub fn past_the_gate(flow: RunFlow<CommitTool>) {
    drop(flow.infer(Infer));
}

#[cfg(illegal)]
pub fn at_the_gate(flow: RunFlow<ResumeAfterTool>) {
    drop(flow.infer(Infer));
}

#[cfg(not(illegal))]
pub fn through_the_gate(
    flow: RunFlow<CommitTool>,
    receipt: runstate::checkpoint::Receipt,
    [after, before]: [runstate::resume_tool_call::GatePassed; 2],
) {
    use runstate::run_flow::{Commit, Next, OpenGate, Pass};
    let flow: RunFlow<ResumeAfterTool> = flow.commit(Commit::new(receipt)).expect("the receipt fits");
    let flow = flow.next(Next::new(after)).expect("the proof fits").open_gate(OpenGate);
    drop(flow.pass(Pass::new(before)).expect("the proof fits").infer(Infer));
}
