//! Anthropic's Messages.

use runstate_agent::InferenceRequest;
use runstate_agent::answer::{FinishReason, Usage};
use runstate_agent_stream::conformance::{Answer, Connection, Part, Source, Wire};
use runstate_genai::{Provider, usage};
use serde_json::{Value, json};

use crate::wires::{source, typed};

pub struct Messages;

fn block(text: &str, signature: &str) -> Value {
    json!({ "type": "thinking", "thinking": text, "signature": signature })
}

impl Wire for Messages {
    fn events(&self, answer: &Answer) -> Vec<String> {
        let Usage { input_tokens, output_tokens } = answer.tokens();
        let start = json!({ "usage": { "input_tokens": input_tokens, "output_tokens": 1 }, "content": [] });
        let mut events = vec![typed(&json!({ "type": "message_start", "message": start }))];
        for (index, part) in answer.parts.iter().enumerate() {
            let delta = |delta: Value| {
                typed(&json!({ "type": "content_block_delta", "index": index, "delta": delta }))
            };
            let (block, deltas): (Value, Vec<Value>) = match part {
                Part::Text(pieces) => {
                    let delta = |piece: &String| json!({ "type": "text_delta", "text": piece });
                    (json!({ "type": "text", "text": "" }), pieces.iter().map(delta).collect())
                }
                Part::Reasoning { text, signature } => {
                    let (first, second) = signature.split_at(4);
                    let thought = json!({ "type": "thinking_delta", "thinking": text });
                    let signed =
                        [first, second].map(|piece| json!({ "type": "signature_delta", "signature": piece }));
                    (block("", ""), [thought].into_iter().chain(signed).collect())
                }
                Part::Call { id, tool, arguments } => {
                    let delta = |piece: &String| json!({ "type": "input_json_delta", "partial_json": piece });
                    let block = json!({ "type": "tool_use", "id": id, "name": tool, "input": {} });
                    (block, arguments.iter().map(delta).collect())
                }
                _ => unreachable!("a part that the suite does not have yet"),
            };
            events.push(typed(
                &json!({ "type": "content_block_start", "index": index, "content_block": block }),
            ));
            events.extend(deltas.into_iter().map(delta));
            events.push(typed(&json!({ "type": "content_block_stop", "index": index })));
        }
        if let Some(finish) = &answer.finish {
            let reason = match finish {
                FinishReason::ToolCalls => "tool_use",
                FinishReason::Length => "max_tokens",
                FinishReason::ContentFilter => "refusal",
                _ => "end_turn",
            };
            let (delta, usage) =
                (json!({ "stop_reason": reason }), json!({ "output_tokens": output_tokens }));
            events.push(typed(&json!({ "type": "message_delta", "delta": delta, "usage": usage })));
            events.push(typed(&json!({ "type": "message_stop" })));
        }
        events
    }

    fn error_event(&self, message: &str) -> String {
        typed(&json!({ "type": "error", "error": { "type": "overloaded_error", "message": message } }))
    }

    fn error_body(&self, status: u16, message: &str) -> String {
        let kind = match status {
            401 => "authentication_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({ "type": "error", "error": { "type": kind, "message": message } }).to_string()
    }

    fn heartbeat(&self) -> String {
        typed(&json!({ "type": "ping" }))
    }

    fn source(&self, connection: &Connection, request: &InferenceRequest) -> Source {
        source(Provider::ANTHROPIC, "v1", connection, request)
    }

    fn usage(&self, progress: &Value) -> Option<Usage> {
        usage(progress)
    }

    fn kept(&self, answer: &Answer) -> Vec<Value> {
        let kept = answer.parts.iter().filter_map(|part| match part {
            Part::Reasoning { text, signature } => Some(block(text, signature)),
            Part::Call { id, tool, arguments } => {
                let input: Value = serde_json::from_str(&arguments.concat()).unwrap();
                Some(json!({ "type": "tool_use", "id": id, "name": tool, "input": input }))
            }
            _ => None,
        });
        kept.collect()
    }
}

runstate_agent_stream::model_conformance!(
    Messages,
    fails: [answer_with_crlf_split_at_each_byte_is_read, piece_of_a_long_event_is_alive, event_without_an_end_is_refused]
);
