use runstate::resume_tool_call::{FindNothing, Gate, GatePassed, NothingReplayed};

#[cfg(illegal)]
pub fn passed() -> GatePassed {
    GatePassed(1)
}

#[cfg(illegal)]
pub fn empty() -> NothingReplayed {
    NothingReplayed(1)
}

#[cfg(illegal)]
pub fn opened(gate: &Gate) -> Gate {
    gate.clone()
}

#[cfg(illegal)]
pub fn unseen(gate: Gate) {
    drop(gate.drained(gate.pass(Default::default())));
}

#[cfg(not(illegal))]
pub fn drained(mut gate: Gate) -> Option<GatePassed> {
    use runstate::resume_tool_call::Drained;
    let look = gate.pass(Default::default()).find_nothing(FindNothing);
    match gate.drained(look) {
        Ok(Drained::Nothing(nothing)) => {
            let nothing: NothingReplayed = nothing;
            Some(nothing.into())
        }
        Ok(Drained::Replayed(_)) | Err(_) => None,
    }
}
