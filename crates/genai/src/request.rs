//! Requests, in genai's form.

use genai::ModelIden;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ContentPart, CustomPart, MessageContent, Tool, ToolCall,
    ToolResponse,
};
use runstate::turn::{CallRequest, Turn};
use runstate_agent::{InferenceRequest, Message, ResultContent};
use runstate_stream::for_adapters::{CallIds, parameters};
use serde_json::{Map, Value, json};

use crate::Provider;

/// The field of an answer's own data with the thinking of the provider, in its blocks.
pub(crate) const THINKING: &str = "thinking";
/// The field of a call's own data with its signatures.
pub(crate) const SIGNATURES: &str = "signatures";

/// A request for an answer.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) chat: ChatRequest,
    /// The most tokens of the answer.
    pub(crate) output: Option<u32>,
    pub(crate) parameters: Map<String, Value>,
    /// Number of calls in the history, for the ids of calls that come without one.
    pub(crate) earlier_calls: usize,
}

/// Converts a request. The own data of another provider is left out.
pub(crate) fn prepared(provider: Provider, request: &InferenceRequest, output: Option<u32>) -> Prepared {
    let mut chat = ChatRequest::default();
    if let Some(system) = &request.system {
        chat = chat.with_system(&**system);
    }
    let tools = request.tools.iter().map(|tool| {
        let schema = parameters(tool.schema());
        Tool::new(tool.name()).with_description(tool.description()).with_schema(schema)
    });
    let tools: Vec<Tool> = tools.collect();
    if !tools.is_empty() {
        chat = chat.with_tools(tools);
    }
    let mut ids = CallIds::default();
    for message in request.history.iter() {
        match message {
            Message::User(text) => chat = chat.append_message(ChatMessage::user(&**text)),
            Message::Assistant(turn) => {
                let parts = parts_of(provider, turn, &mut ids);
                // Servers refuse a message without content.
                if !parts.is_empty() {
                    chat = chat.append_message(ChatMessage::assistant(MessageContent::from_parts(parts)));
                }
            }
            Message::Result(result) => {
                let content = match &result.content {
                    ResultContent::Output { value: Value::String(text), .. } => text.clone(),
                    ResultContent::Output { value, .. } => value.to_string(),
                    ResultContent::Error(error) => format!("error: {error}"),
                };
                push_result(&mut chat, ToolResponse::new(answered(provider, &result.id, &mut ids), content));
            }
            Message::Open(open) => {
                push_result(&mut chat, ToolResponse::new(answered(provider, open.id(), &mut ids), open.why()))
            }
        }
    }
    let turns = request.history.iter().filter_map(Message::answer);
    let earlier_calls = turns.map(|turn| turn.calls.len()).sum();
    Prepared { chat, output, parameters: (*request.parameters).clone(), earlier_calls }
}

/// Adds a result. The results of one answer are one message, as Anthropic requires.
fn push_result(chat: &mut ChatRequest, result: ToolResponse) {
    match chat.messages.last_mut() {
        Some(last) if last.content.contains_tool_response() => last.content.push(result),
        _ => chat.messages.push(ChatMessage::from(result)),
    }
}

fn parts_of(provider: Provider, turn: &Turn, ids: &mut CallIds) -> Vec<ContentPart> {
    ids.answer();
    let blocks = turn.extra.fields().get(provider.name()).and_then(|own| own.get(THINKING));
    let mut parts: Vec<ContentPart> = blocks
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .flat_map(|block| thinking(provider, block))
        .collect();
    if !turn.text.is_empty() {
        parts.push(ContentPart::Text(turn.text.clone()));
    }
    parts.extend(turn.calls.iter().map(|call| ContentPart::ToolCall(call_of(provider, call, ids))));
    parts
}

/// Converts a stored block: Anthropic's `thinking` and `redacted_thinking`, the `reasoning` of Responses, and a
/// signature of Gemini.
fn thinking(provider: Provider, block: &Value) -> Vec<ContentPart> {
    let text = |field: &str| block.get(field).and_then(Value::as_str).map(str::to_owned);
    match block.get("type").and_then(Value::as_str) {
        Some("thinking") => {
            let signature = text("signature").map(ContentPart::ThoughtSignature);
            let thought = text("thinking").map(ContentPart::ReasoningContent);
            signature.into_iter().chain(thought).collect()
        }
        Some("reasoning") => {
            text("encrypted_content").map(ContentPart::ThoughtSignature).into_iter().collect()
        }
        Some("signature") => text("signature").map(ContentPart::ThoughtSignature).into_iter().collect(),
        _ => {
            let model_iden = Some(ModelIden::new(provider.kind(), ""));
            vec![ContentPart::Custom(CustomPart { model_iden, data: block.clone() })]
        }
    }
}

/// The id of a call at a provider. Anthropic refuses other characters than these, which the ids of another provider have.
fn id_of(provider: Provider, id: &str) -> String {
    let is_known = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if provider != Provider::ANTHROPIC {
        return id.to_owned();
    }
    id.chars().map(|c| if is_known(c) { c } else { '_' }).collect()
}

/// Returns whether genai sends no id of the call to the server, because it made the id itself.
fn is_own(provider: Provider, id: &str) -> bool {
    provider == Provider::GEMINI && id.starts_with("call#")
}

/// The id of a result: that of its call in the request.
fn answered(provider: Provider, id: &str, ids: &mut CallIds) -> String {
    ids.result(id).unwrap_or_else(|| id_of(provider, id))
}

fn call_of(provider: Provider, call: &CallRequest, ids: &mut CallIds) -> ToolCall {
    let call_id = match is_own(provider, &call.id) {
        true => call.id.clone(),
        false => ids.call(&call.id, &id_of(provider, &call.id)),
    };
    // A provider refuses arguments that are no object, and the model must see its mistake.
    let fn_arguments = match (&call.unreadable, &call.arguments) {
        (None, arguments @ Value::Object(_)) => arguments.clone(),
        (_, arguments) => json!({ "unreadable": arguments }),
    };
    let own = call.extra.fields().get(provider.name()).and_then(|own| own.get(SIGNATURES));
    let signatures: Vec<String> = own
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    ToolCall {
        call_id,
        fn_name: call.tool.clone(),
        fn_arguments,
        thought_signatures: (!signatures.is_empty()).then_some(signatures),
    }
}

/// Returns the options of a request.
pub(crate) fn options(
    provider: Provider,
    output: Option<u32>,
    parameters: Map<String, Value>,
) -> ChatOptions {
    let mut options = ChatOptions::default().with_capture_tool_calls(true);
    // Anthropic's blocks are captured by it alone. At the others it asks for thinking, which some models refuse;
    // their signatures are read from the frames.
    options = options.with_capture_reasoning_content(provider == Provider::ANTHROPIC);
    if let Some(output) = output {
        options = options.with_max_tokens(output);
    }
    if !parameters.is_empty() {
        options = options.with_extra_body(Value::Object(parameters));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_and_result_have_an_id_that_the_provider_takes() {
        let call = CallRequest::new("read#0#1", "read", json!({}));
        let ids = |provider| {
            let mut ids = CallIds::default();
            (call_of(provider, &call, &mut ids).call_id, answered(provider, &call.id, &mut ids))
        };
        assert_eq!(ids(Provider::ANTHROPIC), ("read_0_1".to_owned(), "read_0_1".to_owned()));
        assert_eq!(ids(Provider::GEMINI), ("read#0#1".to_owned(), "read#0#1".to_owned()));
    }
}
