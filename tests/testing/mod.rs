//! The tools for tests: that they find what is there, and that they bite.
mod composition;
mod cover;
mod coverage;
mod event_sequences;
mod exhaustive;
mod liar;
mod lottery;
mod paths;

/// Compares text with the snapshot `testing__<name>`.
fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("testing__{name}"), text));
}
