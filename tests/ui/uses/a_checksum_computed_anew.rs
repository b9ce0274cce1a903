use runstate::snapshot::Snapshot;

// The feature `repair` has it, for the command that a person uses.
#[cfg(illegal)]
pub fn accepted(mut stored: Snapshot) -> Snapshot {
    stored.reseal();
    stored
}

#[cfg(illegal)]
pub fn built(record: serde::de::IgnoredAny) -> Snapshot {
    Snapshot { lifecycle: "runstate/tool_call".to_owned(), record, ..todo!() }
}

#[cfg(not(illegal))]
pub fn held_against_its_checksum(stored: &Snapshot) -> bool {
    stored.verify().is_ok()
}
