//! Traces: recording, reading and writing, checking, showing.
use insta::Settings;

mod jsonl;
mod parcel;
mod recorder;

/// The names of snapshots are ours, and they lie in the top-level folder.
fn snapshots() -> Settings {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}
