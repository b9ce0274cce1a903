//! Results of calls.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use runstate::tool_result::ToolResult;
use serde_json::{Value, json};

use crate::secrets::Secrets;

/// The result of a call, without secrets and not larger than `most` bytes.
pub(crate) fn result(of: CallToolResult, secrets: &Secrets, most: usize) -> ToolResult {
    let is_error = of.is_error == Some(true);
    let output = secrets.withheld_value(output(of));
    if is_error {
        let text = match output {
            Value::String(text) if text.trim().is_empty() => "the tool failed without a reason".to_owned(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        let (text, more) = cut(text, most);
        return ToolResult::Error(match more {
            0 => text,
            more => format!("{text}\n{more} bytes are omitted"),
        });
    }
    let size = match &output {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    };
    if size <= most {
        return ToolResult::Success(output);
    }
    let text = match output {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let (text, more) = cut(text, most);
    ToolResult::Warning { output: text.into(), warning: format!("{more} bytes of output are omitted") }
}

/// The first bytes of a text, up to a character, and the number of the others.
fn cut(mut text: String, most: usize) -> (String, usize) {
    let whole = text.len();
    let end = (0..=most.min(whole)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    (text, whole - end)
}

/// A single text is a text. Structured content is itself; its texts repeat it. Anything else is a list of blocks.
fn output(of: CallToolResult) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    let all_text = of.content.iter().all(|block| matches!(block, ContentBlock::Text(_)));
    if all_text {
        texts.extend(of.content.into_iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text),
            _ => None,
        }));
    } else {
        blocks.extend(of.content.into_iter().map(described));
    }
    match (of.structured_content, all_text) {
        (Some(structured), true) => structured,
        (Some(structured), false) => json!({ "structured": structured, "content": blocks }),
        (None, true) => texts.join("\n").into(),
        (None, false) => blocks.into(),
    }
}

/// A block. A model reads text: the bytes of images, sounds and files are described.
fn described(block: ContentBlock) -> Value {
    let bytes = |base64: &str| base64.trim_end_matches('=').len() * 3 / 4;
    match block {
        ContentBlock::Text(text) => json!({ "type": "text", "text": text.text }),
        ContentBlock::Image(image) => {
            json!({ "type": "image", "mime_type": image.mime_type, "bytes": bytes(&image.data) })
        }
        ContentBlock::Audio(audio) => {
            json!({ "type": "audio", "mime_type": audio.mime_type, "bytes": bytes(&audio.data) })
        }
        ContentBlock::ResourceLink(link) => without_null(json!({
            "type": "resource_link",
            "uri": link.uri,
            "name": link.name,
            "description": link.description,
            "mime_type": link.mime_type,
            "bytes": link.size,
        })),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                without_null(json!({ "type": "resource", "uri": uri, "mime_type": mime_type, "text": text }))
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => without_null(
                json!({ "type": "resource", "uri": uri, "mime_type": mime_type, "bytes": bytes(&blob) }),
            ),
            _ => json!({ "type": "resource" }),
        },
        _ => json!({ "type": "unknown" }),
    }
}

fn without_null(mut value: Value) -> Value {
    if let Value::Object(members) = &mut value {
        members.retain(|_, value| !value.is_null());
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: Value) -> CallToolResult {
        serde_json::from_value(json).unwrap()
    }

    fn shown(json: Value, most: usize) -> ToolResult {
        result(read(json), &Secrets::of(["Bearer sk-12345678"].into_iter()), most)
    }

    #[test]
    fn texts_are_one_text() {
        let two = json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] });
        assert_eq!(shown(two, 100), ToolResult::Success(json!("a\nb")));
        assert_eq!(shown(json!({ "content": [] }), 100), ToolResult::Success(json!("")));
    }

    #[test]
    fn structured_content_replaces_its_text() {
        let both = json!({ "content": [{ "type": "text", "text": "{}" }], "structuredContent": { "n": 1 } });
        assert_eq!(shown(both, 100), ToolResult::Success(json!({ "n": 1 })));
    }

    #[test]
    fn bytes_are_described() {
        let blocks = json!({ "content": [
            { "type": "text", "text": "here" },
            { "type": "image", "data": "AAAAAA==", "mimeType": "image/png" },
            { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "file:///a", "text": "A" } },
            { "type": "resource", "resource": { "uri": "file:///b", "blob": "AAA=", "mimeType": "x/y" } },
            { "type": "resource_link", "uri": "file:///c", "name": "c" },
        ] });
        let expected = json!([
            { "type": "text", "text": "here" },
            { "type": "image", "mime_type": "image/png", "bytes": 4 },
            { "type": "audio", "mime_type": "audio/wav", "bytes": 3 },
            { "type": "resource", "uri": "file:///a", "text": "A" },
            { "type": "resource", "uri": "file:///b", "mime_type": "x/y", "bytes": 2 },
            { "type": "resource_link", "uri": "file:///c", "name": "c" },
        ]);
        assert_eq!(shown(blocks, 10_000), ToolResult::Success(expected));
    }

    #[test]
    fn long_output_is_cut_at_a_character() {
        let long = json!({ "content": [{ "type": "text", "text": "éééé" }] });
        let warning = "5 bytes of output are omitted".to_owned();
        assert_eq!(
            shown(long, 3),
            ToolResult::Warning {
                output: json!("é").clone(),
                warning: "6 bytes of output are omitted".into()
            }
        );
        let structured = json!({ "content": [], "structuredContent": { "n": 1 } });
        assert_eq!(shown(structured, 2), ToolResult::Warning { output: json!("{\""), warning });
    }

    #[test]
    fn error_of_the_tool_is_a_failed_call() {
        let failed = json!({ "isError": true, "content": [{ "type": "text", "text": "no such file" }] });
        assert_eq!(shown(failed, 100), ToolResult::Error("no such file".into()));
        let silent = json!({ "isError": true, "content": [] });
        assert_eq!(shown(silent, 100), ToolResult::Error("the tool failed without a reason".into()));
    }

    #[test]
    fn header_that_the_server_repeats_is_withheld() {
        let repeats =
            json!({ "content": [], "structuredContent": { "sk-12345678": ["Bearer sk-12345678", 1] } });
        assert_eq!(shown(repeats, 100), ToolResult::Success(json!({ "[key]": ["[key]", 1] })));
    }
}
