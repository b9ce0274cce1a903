//! The rules of strict servers, for each request of the suite.
//!
//! A server refuses a request that breaks one of them, so that a run of an agent ends: each schema of an object has
//! `properties`; the ids of the calls are distinct; each result has the id of a call; the arguments of each call are an
//! object.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Checks a request against the rules, in the forms of Chat Completions, Responses, Messages and Gemini.
///
/// # Errors
/// The first rule that the request breaks, with the place.
pub(super) fn check(body: &Value) -> Result<(), String> {
    let mut calls = BTreeSet::new();
    let mut results = Vec::new();
    each_object(body, &mut |object| {
        if let Some(schema) = SCHEMAS.iter().find_map(|field| object.get(*field)) {
            has_properties(object, schema)?;
        }
        if let Some(call) = Call::of(object) {
            if !call.arguments.is_some_and(|arguments| arguments.is_object()) {
                return Err(format!("the arguments of a call are no object: {object:?}"));
            }
            if let Some(id) = call.id
                && !calls.insert(id.to_owned())
            {
                return Err(format!("two calls have the id {id:?}"));
            }
        }
        let result = RESULTS.iter().find_map(|(kind, field)| {
            let is_of = kind.is_empty() || object.get("type").is_some_and(|of| of == kind);
            object.get(*field).filter(|_| is_of)?.as_str()
        });
        results.extend(result.map(str::to_owned));
        Ok(())
    })?;
    let mut answered = BTreeSet::new();
    for id in results {
        if !calls.contains(&id) {
            return Err(format!("a result has the id {id:?}, which no call has"));
        }
        if !answered.insert(id.clone()) {
            return Err(format!("two results have the id {id:?}"));
        }
    }
    Ok(())
}

/// The fields with the schema of a tool.
const SCHEMAS: [&str; 4] = ["parameters", "input_schema", "parametersJsonSchema", "inputSchema"];

/// The types of results with the fields of their ids. A message of Chat Completions has no type.
const RESULTS: [(&str, &str); 3] =
    [("", "tool_call_id"), ("tool_result", "tool_use_id"), ("function_call_output", "call_id")];

fn has_properties(tool: &Map<String, Value>, schema: &Value) -> Result<(), String> {
    let is_object = schema["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("object"));
    match is_object && !schema["properties"].is_object() {
        true => Err(format!("object schema missing properties: {tool:?}")),
        false => Ok(()),
    }
}

/// A call of a request. Gemini's calls need no id.
struct Call<'r> {
    id: Option<&'r str>,
    arguments: Option<Value>,
}

impl<'r> Call<'r> {
    fn of(object: &'r Map<String, Value>) -> Option<Self> {
        let text = |field: &str| object.get(field).and_then(Value::as_str);
        let read = |text: &Value| serde_json::from_str(text.as_str()?).ok();
        match text("type") {
            Some("function") => {
                let arguments = object.get("function")?.get("arguments")?;
                Some(Call { id: text("id"), arguments: read(arguments) })
            }
            Some("tool_use") => Some(Call { id: text("id"), arguments: object.get("input").cloned() }),
            Some("function_call") => {
                Some(Call { id: text("call_id"), arguments: object.get("arguments").and_then(read) })
            }
            _ => {
                let call = object.get("functionCall")?;
                Some(Call { id: None, arguments: call.get("args").cloned() })
            }
        }
    }
}

fn each_object(
    value: &Value,
    visit: &mut impl FnMut(&Map<String, Value>) -> Result<(), String>,
) -> Result<(), String> {
    match value {
        Value::Object(fields) => {
            visit(fields)?;
            fields.values().try_for_each(|value| each_object(value, visit))
        }
        Value::Array(items) => items.iter().try_for_each(|item| each_object(item, visit)),
        _ => Ok(()),
    }
}
