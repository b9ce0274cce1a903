//! Schemas and values at the limits, and one above them.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use runstate_agent::SchemaCheck;
use runstate_schema::{JsonSchemas, MOST_BYTES, MOST_CHECK_DEPTH, MOST_COMPILED, MOST_DEPTH, MOST_STEPS};
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

const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";

/// The value of a size is checked, and the next one is not.
#[track_caller]
fn most(schema: &Value, size: usize, value: impl Fn(usize) -> Value) {
    let schemas = JsonSchemas::new();
    let taken = schemas.check(schema, &value(size));
    assert!(!taken.as_ref().is_err_and(|error| error.contains("cannot be used")), "{size}: {taken:?}");
    let error = schemas.check(schema, &value(size + 1)).unwrap_err();
    assert!(error.starts_with("the schema cannot be used for this value: "), "{error}");
    assert!(error.contains("more than 200000 steps") && error.contains("give less to check"), "{error}");
}

fn text(size: usize) -> Value {
    json!("a".repeat(size))
}

fn field(size: usize) -> Value {
    Value::Object(Map::from_iter([("a".repeat(size), json!(1))]))
}

/// A subschema is a step, and each of its keywords.
#[test]
fn a_text_counts_for_each_keyword_that_reads_it() {
    most(&json!({ "pattern": "^a*$" }), MOST_STEPS - 2, text);
    most(&json!({ "format": "uri" }), MOST_STEPS - 2, text);
    for keyword in [json!({ "contentMediaType": "application/json" }), json!({ "contentEncoding": "base64" })]
    {
        let mut older = keyword.clone();
        older["$schema"] = json!(DRAFT_7);
        most(&older, MOST_STEPS - 3, text);
        // Later drafts assert nothing by them.
        assert_eq!(JsonSchemas::new().check(&keyword, &text(2 * MOST_STEPS)), Ok(()));
    }
    most(&json!({ "patternProperties": { "^a*$": true } }), MOST_STEPS - 3, field);
    most(&json!({ "propertyNames": { "pattern": "^a*$" } }), MOST_STEPS - 4, field);
    // A length is read fast.
    most(&json!({ "minLength": 1 }), 64 * (MOST_STEPS - 2) + 63, text);
}

#[test]
fn a_list_of_names_or_values_counts_for_each_value() {
    let names = (0..998).map(|name| format!("k{name}")).collect::<Vec<_>>();
    let fewer = &names[2..];
    let objects = |size| json!(vec![json!({}); size]);
    // Two steps for the schema, and for each object 999 and two more.
    most(&json!({ "items": { "required": names } }), 199, objects);
    most(&json!({ "items": { "dependentRequired": { "x": fewer, "y": [] } } }), 199, objects);
    most(&json!({ "$schema": DRAFT_7, "items": { "dependencies": { "x": fewer, "y": [] } } }), 199, objects);
    most(&json!({ "items": { "enum": names } }), 199, objects);
    most(&json!({ "items": { "enum": [field(64 * 996)] } }), 199, objects);
    most(&json!({ "uniqueItems": true }), MOST_STEPS - 3, |size| json!((0..size).collect::<Vec<_>>()));
    // Three values for each, and the square of their number.
    let nested = |size| json!((0..size).map(|item| json!([[item]])).collect::<Vec<_>>());
    most(&json!({ "uniqueItems": true }), 445, nested);
}

#[test]
fn a_pattern_counts_by_its_kind() {
    // Look-around: the square of the text, also for names.
    most(&json!({ "pattern": "(?=a)a*b" }), 447, text);
    most(&json!({ "patternProperties": { "(?=a)a*b": true } }), 447, field);
    most(&json!({ "propertyNames": { "pattern": "(?=a)a*b" } }), 447, field);
    // A large one, which takes more than 16 KiB when it is compiled.
    most(&json!({ "pattern": "[ab]*a[ab]{1000}c" }), (MOST_STEPS - 2) / 16, text);
    // A long one: once for each 64 bytes of it.
    most(&json!({ "pattern": format!("^{}$", "a*".repeat(31)) }), (MOST_STEPS - 2) / 2, text);
    most(&json!({ "pattern": format!("^{}$", "a*".repeat(30)) }), MOST_STEPS - 2, text);
}

/// The sizes of compiled patterns are those of a dependency: the limit is where the next size is refused.
#[test]
fn patterns_of_the_most_bytes_are_taken_and_larger_ones_are_not() {
    let patterns = |count: usize, size: usize| {
        let pattern = |index| (format!("^{index}[ab]{{{size}}}$"), json!(true));
        json!({ "patternProperties": (0..count).map(pattern).collect::<Map<_, _>>() })
    };
    let largest = |count| {
        let sizes: Vec<usize> = (0..10_000).collect();
        let largest = sizes.partition_point(|size| accepts(&patterns(count, *size)).is_ok()) - 1;
        accepts(&patterns(count, largest)).unwrap();
        (largest, accepts(&patterns(count, largest + 1)).unwrap_err())
    };
    let (one, error) = largest(1);
    assert!(
        error.ends_with("is not a \"regex\", or one of more than 262144 bytes when it is compiled"),
        "{error}"
    );
    // 64 have the same, and more of them share what those have.
    let (all, _) = largest(64);
    assert_eq!(all, one);
    let (shared, error) = largest(128);
    assert!(error.ends_with("or one of more than 131072 bytes when it is compiled"), "{error}");
    assert!((one / 3..one * 2 / 3).contains(&shared), "{shared} of {one}");
}

#[test]
fn a_pattern_goes_back_so_often_and_no_more() {
    // Each character nearly doubles the ways.
    let schema = json!({ "pattern": "^((?=a)a|aa)*b" });
    let told = |size| JsonSchemas::new().check(&schema, &text(size)).unwrap_err();
    let most = (1..100).take_while(|size| told(*size).contains("does not match")).last().unwrap();
    assert!((10..30).contains(&most), "{most}");
    let error = told(most + 1);
    assert_eq!(error, "Error executing regex: Max limit for backtracking count exceeded");
}

#[test]
fn number_of_compiled_subschemas_is_limited() {
    let fields = |count| (0..count).map(|name| (format!("k{name}"), json!(true))).collect::<Map<_, _>>();
    // The inner schema is compiled ten times, since `unevaluatedProperties` applies each `allOf` once more.
    let schema = |more: usize| {
        let inner = json!({ "properties": fields(1_994) });
        let mut schema = (0..9).fold(inner, |inner, _| json!({ "allOf": [inner] }));
        schema["unevaluatedProperties"] = json!(true);
        schema["properties"] = json!(fields(more));
        schema
    };
    assert_eq!(MOST_COMPILED, 55 + 10 * 1_994 + 5);
    accepts(&schema(4)).unwrap();
    let error = accepts(&schema(5)).unwrap_err();
    assert!(error.contains("more than 20000 subschemas to compile, at #"), "{error}");
}

/// Each resource refers to two others, and each way over them is compiled.
#[test]
fn mutually_referring_resources_are_accepted_only_when_few() {
    let ring = |count: usize, by: &str| {
        let other = |index: usize| json!({ "$ref": format!("{by}{}", index % count) });
        let resource = |index: usize| {
            let fields = json!({ "x": other(index + 1), "y": other(index + 7) });
            (format!("d{index}"), json!({ "$id": format!("r{index}"), "properties": fields }))
        };
        json!({ "$id": "https://example.com/", "$defs": (0..count).map(resource).collect::<Map<_, _>>(), "$ref": "r0" })
    };
    // By its own name, and by the place in the root.
    for by in ["r", "/#/$defs/d"] {
        accepts(&ring(12, by)).unwrap();
        let error = accepts(&ring(30, by)).unwrap_err();
        assert!(error.contains("subschemas to compile") && error.contains("use fewer"), "{error}");
    }
}

/// A choice counts for `unevaluatedProperties` below a field too, which no value has to have.
#[test]
fn choices_below_a_field_are_refused_before_they_are_compiled() {
    for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
        let mut schema = bomb(25);
        schema["$defs"]["start"] = json!({ "$ref": "#/$defs/d0", keyword: false });
        schema["properties"] = json!({ "x": { "$ref": "#/$defs/start" } });
        schema.as_object_mut().unwrap().remove("$ref");
        let error = accepts(&schema).unwrap_err();
        assert!(error.contains("subschemas to compile"), "{error}");
    }
}

/// A recursive schema, by a reference to a definition.
fn recursive(names: &Value) -> Value {
    let mut schema =
        json!({ "$defs": { "n": { "properties": { "x": { "$ref": "#/$defs/n" } } } }, "$ref": "#/$defs/n" });
    schema.as_object_mut().unwrap().extend(names.as_object().unwrap().clone());
    schema
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |value, _| json!({ "x": value }))
}

#[test]
fn a_schema_with_names_takes_what_it_takes_without() {
    for names in [
        json!({}),
        json!({ "$id": "https://example.com/s" }),
        json!({ "$anchor": "top" }),
        json!({ "$id": "https://example.com/s", "$anchor": "top", "$dynamicAnchor": "also" }),
    ] {
        let schemas = JsonSchemas::new();
        let schema = recursive(&names);
        // The reference of the root is a level, and each level of the value is two.
        let most = (MOST_CHECK_DEPTH - 1) / 2;
        assert_eq!(schemas.check(&schema, &nested(MOST_DEPTH)), Ok(()), "{names}");
        assert_eq!(schemas.check(&schema, &nested(most)), Ok(()), "{names}");
        let error = schemas.check(&schema, &nested(most + 1)).unwrap_err();
        assert_eq!(
            error,
            "the schema cannot be used for this value: the check has more than 480 levels, at #/$defs/n: give a value with fewer levels"
        );
        let items = json!({ "$defs": { "a": {} }, "items": { "$ref": "#/$defs/a" } });
        let mut items = items.as_object().unwrap().clone();
        items.extend(names.as_object().unwrap().clone());
        let root = 1 + items.len();
        most_items(&json!(items), (MOST_STEPS - root) / 3);
    }
}

#[track_caller]
fn most_items(schema: &Value, count: usize) {
    most(schema, count, |count| json!(vec![0; count]));
}

/// A value of the deepest that agents allow, with the choice of nothing that is usual for a field.
#[test]
fn a_deep_value_passes_choices_at_each_level() {
    let schema = json!({
        "$defs": { "n": { "properties": { "x": { "anyOf": [{ "type": "integer" }, { "allOf": [{ "$ref": "#/$defs/n" }] }] } } } },
        "$ref": "#/$defs/n",
    });
    assert_eq!(JsonSchemas::new().check(&schema, &nested(MOST_DEPTH)), Ok(()));
}

#[test]
fn a_dynamic_name_means_the_outermost_resource() {
    let tree =
        json!({ "$id": "tree", "$dynamicAnchor": "node", "properties": { "x": { "$dynamicRef": "#node" } } });
    let strict = json!({
        "$id": "https://example.com/strict", "$dynamicAnchor": "node", "$ref": "tree", "unevaluatedProperties": false,
        "$defs": { "tree": tree },
    });
    let schemas = JsonSchemas::new();
    assert_eq!(schemas.check(&strict, &nested(MOST_DEPTH)), Ok(()));
    schemas.check(&strict, &json!({ "x": { "y": 1 } })).unwrap_err();
    // Without the name at the root, it may mean each of those that have it.
    let mut loose = strict;
    loose.as_object_mut().unwrap().remove("$dynamicAnchor");
    assert_eq!(schemas.check(&loose, &json!({ "x": {} })), Ok(()));
}

/// Checks at the limit are made: each has the result that it has to have.
#[test]
fn checks_at_the_limit_have_results() {
    let schemas = JsonSchemas::new();
    schemas.check(&bomb(14), &json!(7)).unwrap_err();
    assert_eq!(schemas.check(&bomb(14), &json!("x")), Ok(()));
    let error = schemas.check(&bomb(15), &json!("x")).unwrap_err();
    assert!(error.contains("more than 200000 steps, at #/$defs/d"), "{error}");
    let slow = json!({ "pattern": "^(([a-z])+.)+[A-Z]([a-z])+$" });
    schemas.check(&slow, &text(MOST_STEPS - 2)).unwrap_err();
    let counted = json!({ "pattern": "^(a?){50}a{50}$" });
    schemas.check(&counted, &text(100_000)).unwrap_err();
    assert_eq!(schemas.check(&counted, &text(75)), Ok(()));
    let behind = json!({ "pattern": "^(?=(a+)+$)(a+)+$" });
    schemas.check(&behind, &json!(format!("{}!", "a".repeat(60)))).unwrap_err();
    assert_eq!(schemas.check(&behind, &text(60)), Ok(()));
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
        (json!({ "$id": "relative/s", "$defs": { "a": { "type": "string" } }, "$ref": "s#/$defs/a" }), true),
        (
            json!({ "$id": "urn:example:s", "$defs": { "a": { "$anchor": "a", "type": "string" } }, "$ref": "#a" }),
            true,
        ),
        (
            json!({ "$schema": DRAFT_7, "definitions": { "a": { "$id": "#a", "type": "string" } }, "allOf": [{ "$ref": "#a" }] }),
            true,
        ),
        (
            json!({ "$schema": "http://json-schema.org/draft-04/schema#", "id": "http://example.com/s",
                "definitions": { "a": { "id": "a", "type": "string" } }, "allOf": [{ "$ref": "a" }] }),
            true,
        ),
        (
            json!({ "$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true, "type": "string",
                "properties": { "x": { "$recursiveRef": "#" } } }),
            true,
        ),
        // The same pointer in a resource and in the root.
        (
            json!({ "$id": "https://example.com/s", "$defs": {
                "t": { "type": "string" },
                "a": { "$id": "a", "$defs": { "t": { "type": "integer" } }, "not": { "$ref": "#/$defs/t" } },
            }, "allOf": [{ "$ref": "a" }, { "$ref": "#/$defs/t" }] }),
            true,
        ),
        (json!({ "$ref": "#nowhere" }), false),
        (json!({ "$ref": "#/$defs/nowhere" }), false),
        (json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }), false),
    ] {
        let checked = JsonSchemas::new().check(&schema, &json!("x"));
        assert_eq!(checked.is_ok(), good, "{schema}: {checked:?}");
        JsonSchemas::new().check(&schema, &json!(7)).unwrap_err();
    }
}
