//! Numbers, literals, and words without quotes.

use super::quoted::push_escaped;
use super::{Reader, Repair};

impl<'t> Reader<'t> {
    /// Reads a key without quotes, and gives it as JSON. At least one character is read.
    pub(super) fn bare_key(&mut self) -> String {
        string(self.take_words(|c| ends_words(c) || matches!(c, ':' | '=')))
    }

    /// Reads a value without quotes, and gives it as JSON. At least one character is read.
    pub(super) fn bare_value(&mut self) -> String {
        let rest = self.source.rest();
        let word = self.words(|c| ends_words(c) || c.is_whitespace());
        let cut_off = word == rest.len();
        if let Some(known) = self.known(&rest[..word], cut_off) {
            self.source.take(word);
            return known;
        }
        let text = self.take_words(ends_words);
        if text.chars().all(|c| matches!(c, '.' | '…')) {
            self.repairs.insert(Repair::Fragment);
            return "null".to_owned();
        }
        self.repairs.insert(Repair::UnquotedText);
        string(text)
    }

    /// Reads to such a character, or to a comment before it, and at least one character. What is not taken is not looked at, so that
    /// nothing is looked at twice.
    fn take_words(&mut self, ends: impl Fn(char) -> bool) -> &'t str {
        let words = self.words(ends);
        self.source.take(words).trim()
    }

    /// How many bytes there are to such a character.
    fn words(&self, ends: impl Fn(char) -> bool) -> usize {
        let rest = self.source.rest();
        let comments = |at: usize| [" //", "/*", " #"].iter().any(|mark| rest[at..].starts_with(mark));
        let end = rest.char_indices().skip(1).find(|(at, c)| ends(*c) || comments(*at));
        end.map_or(rest.len(), |(at, _)| at)
    }

    /// A literal or a number.
    fn known(&mut self, word: &str, cut_off: bool) -> Option<String> {
        const SAME: [&str; 3] = ["true", "false", "null"];
        const LIKE: [(&str, &str); 8] = [
            ("true", "true"),
            ("false", "false"),
            ("null", "null"),
            ("none", "null"),
            ("nil", "null"),
            ("undefined", "null"),
            ("nan", "null"),
            ("infinity", "null"),
        ];
        if SAME.contains(&word) {
            return Some(word.to_owned());
        }
        let lower = word.trim_start_matches(['-', '+']).to_ascii_lowercase();
        let means = |(literal, _): &&(&str, &str)| {
            lower == **literal || (cut_off && !lower.is_empty() && literal.starts_with(&lower))
        };
        if let Some((_, json)) = LIKE.iter().find(means) {
            self.repairs.insert(Repair::Literal);
            return Some((*json).to_owned());
        }
        self.number(word, cut_off)
    }

    fn number(&mut self, word: &str, cut_off: bool) -> Option<String> {
        if serde_json::from_str::<serde_json::Number>(word).is_ok() {
            return Some(word.to_owned());
        }
        let (minus, digits) = match word.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", word.strip_prefix('+').unwrap_or(word)),
        };
        let digits = match cut_off {
            true => digits.trim_end_matches(['-', '+']).trim_end_matches(['e', 'E']),
            false => digits,
        };
        let digits = digits.strip_suffix('.').unwrap_or(digits);
        if cut_off && digits.is_empty() {
            self.repairs.insert(Repair::Number);
            return Some("null".to_owned());
        }
        let zero = if digits.starts_with('.') { "0" } else { "" };
        let number = format!("{minus}{zero}{digits}");
        let sound = serde_json::from_str::<serde_json::Number>(&number).is_ok();
        // A number that no float holds.
        let out_of_range =
            || number.parse::<f64>().is_ok_and(f64::is_infinite) && number.contains(['e', 'E']);
        let json = if sound {
            number
        } else if out_of_range() {
            "null".to_owned()
        } else {
            return None;
        };
        self.repairs.insert(Repair::Number);
        Some(json)
    }
}

fn ends_words(c: char) -> bool {
    matches!(c, ',' | '}' | ']' | '{' | '[' | '\n')
}

/// A text as a string of JSON.
fn string(text: &str) -> String {
    let mut string = String::from('"');
    text.chars().for_each(|c| push_escaped(&mut string, c));
    string.push('"');
    string
}
