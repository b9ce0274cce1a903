//! Thinking in parts of an answer.
//!
//! LiteLLM sends `thinking_blocks`: `{"type": "thinking", "thinking": "…", "signature": "…"}` and `{"type":
//! "redacted_thinking", "data": "…"}`. Mistral sends a list as the content: `{"type": "thinking", "thinking":
//! [{"type": "text", "text": "…"}]}` and `{"type": "text", "text": "…"}`. In a stream both come in pieces. A
//! server that sent parts requires them back complete and in order.

use serde_json::{Map, Value, json};

/// Parts, assembled from their pieces. A part that came complete stays unchanged.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    parts: Vec<Value>,
    /// Whether output followed the last part. A later signature still belongs to that part; later thinking does
    /// not.
    is_followed: bool,
}

impl Parts {
    /// Adds a list, and returns the bytes added. Its first piece may continue the last part; the other pieces
    /// are parts of their own.
    pub(crate) fn add(&mut self, list: Vec<Value>) -> usize {
        let mut bytes = 0;
        for (at, piece) in list.into_iter().enumerate() {
            bytes += match (self.parts.last_mut(), piece) {
                (Some(Value::Object(last)), Value::Object(piece))
                    if at == 0 && goes_on(last, &piece, self.is_followed) =>
                {
                    join(last, piece)
                }
                (_, piece) => {
                    let bytes = piece.to_string().len();
                    self.parts.push(piece);
                    bytes
                }
            };
            self.is_followed = false;
        }
        bytes
    }

    /// Adds a text outside of a list.
    pub(crate) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.add(vec![json!({ "type": "text", "text": text })]);
        }
    }

    /// Notes that output follows the last part.
    pub(crate) fn follow(&mut self) {
        self.is_followed = true;
    }

    /// Takes the parts, unless all of them are text.
    pub(crate) fn take(&mut self) -> Option<Value> {
        let parts = std::mem::take(&mut self.parts);
        parts.iter().any(|part| !is_text(part)).then_some(Value::Array(parts))
    }
}

fn is_text(part: &Value) -> bool {
    part.get("text").is_some_and(Value::is_string)
}

/// Returns the text of thinking, which is a text or a list of parts with texts.
pub(crate) fn thought_of(part: &Value) -> String {
    match part.get("thinking") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

fn goes_on(last: &Map<String, Value>, piece: &Map<String, Value>, is_followed: bool) -> bool {
    let is_given =
        |part: &Map<String, Value>, field: &str| part.get(field).is_some_and(|value| !is_blank(value));
    let is_of =
        |part: &Map<String, Value>, kind: &str| part.get("type").and_then(Value::as_str) == Some(kind);
    let both = |kind: &str| is_of(last, kind) && is_of(piece, kind);
    if both("text") {
        return last.len() == 2 && piece.len() == 2;
    }
    // A signature ends the block that it signs.
    let is_late = is_followed && is_given(piece, "thinking");
    both("thinking") && !is_given(last, "signature") && !is_late
}

/// Adds a piece, and returns its bytes. Texts and lists grow. Any other value replaces the previous one unless
/// it is blank.
fn join(part: &mut Map<String, Value>, piece: Map<String, Value>) -> usize {
    let mut bytes = 0;
    for (field, value) in piece {
        match (part.get_mut(&field), value) {
            (Some(Value::String(known)), Value::String(more)) if matches!(&*field, "thinking" | "text") => {
                bytes += more.len();
                known.push_str(&more);
            }
            (Some(Value::Array(known)), Value::Array(more)) => {
                let mut inner = Parts { parts: std::mem::take(known), is_followed: false };
                bytes += inner.add(more);
                *known = inner.parts;
            }
            (Some(known), value) if *known == value || is_blank(&value) => {}
            (_, value) => {
                bytes += field.len() + value.to_string().len();
                part.insert(field, value);
            }
        }
    }
    bytes
}

/// Returns whether a value is empty. Servers write an empty value with each piece.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
