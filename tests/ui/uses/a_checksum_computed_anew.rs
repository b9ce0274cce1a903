use runstate::snapshot::Snapshot;

// The feature `repair` has it, for the command that a person uses.
#[cfg(illegal)]
pub fn accepted(mut stored: Snapshot) -> Snapshot {
    stored.recompute_checksum();
    stored
}

#[cfg(illegal)]
pub fn built(stored: Snapshot) -> Snapshot {
    Snapshot { lifecycle: "runstate/tool_call".to_owned(), ..stored }
}

#[cfg(not(illegal))]
pub fn held_against_its_checksum(stored: &Snapshot) -> bool {
    stored.verify().is_ok()
}
