//! The published JSON Schema says what the types say.

use std::fs;
use std::path::Path;

use runstate_agent::SchemaCheck;
use runstate_scenario::Scenario;
use runstate_schema::JsonSchemas;
use serde_json::{Value, json};

const PUBLISHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.schema.json");

fn schema() -> Value {
    serde_json::from_str(&fs::read_to_string(PUBLISHED).unwrap()).unwrap()
}

/// With `RUNSTATE_WRITE_SCHEMA=1` it is written.
#[test]
fn the_published_schema_is_that_of_the_types() {
    let generated = runstate_scenario::schema::published();
    if std::env::var_os("RUNSTATE_WRITE_SCHEMA").is_some() {
        fs::write(PUBLISHED, &generated).unwrap();
    }
    let published = fs::read_to_string(PUBLISHED).unwrap_or_default();
    assert!(
        published == generated,
        "docs/scenario.schema.json is not what the types say; RUNSTATE_WRITE_SCHEMA=1 writes it"
    );
}

#[test]
fn repository_scenarios_fit_the_schema_and_round_trip() {
    let (schema, schemas) = (schema(), JsonSchemas::new());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    // The other examples are streams and plans of governed runs.
    let mut paths = vec![root.join("examples/tidy-folder.yaml")];
    for entry in fs::read_dir(root.join("scenarios")).unwrap() {
        paths.push(entry.unwrap().path());
    }
    for path in paths {
        let name = path.to_string_lossy();
        if !name.ends_with(".yaml") || name.ends_with(".stream.yaml") {
            continue;
        }
        seen += 1;
        let text = fs::read_to_string(&path).unwrap();
        let scenario =
            Scenario::parse(&text).unwrap_or_else(|refused| panic!("{}: {refused}", path.display()));
        // As it was written, and as the types write it.
        let written = serde_json::to_value(&scenario).unwrap();
        schemas.check(&schema, &written).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let again = Scenario::parse(&scenario.to_json()).unwrap();
        assert_eq!(again, scenario, "{}", path.display());
    }
    assert!(seen > 30, "{seen} scenarios");
}

#[test]
fn the_schema_refuses_what_the_types_refuse() {
    let (schema, schemas) = (schema(), JsonSchemas::new());
    let good = json!({ "name": "x", "message": "y", "model": [{ "text": "z" }] });
    assert_eq!(schemas.check(&schema, &good), Ok(()));
    for (field, value) in [
        ("massage", json!("y")),
        ("mode", json!("at_random")),
        ("stop", json!([{ "type": "max_rounds" }])),
        ("model", json!([{ "texts": "z" }])),
        ("model", json!([])),
        ("model", json!([{ "calls": vec![json!({ "id": "a", "tool": "t" }); 10_001] }, { "text": "z" }])),
        ("model", json!([{ "calls": [{ "id": "", "tool": "t" }] }, { "text": "z" }])),
        ("model", json!([{ "calls": [{ "id": "a".repeat(129), "tool": "t" }] }, { "text": "z" }])),
        ("limits", json!({ "max_rounds": 0 })),
        ("limits", json!({ "max_file_bytes": (64 << 20) + 1 })),
        ("outside", json!([{ "when": { "at_ms": -1 }, "do": "cancel" }])),
        ("plugins", json!([{ "ask": { "tools": "x" } }])),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        schemas.check(&schema, &bad).unwrap_err();
        Scenario::parse(&bad.to_string()).unwrap_err();
    }
}
