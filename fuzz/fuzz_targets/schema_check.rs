//! No schema and no value make a check panic, overflow the stack, or take long: run it with `-timeout=10 -detect_leaks=0`, since jsonschema keeps
//! some bytes of certain schemas that it has compiled.

#![no_main]

mod hostile;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use runstate_agent::SchemaCheck;
use runstate_schema::JsonSchemas;
use serde_json::{Map, Value, json};

const ONE: [&str; 12] = [
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems",
    "propertyNames", "additionalItems", "contentSchema",
];
const MANY: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const NAMED: [&str; 6] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies"];
/// Each draft has keywords of its own, and other words for some of them.
const DRAFTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
];
const NAMES: [&str; 5] = ["a", "b", "d0", "d1", "^a+$"];
const PATTERNS: [&str; 5] = ["^(a+)+$", "(?=a)(a|aa)*b", "(x{0,50}){0,50}", "[", "^\\p{L}*$"];
const REFERENCES: [&str; 11] = [
    "#", "#/$defs/d0", "#/$defs/d1", "#/definitions/d0", "#/definitions/d1", "#/$defs/a/anyOf/0", "#here", "other", "",
    "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#",
];

fn schema(from: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    if depth == 0 || from.is_empty() {
        return Ok(from.arbitrary::<bool>()?.into());
    }
    let mut fields = Map::new();
    for _ in 0..from.int_in_range(1..=3)? {
        let (keyword, value) = match from.int_in_range(0..=14)? {
            0 | 1 => (*from.choose(&ONE)?, schema(from, depth - 1)?),
            2 | 3 => {
                let count = from.int_in_range(1..=3)?;
                let list = (0..count).map(|_| schema(from, depth - 1)).collect::<Result<Vec<_>>>()?;
                (*from.choose(&MANY)?, list.into())
            }
            4 | 5 => {
                let mut named = Map::new();
                for _ in 0..from.int_in_range(1..=3)? {
                    named.insert((*from.choose(&NAMES)?).to_owned(), schema(from, depth - 1)?);
                }
                (*from.choose(&NAMED)?, named.into())
            }
            6 => (*from.choose(&["$ref", "$recursiveRef", "$dynamicRef"])?, (*from.choose(&REFERENCES)?).into()),
            7 => ("pattern", (*from.choose(&PATTERNS)?).into()),
            8 => ("$schema", (*from.choose(&DRAFTS)?).into()),
            9 => {
                let needed = (0..from.int_in_range(0..=2)?).map(|_| from.choose(&NAMES).map(|name| json!(name)));
                let needed = needed.collect::<Result<Vec<_>>>()?;
                let mut named = Map::new();
                named.insert((*from.choose(&NAMES)?).to_owned(), needed.into());
                (*from.choose(&["dependencies", "dependentRequired"])?, named.into())
            }
            10 => {
                let (keyword, value) = *from.choose(&[
                    ("contentEncoding", "base64"), ("contentEncoding", "7bit"), ("contentMediaType", "application/json"),
                    ("$recursiveAnchor", "true"), ("$id", "other"), ("id", "other"), ("id", "#here"), ("$anchor", "here"),
                ])?;
                (keyword, if value == "true" { true.into() } else { value.into() })
            }
            11 => (*from.choose(&["$dynamicRef", "$recursiveRef", "contentEncoding", "dependencies", "definitions"])?, hostile::value(from)?),
            12 => (*from.choose(&["$dynamicRef", "$anchor", "$dynamicAnchor", "$id", "$schema"])?, hostile::value(from)?),
            _ => {
                let words = ["enum", "const", "uniqueItems", "type", "minimum", "exclusiveMinimum", "required", "format"];
                (*from.choose(&words)?, hostile::value(from)?)
            }
        };
        fields.insert(keyword.to_owned(), value);
    }
    Ok(fields.into())
}

/// A schema, for the most part one of a known draft.
fn whole(from: &mut Unstructured<'_>) -> Result<Value> {
    let draft = *from.choose(&[None, Some(DRAFTS[0]), Some(DRAFTS[1]), Some(DRAFTS[2]), Some(DRAFTS[3]), Some(DRAFTS[4])])?;
    let mut schema = schema(from, 6)?;
    if let (Some(draft), Value::Object(fields)) = (draft, &mut schema) {
        fields.insert("$schema".to_owned(), draft.into());
    }
    Ok(schema)
}

fn instance(from: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    if depth == 0 || from.is_empty() {
        return Ok(json!("a".repeat(from.int_in_range(0..=200)?)));
    }
    Ok(match from.int_in_range(0..=3)? {
        0 => hostile::value(from)?,
        1 => {
            let inner = instance(from, depth - 1)?;
            // Six levels of twenty would be 64 million values.
            vec![inner; from.int_in_range(0..=if depth > 3 { 2 } else { 20 })?].into()
        }
        _ => {
            let mut fields = Map::new();
            for _ in 0..from.int_in_range(1..=3)? {
                fields.insert((*from.choose(&NAMES)?).to_owned(), instance(from, depth - 1)?);
            }
            fields.into()
        }
    })
}

fuzz_target!(|data: &[u8]| {
    let mut from = Unstructured::new(data);
    let (Ok(schema), Ok(instance)) = (whole(&mut from), instance(&mut from, 6)) else { return };
    let schemas = JsonSchemas::new();
    let checked = schemas.check(&schema, &instance);
    if schemas.accepts(&schema).is_err() {
        assert!(checked.is_err());
    }
    assert_eq!(schemas.check(&schema, &instance), checked);
});
