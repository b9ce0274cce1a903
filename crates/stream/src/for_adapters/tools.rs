//! Tools, as servers accept them.

use serde_json::{Value, json};

/// Returns the schema of a tool's arguments for a request. Servers refuse a schema of an object without `properties`, so
/// it gets an empty one.
pub fn parameters(schema: Option<&Value>) -> Value {
    let mut schema = schema.cloned().unwrap_or_else(|| json!({}));
    if let Value::Object(fields) = &mut schema {
        if fields.is_empty() {
            fields.insert("type".to_owned(), "object".into());
        }
        let kind = fields.get("type").and_then(Value::as_str);
        if kind == Some("object") && !fields.get("properties").is_some_and(Value::is_object) {
            fields.insert("properties".to_owned(), json!({}));
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_without_properties_gets_empty_ones() {
        let empty = json!({ "type": "object", "properties": {} });
        for without in [None, Some(json!({})), Some(json!({ "type": "object" }))] {
            assert_eq!(parameters(without.as_ref()), empty, "{without:?}");
        }
        let strict = json!({ "type": "object", "additionalProperties": false });
        assert_eq!(parameters(Some(&strict))["properties"], json!({}));
        for kept in [
            json!({ "type": "object", "properties": { "a": true } }),
            json!({ "$ref": "#/$defs/a" }),
            json!(true),
        ] {
            assert_eq!(parameters(Some(&kept)), kept);
        }
    }
}
