//! The secrets of a client in an answer that arrives in pieces.

use std::collections::VecDeque;

use runstate::turn::Extra;
use serde_json::{Map, Value};

use super::secrets::{Secrets, WITHHELD};
use crate::{ErrorKind, FinishReason, SourceError, StreamEvent};

/// Withholds the secrets of a client from the events of an answer. Text that ends with the first four letters of a secret, or
/// with more of them, is held back. So a server that sends a secret letter by letter gives at most three of them to a run. The
/// provider's own data is held back until the end of the answer, because its texts are joined there. An answer with a secret
/// in signed data fails, because a server refuses signed data that has changed.
#[derive(Debug, Default)]
pub struct Sieve {
    secrets: Secrets,
    /// The text, and the reasoning. Pieces of one may come between those of the other.
    text: Held,
    reasoning: Held,
    /// The provider's own data that is held back.
    extra: Extra,
    is_over: bool,
    ready: VecDeque<Result<StreamEvent, SourceError>>,
}

/// A text that arrives in pieces.
#[derive(Debug, Default)]
struct Held {
    /// The end of the text that left.
    left: String,
    /// The text that is held back.
    held: String,
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
        if self.is_over {
            return;
        }
        match event {
            _ if self.secrets.is_empty() => self.ready.push_back(event),
            Ok(StreamEvent::Token(piece)) => self.piece(false, &piece),
            Ok(StreamEvent::Reasoning(piece)) => self.piece(true, &piece),
            Ok(StreamEvent::Alive) => self.ready.push_back(Ok(StreamEvent::Alive)),
            Ok(StreamEvent::Progress(progress)) => {
                let progress = self.secrets.withheld_value(progress);
                self.ready.push_back(Ok(StreamEvent::Progress(progress)));
            }
            Ok(StreamEvent::Extra(extra)) => {
                self.extra.add(extra);
                // The server works.
                self.ready.push_back(Ok(StreamEvent::Alive));
            }
            Ok(StreamEvent::ToolCall(mut call)) => {
                for text in [&mut call.id, &mut call.name] {
                    *text = self.secrets.withheld(text).into_owned();
                }
                call.arguments = self.secrets.withheld_value(std::mem::take(&mut call.arguments));
                call.unreadable =
                    call.unreadable.take().map(|text| self.secrets.withheld(&text).into_owned());
                match self.own(std::mem::take(&mut call.extra)) {
                    Ok(extra) => {
                        call.extra = extra;
                        self.ready.push_back(Ok(StreamEvent::ToolCall(call)));
                    }
                    Err(error) => self.fail(error),
                }
            }
            Ok(event @ (StreamEvent::Finish(_) | StreamEvent::Complete)) => {
                self.end();
                let extra = std::mem::take(&mut self.extra);
                match self.own(extra) {
                    Ok(extra) if extra.is_empty() => {}
                    Ok(extra) => self.ready.push_back(Ok(StreamEvent::Extra(extra))),
                    Err(error) => return self.fail(error),
                }
                self.ready.push_back(Ok(match event {
                    StreamEvent::Finish(FinishReason::Other(word)) => {
                        StreamEvent::Finish(FinishReason::Other(self.secrets.withheld(&word).into_owned()))
                    }
                    event => event,
                }));
            }
            Ok(StreamEvent::Error(error)) | Err(error) => {
                self.end();
                self.fail(self.secrets.withheld_error(error));
            }
            // No adapter has other events.
            Ok(event @ (StreamEvent::Message(_) | StreamEvent::Data(_))) => self.ready.push_back(Ok(event)),
        }
    }

    fn fail(&mut self, error: SourceError) {
        self.is_over = true;
        self.ready.push_back(Err(error));
    }

    /// The own data of the provider, without the secrets.
    ///
    /// # Errors
    /// A secret is in signed data.
    fn own(&self, extra: Extra) -> Result<Extra, SourceError> {
        let fields = extra.fields();
        if !fields.values().any(|value| self.secrets.is_in(value)) {
            return Ok(extra);
        }
        if is_signed(fields) || fields.values().any(|value| self.is_in_signed(value)) {
            let why = "the answer repeats the key of the server in signed data, which cannot be withheld; expected an answer without it";
            return Err(SourceError::new(ErrorKind::Model, why));
        }
        let fields =
            fields.iter().map(|(name, value)| (name.clone(), self.secrets.withheld_value(value.clone())));
        Ok(fields.collect())
    }

    /// Whether a secret is in a part with a signature.
    fn is_in_signed(&self, value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(|item| self.is_in_signed(item)),
            Value::Object(fields) => {
                is_signed(fields) && self.secrets.is_in(value)
                    || fields.values().any(|value| self.is_in_signed(value))
            }
            _ => false,
        }
    }

    /// Gives the text that is held back, at the end of the answer. Returns whether there is an event.
    pub fn end(&mut self) -> bool {
        for is_reasoning in [true, false] {
            let held = std::mem::take(if is_reasoning { &mut self.reasoning } else { &mut self.text });
            if !held.held.is_empty() && !self.is_over {
                self.give(is_reasoning, held.held);
            }
        }
        !self.ready.is_empty()
    }

    fn piece(&mut self, is_reasoning: bool, piece: &str) {
        let held = if is_reasoning { &mut self.reasoning } else { &mut self.text };
        let mut sent = held.left.len();
        let mut text = std::mem::take(&mut held.left) + &std::mem::take(&mut held.held) + piece;
        let mut out = String::new();
        while let Some(secret) = self.secrets.first(&text, sent) {
            out.push_str(text.get(sent..secret.start).unwrap_or_default());
            out.push_str(WITHHELD);
            text = text.split_off(secret.end);
            sent = 0;
        }
        let length = self.secrets.beginning(&text).min(text.len() - sent);
        held.held = text.split_off(text.len() - length);
        out.push_str(&text[sent..]);
        let kept = text.len().saturating_sub(self.secrets.longest());
        held.left = text.split_off(text.ceil_char_boundary(kept));
        match out.is_empty() {
            // The server works.
            true => self.ready.push_back(Ok(StreamEvent::Alive)),
            false => self.give(is_reasoning, out),
        }
    }

    fn give(&mut self, is_reasoning: bool, text: String) {
        let event = if is_reasoning { StreamEvent::Reasoning(text) } else { StreamEvent::Token(text) };
        self.ready.push_back(Ok(event));
    }
}

/// The fields of a part with a signature, or with data that its server encrypted.
const SIGNATURES: [&str; 6] =
    ["signature", "signatures", "thought_signature", "thoughtSignature", "encrypted_content", "data"];

fn is_signed(fields: &Map<String, Value>) -> bool {
    let is_given = |value: &Value| !matches!(value, Value::Null) && value.as_str() != Some("");
    SIGNATURES.iter().any(|field| fields.get(*field).is_some_and(is_given))
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
    fn secret_around_other_events_is_withheld() {
        let mut sieve = sieve();
        sieve.put(Ok(StreamEvent::token("a sk-7")));
        sieve.put(Ok(StreamEvent::Reasoning("then".to_owned())));
        sieve.put(Ok(StreamEvent::Extra(Extra::from_iter([("own", json!(1))]))));
        assert_eq!(texts(&mut sieve, &["c1d0a!"]), "a [key]!");
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

    fn own_data(pieces: &[Value]) -> Result<Extra, SourceError> {
        let mut sieve = sieve();
        for piece in pieces {
            sieve.put(Ok(StreamEvent::Extra(Extra::from_iter([("own", piece.clone())]))));
        }
        sieve.put(Ok(StreamEvent::Complete));
        let mut all = Extra::default();
        while let Some(event) = sieve.take() {
            if let StreamEvent::Extra(extra) = event? {
                all.add(extra);
            }
        }
        Ok(all)
    }

    #[test]
    fn secret_in_joined_own_data_is_withheld() {
        let own = own_data(&[json!("a sk-7"), json!("c1d0a")]).unwrap();
        assert_eq!(own.fields()["own"], "a [key]");
        let own = own_data(&[json!([{ "thinking": "a sk-7c1d0a" }])]).unwrap();
        assert_eq!(own.fields()["own"], json!([{ "thinking": "a [key]" }]));
    }

    #[test]
    fn secret_in_signed_data_fails_the_answer() {
        for field in SIGNATURES {
            let error = own_data(&[json!([{ "thinking": "a sk-7c1d0a", field: "EqoB" }])]).unwrap_err();
            assert!(error.message().contains("in signed data"), "{error}");
        }
        let other = json!([{ "thinking": "a", "signature": "EqoB" }, { "text": "a sk-7c1d0a" }]);
        assert_eq!(own_data(&[other]).unwrap().fields()["own"][1]["text"], "a [key]");
    }

    #[test]
    fn secret_in_failures_and_reasons_is_withheld() {
        let mut sieve = sieve();
        sieve.put(Ok(StreamEvent::Progress(json!({ "usage": { "of": "sk-7c1d0a" } }))));
        sieve.put(Ok(StreamEvent::Finish(FinishReason::Other("sk-7c1d0a".to_owned()))));
        sieve.put(Err(SourceError::new(ErrorKind::Fatal, r"wrong key sk\u002d7c1d0a")));
        let mut events = Vec::new();
        while let Some(event) = sieve.take() {
            events.push(format!("{event:?}"));
        }
        assert_eq!(events.len(), 3);
        assert!(
            events.iter().all(|event| event.contains("[key]") && !event.contains("7c1d0a")),
            "{events:?}"
        );
    }
}
