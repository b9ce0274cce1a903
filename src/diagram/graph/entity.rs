//! Mermaid's entities: `#35;` for a character by its number, `#quot;` and a few more by name.

use std::fmt::Write;

use crate::diagram::chars::{entity, is_space};

const NAMED: [(&str, char); 6] =
    [("quot", '"'), ("amp", '&'), ("lt", '<'), ("gt", '>'), ("apos", '\''), ("nbsp", '\u{a0}')];

/// Replaces the entities of a text by their characters. An unknown entity stays.
pub(crate) fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(found) = text[from..].find('#') {
        let at = from + found;
        out.push_str(&text[from..at]);
        let known = entity(text, at).and_then(|end| Some((character(&text[at + 1..end - 1])?, end)));
        match known {
            Some((c, end)) => {
                out.push(c);
                from = end;
            }
            None => {
                out.push('#');
                from = at + 1;
            }
        }
    }
    out.push_str(&text[from..]);
    out
}

fn character(name: &str) -> Option<char> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return name.parse().ok().and_then(char::from_u32);
    }
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, c)| *c)
}

/// Encodes a label or a description, so that Mermaid reads this text.
pub(crate) fn encode_text(text: &str) -> String {
    let last = text.chars().count().saturating_sub(1);
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        let edge = at == 0 || at == last;
        let plain = match c {
            ' ' => !edge,
            '-' | '_' | '.' | ',' | '(' | ')' | '[' | ']' | '/' | '+' | '*' | '=' | '!' | '?' | '@' | '|' => {
                true
            }
            '\'' | '$' | '^' | '~' | '\\' | '&' => true,
            c => c.is_alphanumeric(),
        };
        push(&mut out, c, plain);
    }
    without_direction(out)
}

/// Encodes an id, so that Mermaid reads this name.
pub(super) fn encode_id(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let reserved = [
        "class",
        "classdef",
        "style",
        "state",
        "note",
        "scale",
        "statediagram",
        "as",
        "acctitle",
        "accdescr",
    ];
    let bounded = ["click", "href", "default"].iter().any(|word| {
        let rest = lower.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    });
    let own = ["root", "root_start", "root_end"].contains(&name);
    let hidden = reserved.contains(&lower.as_str()) || bounded || own;
    let mut out = String::new();
    for (at, c) in name.chars().enumerate() {
        let plain = matches!(
            c,
            '_' | '.' | '(' | ')' | '/' | '+' | '*' | '=' | '!' | '?' | '@' | '|' | '\'' | '$' | '^'
        ) || c.is_alphanumeric();
        push(&mut out, c, plain && !(at == 0 && hidden));
    }
    without_direction(out)
}

fn push(out: &mut String, c: char, plain: bool) {
    if plain && (c == ' ' || !is_space(c)) {
        out.push(c);
    } else {
        // A write to a string does not fail.
        write!(out, "#{};", u32::from(c)).unwrap_or_default();
    }
}

/// Encodes a part of `direction` before white space and two letters, because Mermaid reads it as a statement at any
/// position.
fn without_direction(text: String) -> String {
    const WORD: &str = "direction";
    let lower = text.to_ascii_lowercase();
    if !lower.contains(WORD) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut from = 0;
    for (at, _) in lower.match_indices(WORD) {
        out.push_str(&text[from..at]);
        out.push_str(if text[at..].starts_with('d') { "#100;" } else { "#68;" });
        from = at + 1;
    }
    out.push_str(&text[from..]);
    out
}
