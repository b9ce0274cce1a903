//! Machines at rest: what is stored comes back, and nothing else does.

mod calls;
mod corruption;
mod migration;
mod refusal;
mod round_trip;

use runstate::snapshot::Snapshot;
use serde_json::Value;

/// The snapshot, changed by hand and sealed again.
fn with_new_checksum(snapshot: &Snapshot, change: impl FnOnce(&mut Value)) -> Snapshot {
    let mut json: Value = serde_json::from_str(&snapshot.to_json()).unwrap();
    change(&mut json);
    let mut changed = Snapshot::from_json(json.to_string().as_bytes()).unwrap();
    changed.recompute_checksum();
    changed
}

/// Holds a message against the file of that name in the folder `snapshots`.
fn assert_text(name: &str, text: impl std::fmt::Display) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("kernel__{name}"), text));
}
