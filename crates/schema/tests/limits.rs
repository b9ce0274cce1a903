//! Schemas and values at the limits, and one above them.
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

use std::time::Duration;

use runstate::agent::SchemaCheck;
use runstate_schema::{JsonSchemas, MOST_BYTES, MOST_DEPTH, MOST_STEPS};
use serde_json::{Map, Value, json};

fn accepts(schema: &Value) -> Result<(), String> {
    JsonSchemas::new().accepts(schema)
}

/// Each link is a choice of two ways to the next one.
fn bomb(links: usize) -> Value {
    let mut defs = Map::new();
    for link in 0..links {
        let next = format!("#/$defs/d{}", link + 1);
        defs.insert(format!("d{link}"), json!({ "anyOf": [{ "$ref": next }, { "$ref": next }] }));
    }
    defs.insert(format!("d{links}"), json!({ "type": "string" }));
    json!({ "$defs": defs, "$ref": "#/$defs/d0" })
}

#[test]
fn a_chain_of_choices_is_refused_before_it_is_checked() {
    for links in [18, 25, 40] {
        let error = JsonSchemas::new().check(&bomb(links), &json!(7)).unwrap_err();
        assert!(
            error.contains("more than 200000 steps, at #/$defs/d") && error.contains("refer once"),
            "{error}"
        );
    }
    // A short one is no bomb.
    assert_eq!(JsonSchemas::new().check(&bomb(8), &json!("x")), Ok(()));
    JsonSchemas::new().check(&bomb(8), &json!(7)).unwrap_err();
}

/// The choices may be one for each level of the value, so that the schema alone is small.
#[test]
fn a_recursive_choice_is_refused_for_a_deep_value_alone() {
    let schema = json!({
        "$defs": { "n": { "properties": { "x": { "anyOf": [{ "$ref": "#/$defs/n" }, { "$ref": "#/$defs/n" }] } } } },
        "$ref": "#/$defs/n",
    });
    let deep = |levels| (0..levels).fold(json!(1), |value, _| json!({ "x": value }));
    let schemas = JsonSchemas::new();
    schemas.accepts(&schema).unwrap();
    assert_eq!(schemas.check(&schema, &deep(5)), Ok(()));
    let error = schemas.check(&schema, &deep(25)).unwrap_err();
    assert!(
        error.starts_with("the schema cannot be used for this value: checking takes more than"),
        "{error}"
    );
}

#[test]
fn a_reference_that_leads_to_itself_is_refused() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "not": { "$ref": "#/$defs/a" } } }, "$ref": "#/$defs/a" }),
        json!({ "$dynamicAnchor": "a", "anyOf": [{ "$dynamicRef": "#a" }] }),
    ] {
        let error = accepts(&schema).unwrap_err();
        assert!(
            error.contains("more than 96 levels") && error.contains("let no reference lead to itself"),
            "{error}"
        );
    }
}

#[test]
fn a_tree_is_checked() {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } },
        "required": ["name"],
        "additionalProperties": false,
    });
    let leaf = json!({ "name": "x" });
    let tree = (0..20).fold(leaf, |tree, _| json!({ "name": "n", "children": [tree, { "name": "y" }] }));
    assert_eq!(JsonSchemas::new().check(&schema, &tree), Ok(()));
    JsonSchemas::new().check(&schema, &json!({ "children": [] })).unwrap_err();
}

#[test]
fn a_schema_of_the_most_bytes_is_taken_and_one_more_is_not() {
    let empty = json!({ "title": "" }).to_string().len();
    let schema = |bytes: usize| json!({ "title": "x".repeat(bytes - empty) });
    accepts(&schema(MOST_BYTES)).unwrap();
    let error = accepts(&schema(MOST_BYTES + 1)).unwrap_err();
    assert!(error.contains("it has 65537 bytes, and at most 65536 are taken: leave out"), "{error}");
}

#[test]
fn a_schema_of_the_most_levels_is_taken_and_one_more_is_not() {
    let nested = |levels| (0..levels).fold(json!({}), |inner, _| json!({ "not": inner }));
    let chained = |links: usize| {
        let link = |link: usize| {
            (format!("d{link}"), json!({ "items": { "$ref": format!("#/$defs/d{}", link + 1) } }))
        };
        let mut defs: Map<String, Value> = (0..links).map(link).collect();
        defs.insert(format!("d{links}"), json!({}));
        json!({ "$defs": defs, "$ref": "#/$defs/d0" })
    };
    accepts(&nested(MOST_DEPTH)).unwrap();
    let error = accepts(&nested(MOST_DEPTH + 1)).unwrap_err();
    assert!(error.contains("more than 96 levels at its own text"), "{error}");
    // A reference is a level, and so is its subschema.
    let most = (MOST_DEPTH - 1) / 2;
    accepts(&chained(most)).unwrap();
    let error = accepts(&chained(most + 1)).unwrap_err();
    assert!(error.contains("more than 96 levels at #/$defs/d"), "{error}");
}

#[test]
fn a_check_of_the_most_steps_is_made_and_one_more_is_not() {
    let schema = json!({ "items": true });
    let schemas = JsonSchemas::new();
    // The schema, its keyword, and one for each item.
    let items = |count: usize| Value::from(vec![0; count]);
    assert_eq!(schemas.check(&schema, &items(MOST_STEPS - 2)), Ok(()));
    let error = schemas.check(&schema, &items(MOST_STEPS - 1)).unwrap_err();
    assert!(error.contains("more than 200000 steps, at #"), "{error}");
}

/// The worst within the limits is done in a moment, also in a build that is not optimized.
#[test]
fn checks_at_the_limit_take_a_moment() {
    let slow = json!({ "pattern": "^(([a-z])+.)+[A-Z]([a-z])+$" });
    let behind = json!({ "pattern": "^(?=(a+)+$)(a+)+$" });
    let counted = json!({ "pattern": "^(a?){50}a{50}$" });
    let text = json!("a".repeat(100_000));
    let short = json!(format!("{}!", "a".repeat(60)));
    let unique = json!({ "uniqueItems": true });
    let many: Vec<Value> = (0..40_000).map(|item| json!([item, "x"])).collect();
    let cases = [
        (&bomb(14), json!(7)),
        (&slow, text.clone()),
        (&behind, short),
        (&counted, text),
        (&unique, json!(many)),
    ];
    for (schema, value) in cases {
        let begun = std::time::Instant::now();
        drop(JsonSchemas::new().check(schema, &value));
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(10), "{schema}: {took:?}");
    }
}

#[test]
fn names_lead_where_they_are() {
    for (schema, good) in [
        (json!({ "$defs": { "a": { "$anchor": "here", "type": "string" } }, "$ref": "#here" }), true),
        (
            json!({ "$id": "https://example.com/s", "$defs": { "a": { "type": "string" } }, "$ref": "#/$defs/a" }),
            true,
        ),
        (
            json!({ "$id": "https://example.com/s", "$defs": { "a": { "$id": "a", "type": "string" } }, "$ref": "a" }),
            true,
        ),
        (json!({ "$defs": { "a b": { "type": "string" } }, "$ref": "#/$defs/a%20b" }), true),
        (json!({ "$ref": "#nowhere" }), false),
    ] {
        let checked = JsonSchemas::new().check(&schema, &json!("x"));
        assert_eq!(checked.is_ok(), good, "{schema}: {checked:?}");
        JsonSchemas::new().check(&schema, &json!(7)).unwrap_err();
    }
}
