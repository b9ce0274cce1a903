//! The OpenAPI document and the page on problems.

use std::collections::BTreeSet;
use std::path::Path;

use runstate_http::Code;
use serde_json::Value;

use super::fixture::{Bench, block_on};

fn docs(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[test]
fn document_is_that_of_the_code() {
    let document = runstate_http::openapi() + "\n";
    let path = docs("openapi.json");
    if std::env::var_os("RUNSTATE_ACCEPT").is_some() {
        std::fs::write(&path, &document).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == document,
        "docs/openapi.json differs; run this test with RUNSTATE_ACCEPT=1 and read the diff"
    );
}

#[test]
fn document_names_each_endpoint_and_each_problem() {
    let document: Value = serde_json::from_str(&runstate_http::openapi()).unwrap();
    let served = block_on(async { Bench::new().get("/openapi.json").await.json() });
    assert_eq!(served, document);
    let mut codes = BTreeSet::new();
    for operation in
        document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values())
    {
        for answer in operation["responses"].as_object().unwrap().values() {
            let about = answer["description"].as_str().unwrap();
            codes.extend(about.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    // Any request may have these.
    let of_all = [
        "bad-query",
        "internal",
        "method-not-allowed",
        "not-acceptable",
        "timeout",
        "uri-too-long",
        "wrong-host",
    ];
    for code in Code::ALL {
        let is_told = codes.contains(code.as_str()) || of_all.contains(&code.as_str());
        let rare = [Code::NothingToSign, Code::NoHash].contains(code);
        assert!(is_told || rare, "{} is in no answer", code.as_str());
    }
}

#[test]
fn page_lists_each_problem() {
    let page = std::fs::read_to_string(docs("http.md")).unwrap();
    for code in Code::ALL {
        let row = format!("| `{}` | {} |", code.as_str(), code.status().as_u16());
        assert!(page.contains(&row), "docs/http.md lacks {row}");
    }
}
