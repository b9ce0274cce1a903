//! The secrets of a client in an answer that arrives in pieces.

use std::collections::VecDeque;

use serde_json::Value;

use super::secrets::{Secrets, WITHHELD};
use crate::{SourceError, StreamEvent};

/// Withholds the secrets of a client from the events of an answer. Text that ends with the first four letters of a secret, or
/// with more of them, is held back. So a server that sends a secret letter by letter gives at most three of them to a run.
#[derive(Debug, Default)]
pub struct Sieve {
    secrets: Secrets,
    /// The end of the text that left.
    left: String,
    /// The text that is held back.
    held: String,
    is_reasoning: bool,
    ready: VecDeque<Result<StreamEvent, SourceError>>,
}

impl Sieve {
    pub fn new(secrets: Secrets) -> Self {
        Sieve { secrets, ..Self::default() }
    }

    /// The next event that may leave.
    pub fn take(&mut self) -> Option<Result<StreamEvent, SourceError>> {
        self.ready.pop_front()
    }

    /// Takes an event of the server.
    pub fn put(&mut self, event: Result<StreamEvent, SourceError>) {
        match event {
            Ok(StreamEvent::Token(piece)) => self.piece(false, &piece),
            Ok(StreamEvent::Reasoning(piece)) => self.piece(true, &piece),
            Ok(event @ (StreamEvent::Alive | StreamEvent::Progress(_))) => self.ready.push_back(Ok(event)),
            Ok(mut event) => {
                self.end();
                if let StreamEvent::ToolCall(call) = &mut event {
                    for text in [&mut call.id, &mut call.name] {
                        *text = self.secrets.withheld(text).into_owned();
                    }
                    // A letter in an escape is a letter here.
                    call.arguments = self.value(std::mem::take(&mut call.arguments));
                    call.unreadable =
                        call.unreadable.take().map(|text| self.secrets.withheld(&text).into_owned());
                }
                self.ready.push_back(Ok(event));
            }
            Err(error) => {
                self.end();
                self.ready.push_back(Err(error));
            }
        }
    }

    /// Gives the text that is held back, at the end of the answer. Returns whether there is an event.
    pub fn end(&mut self) -> bool {
        if !self.held.is_empty() {
            let text = std::mem::take(&mut self.held);
            self.left.clear();
            self.give(text);
        }
        !self.ready.is_empty()
    }

    fn piece(&mut self, is_reasoning: bool, piece: &str) {
        if self.is_reasoning != is_reasoning {
            self.end();
            self.left.clear();
            self.is_reasoning = is_reasoning;
        }
        let mut sent = self.left.len();
        let mut text = std::mem::take(&mut self.left) + &std::mem::take(&mut self.held) + piece;
        let mut out = String::new();
        while let Some(secret) = self.secrets.first(&text, sent) {
            out.push_str(text.get(sent..secret.start).unwrap_or_default());
            out.push_str(WITHHELD);
            text = text.split_off(secret.end);
            sent = 0;
        }
        let held = self.secrets.beginning(&text).min(text.len() - sent);
        self.held = text.split_off(text.len() - held);
        out.push_str(&text[sent..]);
        let kept = text.len().saturating_sub(self.secrets.longest());
        self.left = text.split_off(text.ceil_char_boundary(kept));
        match out.is_empty() {
            // The server works.
            true => self.ready.push_back(Ok(StreamEvent::Alive)),
            false => self.give(out),
        }
    }

    fn give(&mut self, text: String) {
        let event = if self.is_reasoning { StreamEvent::Reasoning(text) } else { StreamEvent::Token(text) };
        self.ready.push_back(Ok(event));
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => self.secrets.withheld(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| (self.secrets.withheld(&name).into_owned(), self.value(value)))
                .collect(),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::header::HeaderValue;
    use serde_json::json;

    use super::*;

    fn sieve() -> Sieve {
        let mut secrets = Secrets::default();
        secrets.add(&HeaderValue::from_static("Bearer sk-7c1d0a"));
        Sieve::new(secrets)
    }

    fn texts(sieve: &mut Sieve, pieces: &[&str]) -> String {
        let mut all = String::new();
        for piece in pieces {
            sieve.put(Ok(StreamEvent::token(*piece)));
        }
        sieve.end();
        while let Some(event) = sieve.take() {
            if let StreamEvent::Token(text) = event.unwrap() {
                all.push_str(&text);
            }
        }
        all
    }

    #[test]
    fn secret_is_withheld_however_it_is_split() {
        let text = "the keys: sk-7c1d0a, sk-7c, (sk-7c1d0a)!";
        for size in 1..text.len() {
            let pieces: Vec<String> =
                text.chars().collect::<Vec<_>>().chunks(size).map(|piece| piece.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let shown = texts(&mut sieve(), &pieces);
            // Up to three letters have left before the secret is known as one.
            let whole = ["sk-[key]", "sk[key]", "s[key]"]
                .iter()
                .fold(shown.clone(), |text, begun| text.replace(begun, "[key]"));
            assert_eq!(whole, "the keys: [key], sk-7c, ([key])!", "{size}: {shown}");
            assert!(!shown.contains("1d0a"), "{size}: {shown}");
        }
    }

    #[test]
    fn beginning_of_a_secret_at_the_end_is_text() {
        assert_eq!(texts(&mut sieve(), &["dogs", " and cats"]), "dogs and cats");
        assert_eq!(texts(&mut sieve(), &["it ends in sk-7"]), "it ends in sk-7");
    }

    #[test]
    fn secret_in_the_arguments_of_a_call_is_withheld() {
        let mut sieve = sieve();
        let arguments: Value =
            serde_json::from_str(r#"{"path": ["a sk-\u0037c1d0a"], "sk-7c1d0a": 1}"#).unwrap();
        sieve.put(Ok(StreamEvent::tool_call("c1", "read", arguments)));
        let Some(Ok(StreamEvent::ToolCall(call))) = sieve.take() else { panic!("no call") };
        assert_eq!(call.arguments, json!({ "path": ["a [key]"], "[key]": 1 }));
    }
}
