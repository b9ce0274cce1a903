//! The list of the built-in lifecycles.

use std::fs;
use std::path::Path;

#[test]
fn the_catalog_has_the_documented_lifecycles_in_order() {
    let names: Vec<_> = runstate::lifecycles().iter().map(|graph| graph.name).collect();
    assert_eq!(
        names,
        [
            "run",
            "tool_call",
            "run_flow",
            "resume_tool_call",
            "tool_execution",
            "stream_session",
            "governed_run",
            "approval",
            "service_run",
            "service_pass",
        ]
    );
}

#[test]
fn graphs_and_documents_stand_in_one_order() {
    let of_documents: Vec<_> = runstate::documents().iter().map(|document| document.graph.name).collect();
    let of_graphs: Vec<_> = runstate::lifecycles().iter().map(|graph| graph.name).collect();
    assert_eq!(of_documents, of_graphs);
}

/// No file documents a lifecycle that is not listed, and each listed text is that of its file.
#[test]
fn the_documents_are_the_files_of_the_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut listed: Vec<_> = runstate::documents().iter().map(|document| root.join(document.path)).collect();
    let mut found: Vec<_> = fs::read_dir(root.join("docs/lifecycles"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    listed.sort();
    found.sort();
    assert_eq!(listed, found);
    for document in runstate::documents() {
        assert_eq!(document.text, fs::read_to_string(root.join(document.path)).unwrap(), "{}", document.path);
    }
}
