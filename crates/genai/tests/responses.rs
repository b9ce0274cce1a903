//! OpenAI's Responses.

use runstate_agent::InferenceRequest;
use runstate_agent::answer::{FinishReason, Usage};
use runstate_agent_stream::conformance::{Answer, Connection, Part, Source, Wire};
use runstate_genai::{Provider, usage};
use serde_json::{Value, json};

use crate::wires::{source, typed};

pub struct Responses;

fn reasoning(text: &str, encrypted: &str) -> Value {
    let summary = json!([{ "type": "summary_text", "text": text }]);
    json!({ "type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": encrypted })
}

impl Wire for Responses {
    fn events(&self, answer: &Answer) -> Vec<String> {
        let created = json!({ "id": "resp_1", "status": "in_progress", "model": "m", "output": [] });
        let mut events = vec![typed(&json!({ "type": "response.created", "response": created }))];
        for (at, part) in answer.parts.iter().enumerate() {
            let (item, deltas): (Value, Vec<Value>) = match part {
                Part::Text(pieces) => {
                    let delta = |piece: &String| json!({ "type": "response.output_text.delta", "output_index": at, "content_index": 0, "delta": piece });
                    let content = json!([{ "type": "output_text", "text": pieces.concat() }]);
                    let item =
                        json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": content });
                    (item, pieces.iter().map(delta).collect())
                }
                Part::Reasoning { text, signature } => {
                    let delta = json!({ "type": "response.reasoning_summary_text.delta", "output_index": at, "summary_index": 0, "delta": text });
                    (reasoning(text, signature), vec![delta])
                }
                Part::Call { id, tool, arguments } => {
                    let delta = |piece: &String| json!({ "type": "response.function_call_arguments.delta", "output_index": at, "delta": piece });
                    let item = json!({ "type": "function_call", "id": "fc_1", "call_id": id, "name": tool, "arguments": arguments.concat() });
                    (item, arguments.iter().map(delta).collect())
                }
                _ => unreachable!("a part that the suite does not have yet"),
            };
            let mut begun = item.clone();
            if begun["content"].is_array() {
                begun["content"] = json!([]);
            }
            for field in ["arguments", "encrypted_content"] {
                if begun[field].is_string() {
                    begun[field] = json!("");
                }
            }
            events.push(typed(
                &json!({ "type": "response.output_item.added", "output_index": at, "item": begun }),
            ));
            events.extend(deltas.iter().map(typed));
            events.push(typed(
                &json!({ "type": "response.output_item.done", "output_index": at, "item": item }),
            ));
        }
        if let Some(finish) = &answer.finish {
            let Usage { input_tokens, output_tokens } = answer.tokens();
            let usage = json!({ "input_tokens": input_tokens, "output_tokens": output_tokens, "total_tokens": input_tokens + output_tokens });
            let reason = match finish {
                FinishReason::Length => Some("max_output_tokens"),
                FinishReason::ContentFilter => Some("content_filter"),
                _ => None,
            };
            let status = if reason.is_some() { "incomplete" } else { "completed" };
            let details = reason.map(|reason| json!({ "reason": reason }));
            let response = json!({ "id": "resp_1", "status": status, "model": "m", "output": [], "usage": usage, "incomplete_details": details });
            events.push(typed(&json!({ "type": format!("response.{status}"), "response": response })));
        }
        events
    }

    fn error_event(&self, message: &str) -> String {
        typed(&json!({ "type": "error", "code": "server_error", "message": message, "param": null }))
    }

    fn error_body(&self, _: u16, message: &str) -> String {
        json!({ "error": { "message": message, "type": null, "code": null } }).to_string()
    }

    fn source(&self, connection: &Connection, request: &InferenceRequest) -> Source {
        source(Provider::RESPONSES, "v1", connection, request)
    }

    fn usage(&self, progress: &Value) -> Option<Usage> {
        usage(progress)
    }

    fn kept(&self, answer: &Answer) -> Vec<Value> {
        let kept = answer.parts.iter().filter_map(|part| match part {
            Part::Reasoning { text, signature } => Some(reasoning(text, signature)),
            _ => None,
        });
        kept.collect()
    }
}

runstate_agent_stream::model_conformance!(
    Responses,
    fails: [own_data_goes_back_unchanged, piece_of_a_long_event_is_alive, event_without_an_end_is_refused]
);
