//! Messages, and their part in model requests.

use runstate_agent::{Message, ResultContent};

use crate::script::ModelRequest;

/// A message in a line.
pub(super) fn line(message: &Message) -> String {
    match message {
        Message::User(text) => format!("  user       {text}"),
        Message::Assistant(turn) => {
            let calls = turn.calls.iter().map(|call| {
                let unreadable = if call.unreadable.is_some() { " (unreadable)" } else { "" };
                format!(" [{} {} {}{unreadable}]", call.id, call.tool, super::sorted(&call.arguments))
            });
            format!("  assistant  {}{}", turn.text, calls.collect::<String>())
        }
        Message::Result(result) => {
            let content = match &result.content {
                ResultContent::Output { value, warning: None } => super::sorted(value).to_string(),
                ResultContent::Output { value, warning: Some(warning) } => {
                    format!("{} (warning: {warning})", super::sorted(value))
                }
                ResultContent::Error(error) => format!("error: {error}"),
            };
            format!("  result     {}: {content}", result.id)
        }
        Message::Open(open) => format!("  open       {}: {}", open.id(), open.why()),
    }
}

/// The requests, each with the messages that the previous request lacked.
pub(super) fn asked(requests: &[ModelRequest]) -> Vec<String> {
    let mut lines = Vec::new();
    for request in requests {
        let system = request.system.as_ref().map(|prompt| format!(", system {prompt:?}")).unwrap_or_default();
        let parameters = if request.parameters.is_empty() {
            String::new()
        } else {
            format!(", parameters {}", super::sorted(&serde_json::Value::Object(request.parameters.clone())))
        };
        let tools = request.tools.join(", ");
        lines.push(format!(
            "{}  step {}: tools [{tools}]{system}{parameters}, {} messages, {} as before",
            super::at(request.at_ms),
            request.step,
            request.len(),
            request.same
        ));
        lines.extend(request.messages.iter().map(|message| format!("           {}", line(message))));
    }
    lines
}
