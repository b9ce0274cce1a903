use runstate::resume_tool_call::{Drained, GatePassed, NothingReplayed};
use runstate::run_flow::{Pass, ResumeToolCall, RunFlow};

#[cfg(illegal)]
pub fn not_committed(flow: RunFlow<ResumeToolCall>, drained: Drained) {
    drop(flow.pass(Pass::new(drained)));
}

#[cfg(not(illegal))]
pub fn drained(flow: RunFlow<ResumeToolCall>, drained: Drained, passed: impl Fn(Drained) -> GatePassed) {
    let pass = match drained {
        Drained::Nothing(nothing) => {
            let nothing: NothingReplayed = nothing;
            Pass::new(nothing)
        }
        replayed => Pass::new(passed(replayed)),
    };
    drop(flow.pass(pass));
}
