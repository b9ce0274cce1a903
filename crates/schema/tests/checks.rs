//! What schemas take and what they refuse.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use runstate_agent::SchemaCheck;
use runstate_schema::JsonSchemas;
use serde_json::{Value, json};

fn check(schema: &Value, value: &Value) -> Result<(), String> {
    JsonSchemas::new().check(schema, value)
}

#[test]
fn several_mistakes_are_told_with_their_places() {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "minLength": 1 }, "lines": { "type": "integer", "minimum": 1 } },
        "required": ["path"],
        "additionalProperties": false,
    });
    assert_eq!(check(&schema, &json!({ "path": "a", "lines": 3 })), Ok(()));
    let error = check(&schema, &json!({ "path": "", "lines": 0, "mode": 7 })).unwrap_err();
    assert!(error.contains("/path: ") && error.contains("/lines: ") && error.contains("'mode'"), "{error}");
}

#[test]
fn schema_error_message_is_bounded() {
    let schema = json!({ "items": { "type": "string" } });
    let many: Vec<u32> = (0..1_000).collect();
    let error = check(&schema, &json!(many)).unwrap_err();
    assert!(error.ends_with("; and more") && error.len() < 4_000, "{error}");
    let long = "x".repeat(100_000);
    let error = check(&json!({ "type": "integer" }), &json!(long)).unwrap_err();
    assert!(error.chars().count() <= 301, "{} characters", error.chars().count());
}

#[test]
fn a_schema_that_is_none_is_told() {
    for schema in
        [json!({ "type": "strin" }), json!(7), json!({ "pattern": "(" }), json!({ "$ref": "#/nowhere" })]
    {
        let error = check(&schema, &json!("x")).unwrap_err();
        assert!(error.starts_with("the schema cannot be used: "), "{error}");
        JsonSchemas::new().accepts(&schema).unwrap_err();
    }
    JsonSchemas::new().accepts(&json!({ "type": "string" })).unwrap();
}

/// Nothing is fetched, from wherever.
#[test]
fn other_documents_are_refused() {
    for place in
        ["https://example.com/schema.json", "http://localhost:1/x", "file:///etc/passwd", "other.json"]
    {
        let error = check(&json!({ "$ref": place }), &json!("x")).unwrap_err();
        assert!(error.starts_with("the schema cannot be used: "), "{place}: {error}");
    }
    // A reference within the schema is none to elsewhere.
    let schema = json!({ "$defs": { "name": { "type": "string" } }, "$ref": "#/$defs/name" });
    assert_eq!(check(&schema, &json!("x")), Ok(()));
    check(&schema, &json!(7)).unwrap_err();
}

#[test]
fn drafts_that_a_schema_names_are_heard() {
    let older =
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": [{ "type": "string" }] });
    assert_eq!(check(&older, &json!(["x", 7])), Ok(()));
    check(&older, &json!([7])).unwrap_err();
    let newer = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{ "type": "string" }] });
    check(&newer, &json!([7])).unwrap_err();
}

#[test]
fn more_schemas_than_are_kept_make_no_difference() {
    let schemas = JsonSchemas::new();
    for round in 0..2 {
        for least in 0..600 {
            let schema = json!({ "minimum": least });
            assert_eq!(schemas.check(&schema, &json!(least)), Ok(()), "round {round}");
            schemas.check(&schema, &json!(least - 1)).unwrap_err();
        }
    }
}
