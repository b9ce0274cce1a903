//! Writes a value as models do: with mistakes that change nothing of what is meant.

use serde_json::Value;

pub fn write(value: &Value, seed: u64) -> String {
    let mut writer = Writer { seed, text: String::new() };
    let (before, after) = *writer.one_of(&[
        ("", ""),
        ("Sure:\n```json\n", "\n```\nAnything else?"),
        ("```\n", "\n```"),
        ("Here it is: ", " - done."),
        ("\u{FEFF}", "\n\n"),
        ("```JSON\n", ""),
    ]);
    writer.text.push_str(before);
    writer.value(value);
    writer.text.push_str(after);
    writer.text
}

struct Writer {
    seed: u64,
    text: String,
}

impl Writer {
    fn next(&mut self) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.seed >> 40).unwrap()
    }

    fn one_of<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.next() % from.len()]
    }

    fn word(&mut self, from: &[&str]) {
        let word = self.one_of(from).to_owned();
        self.text.push_str(word);
    }

    fn blank(&mut self) {
        let blank = *self.one_of(&["", " ", "\n", " /* so */ ", " // so\n", "\t", "", ""]);
        self.text.push_str(blank);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.word(&["null", "None", "Null"]),
            Value::Bool(true) => self.word(&["true", "True", "TRUE"]),
            Value::Bool(false) => self.word(&["false", "False"]),
            Value::Number(number) => {
                let positive = !number.to_string().starts_with('-');
                if positive && self.next().is_multiple_of(4) {
                    self.text.push('+');
                }
                self.text += &number.to_string();
            }
            Value::String(string) => self.string(string),
            Value::Array(items) => {
                self.text.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.comma(at, matches!(item, Value::Object(_)));
                    self.value(item);
                }
                self.end("]", items.is_empty());
            }
            Value::Object(members) => {
                self.text.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    self.comma(at, true);
                    self.key(key);
                    self.blank();
                    self.text.push(':');
                    self.blank();
                    self.value(value);
                }
                self.end("}", members.is_empty());
            }
        }
    }

    /// A comma, which may be missing at the end of a line before a quote.
    fn comma(&mut self, at: usize, quote_follows: bool) {
        if at == 0 {
            return self.blank();
        }
        let after_bracket = self.text.ends_with(['}', ']', '"']);
        if quote_follows && after_bracket && self.next().is_multiple_of(6) {
            self.text += "\n  ";
        } else {
            self.blank();
            self.text.push(',');
            self.blank();
        }
    }

    fn end(&mut self, bracket: &str, empty: bool) {
        if !empty && self.next().is_multiple_of(4) {
            self.text.push(',');
        }
        self.blank();
        self.text.push_str(bracket);
    }

    fn key(&mut self, key: &str) {
        let plain = key.starts_with(|c: char| c.is_ascii_lowercase())
            && key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if plain && self.next().is_multiple_of(3) {
            self.text += key;
        } else {
            self.string(key);
        }
    }

    fn string(&mut self, string: &str) {
        let json = serde_json::to_string(string).unwrap();
        let inner = &json[1..json.len() - 1];
        match self.next() % 5 {
            0 => {
                let escaped = inner.replace("\\\"", "\"").replace('\'', "\\'");
                self.text += &format!("'{escaped}'");
            }
            1 => self.text += &format!("\u{201C}{inner}\u{201D}"),
            2 => self.text += &json.replace("\\n", "\n"),
            _ => self.text += &json,
        }
    }
}
