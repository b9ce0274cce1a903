//! The parser of Mermaid state diagrams and what is made of its diagrams.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod changes;
mod corpus;
mod flatten;
mod json;
mod markdown;
mod properties;
mod reading;
mod refusing;
mod size;
mod traps;

/// Compares `shown` with the snapshot `diagram__<name>` in the top-level folder.
fn snapshot(name: &str, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("diagram__{name}"), shown));
}
