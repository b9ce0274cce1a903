use runstate::resume_tool_call::{FindNothing, GateRecord, GatePassed, NothingReplayed, ResumeToolCall};

#[cfg(illegal)]
pub fn passed() -> GatePassed {
    GatePassed(1)
}

#[cfg(illegal)]
pub fn empty() -> NothingReplayed {
    NothingReplayed(1)
}

#[cfg(not(illegal))]
pub fn drained() -> Option<GatePassed> {
    use runstate::resume_tool_call::Drained;
    let pass = ResumeToolCall::new(GateRecord::new(1)).find_nothing(FindNothing);
    match pass.drained() {
        Drained::Nothing(nothing) => {
            let nothing: NothingReplayed = nothing;
            Some(nothing.into())
        }
        Drained::Replayed(_) => None,
    }
}
