//! Numbers, literals, and words without quotes.

use super::quoted::push_escaped;
use super::{Reader, Refusal, Repair};

impl Reader<'_> {
    /// Reads a key without quotes, and returns it as JSON; none if the text is cut within it.
    pub(super) fn bare_key(&mut self) -> Result<Option<String>, Refusal> {
        let rest = self.source.rest();
        let length = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-')));
        let key = &rest[..length.unwrap_or(rest.len())];
        if key.is_empty() || key.starts_with('-') {
            return self.refuse("there is no key where one must stand");
        }
        if LITERALS.iter().any(|(literal, _)| key.eq_ignore_ascii_case(literal)) {
            return self.refuse("a literal stands for a key");
        }
        self.source.take(key.len());
        self.repairs.insert(Repair::UnquotedKey);
        Ok(length.map(|_| string(key)))
    }

    /// Reads a value without quotes, and returns it as JSON.
    pub(super) fn bare_value(&mut self) -> Result<String, Refusal> {
        let rest = self.source.rest();
        let ends =
            |c: char| c.is_whitespace() || matches!(c, ',' | '，' | ';' | '}' | ']' | ')' | '{' | '[' | '"');
        let length = rest.find(ends).unwrap_or(rest.len());
        let word = rest[..length].split("/*").next().unwrap_or_default();
        let cut_off = word.len() == rest.len() && !self.open.is_empty();
        let value = self.literal(word, cut_off).or_else(|| if cut_off { None } else { self.number(word) });
        let value = match value {
            Some(value) => value,
            None if cut_off => return self.refuse("the end of a value is missing"),
            None if is_text(word) && !rest[word.len()..].starts_with([';', ')', '{', '[', '"']) => {
                self.repairs.insert(Repair::UnquotedText);
                string(word)
            }
            None => return self.refuse("a value without quotes may be a text or a name"),
        };
        self.source.take(word.len());
        Ok(value)
    }

    fn literal(&mut self, word: &str, cut_off: bool) -> Option<String> {
        if let "true" | "false" | "null" = word {
            return Some(word.to_owned());
        }
        let like = |(literal, _): &&(&str, &str)| word.eq_ignore_ascii_case(literal);
        // A lone `N` may be `None` or `NaN`, and is refused.
        let begun = |(literal, _): &&(&str, &str)| cut_off && !word.is_empty() && literal.starts_with(word);
        let (_, json) = LITERALS.iter().find(like).or_else(|| LITERALS.iter().find(begun))?;
        self.repairs.insert(Repair::Literal);
        Some((*json).to_owned())
    }

    fn number(&mut self, word: &str) -> Option<String> {
        let unsigned = word.strip_prefix('+').unwrap_or(word);
        let (minus, digits) = match unsigned.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", unsigned),
        };
        if !digits.contains(|c: char| c.is_ascii_digit()) || word.starts_with("+-") {
            return None;
        }
        let zero = if digits.starts_with('.') { "0" } else { "" };
        let number = format!("{minus}{zero}{}", digits.strip_suffix('.').unwrap_or(digits));
        let sound = serde_json::from_str::<serde_json::Number>(&number).is_ok()
            && number.parse::<f64>().is_ok_and(f64::is_finite);
        if sound && number != word {
            self.repairs.insert(Repair::Number);
        }
        sound.then_some(number)
    }
}

/// Literals of JSON and of other languages, with their equivalents in JSON.
const LITERALS: [(&str, &str); 5] =
    [("true", "true"), ("false", "false"), ("null", "null"), ("none", "null"), ("nil", "null")];

/// Returns whether the word is a date, a time, a version or a web address: not a number, a calculation or a
/// name.
fn is_text(word: &str) -> bool {
    let digits = |text: &str, least: usize| text.len() >= least && text.bytes().all(|c| c.is_ascii_digit());
    let (day, time) = word.split_once('T').unwrap_or((word, ""));
    let parts: Vec<_> = day.split('-').collect();
    let is_date = matches!(parts[..], [year, month, day] if [digits(year, 4), digits(month, 2), digits(day, 2)] == [true; 3])
        && time.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | '+' | '-' | 'Z'));
    let is_time = word.split(':').count() == 3 && word.split(':').all(|part| digits(part, 2));
    // `1.234.567` may be a number.
    let is_version = word.split('.').count() > 2
        && word.split('.').all(|part| digits(part, 1))
        && !word.split('.').skip(1).all(|part| part.len() == 3);
    is_date || is_time || is_version || word.starts_with("http://") || word.starts_with("https://")
}

/// Writes a text as a string of JSON.
fn string(text: &str) -> String {
    let mut string = String::from('"');
    text.chars().for_each(|c| push_escaped(&mut string, c));
    string.push('"');
    string
}
