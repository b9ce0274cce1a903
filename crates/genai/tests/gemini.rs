//! Gemini's `streamGenerateContent`.

use runstate_agent::InferenceRequest;
use runstate_agent::answer::{FinishReason, Usage};
use runstate_agent_stream::conformance::{Answer, Connection, Part, Source, Wire};
use runstate_genai::{Provider, usage};
use serde_json::{Value, json};

use crate::wires::source;

pub struct Gemini;

fn data(data: &Value) -> String {
    format!("data: {data}\r\n\r\n")
}

fn piece(part: &Value) -> Value {
    json!({ "candidates": [{ "index": 0, "content": { "role": "model", "parts": [part] } }], "responseId": "r1" })
}

/// The part of a call, with the signature of the thinking before it.
fn call(id: &str, tool: &str, arguments: &[String], signature: Option<&str>) -> Value {
    let text = arguments.concat();
    // The wire has no text of arguments. A server sends an object; a text stands for what is none.
    let args = if text.is_empty() { json!({}) } else { serde_json::from_str(&text).unwrap_or(json!(text)) };
    let mut part = json!({ "functionCall": { "name": tool, "args": args } });
    if !id.is_empty() {
        part["functionCall"]["id"] = json!(id);
    }
    if let Some(signature) = signature {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

fn parts(answer: &Answer) -> Vec<Value> {
    let (mut parts, mut signature) = (Vec::new(), None);
    for part in &answer.parts {
        match part {
            Part::Text(pieces) => parts.extend(pieces.iter().map(|piece| json!({ "text": piece }))),
            Part::Reasoning { text, signature: signed } => {
                signature = Some(signed.as_str());
                parts.push(json!({ "text": text, "thought": true }));
            }
            Part::Call { id, tool, arguments } => parts.push(call(id, tool, arguments, signature.take())),
            _ => unreachable!("a part that the suite does not have yet"),
        }
    }
    parts
}

impl Wire for Gemini {
    fn events(&self, answer: &Answer) -> Vec<String> {
        let mut events: Vec<String> = parts(answer).iter().map(|part| data(&piece(part))).collect();
        if let Some(finish) = &answer.finish {
            let Usage { input_tokens, output_tokens } = answer.tokens();
            let reason = match finish {
                FinishReason::Length => "MAX_TOKENS",
                FinishReason::ContentFilter => "SAFETY",
                _ => "STOP",
            };
            let mut end = piece(&json!({ "text": "" }));
            end["candidates"][0]["finishReason"] = json!(reason);
            let usage = json!({ "promptTokenCount": input_tokens, "candidatesTokenCount": output_tokens - 1, "thoughtsTokenCount": 1 });
            end["usageMetadata"] = usage;
            events.push(data(&end));
        }
        events
    }

    fn error_event(&self, message: &str) -> String {
        data(&json!({ "error": { "code": 503, "message": message, "status": "UNAVAILABLE" } }))
    }

    fn error_body(&self, status: u16, message: &str) -> String {
        json!([{ "error": { "code": status, "message": message, "status": "X" } }]).to_string()
    }

    fn source(&self, connection: &Connection, request: &InferenceRequest) -> Source {
        source(Provider::GEMINI, "v1beta", connection, request)
    }

    fn usage(&self, progress: &Value) -> Option<Usage> {
        usage(progress)
    }

    fn kept(&self, answer: &Answer) -> Vec<Value> {
        parts(answer).into_iter().filter(|part| part["functionCall"].is_object()).collect()
    }
}

runstate_agent_stream::model_conformance!(
    Gemini,
    fails: [piece_of_a_long_event_is_alive, event_without_an_end_is_refused]
);
