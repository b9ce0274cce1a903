//! The claims of the pages beside their code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::unpack::blocks;

chapters! {
    first_parcel: "parcel/first/src/lib.rs";
}

/// The block below the line that ends so.
fn shown(page: &str, lead: &str) -> String {
    let found = blocks(page).into_iter().find(|block| block.lead.ends_with(lead));
    found.unwrap_or_else(|| panic!("no block below {lead:?}")).text
}

#[test]
#[cfg(debug_assertions)]
fn first_parcel_fails_as_its_page_shows() {
    let package = tempfile::tempdir().unwrap();
    let sequences = || runstate_fuzz::conformance::sequences(first_parcel::subject::Parcels, package.path());
    let panic = catch_unwind(AssertUnwindSafe(sequences)).unwrap_err();
    let report = panic.downcast::<String>().unwrap();
    for line in shown(include_str!("src/parcel.md"), "the second one is a report:").lines() {
        assert!(report.contains(line), "the page shows {line:?}, the test reports:\n{report}");
    }
    assert!(package.path().join("fuzz-regressions/parcel.jsonl").exists());
}

/// Each link of a page to a file leads to one.
#[test]
fn links_of_the_pages_lead_to_files() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut links = 0;
    for page in std::fs::read_dir(&pages).unwrap() {
        let page = page.unwrap().path();
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            if link.contains(".md") && !link.contains("://") {
                links += 1;
                assert!(pages.join(link).exists(), "{}: {link} is no file", page.display());
            }
        }
    }
    assert!(links > 10, "{links} links");
}

/// A chapter is read in one sitting.
#[test]
fn chapters_are_short() {
    for (name, page) in [
        ("parcel", include_str!("src/parcel.md")),
        ("connection", include_str!("src/connection.md")),
        ("order", include_str!("src/order.md")),
        ("agent", include_str!("src/agent.md")),
    ] {
        let lines = page.lines().count();
        assert!(lines <= 300, "{name} has {lines} lines");
    }
}
