//! No schema and no value make a check panic, overflow the stack, or take long: run it with `-timeout=10 -detect_leaks=0`, since jsonschema keeps
//! some bytes of certain schemas that it has compiled.

#![no_main]

mod hostile;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use runstate::agent::SchemaCheck;
use runstate_schema::JsonSchemas;
use serde_json::{Map, Value, json};

const ONE: [&str; 10] = [
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems",
    "propertyNames",
];
const MANY: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const NAMED: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "$defs"];
const NAMES: [&str; 5] = ["a", "b", "d0", "d1", "^a+$"];
const PATTERNS: [&str; 5] = ["^(a+)+$", "(?=a)(a|aa)*b", "(x{0,50}){0,50}", "[", "^\\p{L}*$"];
const REFERENCES: [&str; 8] =
    ["#", "#/$defs/d0", "#/$defs/d1", "#/$defs/a/anyOf/0", "#here", "other", "", "https://json-schema.org/draft/2020-12/schema"];

fn schema(from: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    if depth == 0 || from.is_empty() {
        return Ok(from.arbitrary::<bool>()?.into());
    }
    let mut fields = Map::new();
    for _ in 0..from.int_in_range(1..=3)? {
        let (keyword, value) = match from.int_in_range(0..=9)? {
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
            6 => ("$ref", (*from.choose(&REFERENCES)?).into()),
            7 => ("pattern", (*from.choose(&PATTERNS)?).into()),
            8 => (*from.choose(&["$dynamicRef", "$anchor", "$dynamicAnchor", "$id", "$schema"])?, hostile::value(from)?),
            _ => (*from.choose(&["enum", "const", "uniqueItems", "type", "minimum", "required", "format"])?, hostile::value(from)?),
        };
        fields.insert(keyword.to_owned(), value);
    }
    Ok(fields.into())
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
    let (Ok(schema), Ok(instance)) = (schema(&mut from, 6), instance(&mut from, 6)) else { return };
    let schemas = JsonSchemas::new();
    let checked = schemas.check(&schema, &instance);
    if schemas.accepts(&schema).is_err() {
        assert!(checked.is_err());
    }
    assert_eq!(schemas.check(&schema, &instance), checked);
});
