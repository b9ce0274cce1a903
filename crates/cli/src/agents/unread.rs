//! Texts that are no agent files. A value of such a text may be a key, and is not shown.

use runstate::diagram::Span;
use runstate_scenario::Refused;

use crate::failure::Failure;
use crate::input::Text;
use crate::meant::suggesting;
use crate::scenario::{field_before, refuse};

/// The remedy for a key.
const KEYS: &str = "a key in the file would be stored with each run: write key_env: VARIABLE or key_file: PATH for a model, and headers_env for the headers of a model, of http and of mcp";

/// The fields of an agent file that no key belongs below.
const PLAIN: [&str; 7] = ["about", "approve", "limits", "name", "prices", "stop", "system"];

/// The failure of a text. Below other fields than these, its excerpt has the name of the field alone.
pub(super) fn failure(source: &Text, refused: &Refused, start: &str) -> Failure {
    let message = refused.message();
    let top = refused.span().and_then(|span| top_field(&source.text, span));
    if top.is_some_and(|field| PLAIN.contains(&field)) {
        return refuse(source, refused, start);
    }
    let Some(span) = refused.span() else {
        return Failure::new(format!("{}: {}", source.name, without_value(message, "")));
    };
    let name = name_at(&source.text, span).filter(|name| is_quoted(message, name));
    let (field, shown) = match name {
        Some(name) => (Some(name), message.to_owned()),
        None => {
            let field = field_before(&source.text[..span.start]);
            let value = source.text[span.start..].lines().next().unwrap_or_default();
            let shown = without_value(message, value);
            (field, field.map_or(shown.clone(), |field| format!("{field}: {shown}")))
        }
    };
    let (text, at) = hidden(&source.text, span, field, name.is_some());
    let failure = Failure::at(shown, &source.name, &text, at);
    if field.is_some_and(may_be_key) {
        return failure.with_help(KEYS);
    }
    match message.starts_with("expected a mapping of fields") {
        true => failure.with_help(start),
        false => suggesting(failure, message),
    }
}

/// The field of the whole text that a place is below: the last one at the beginning of a line.
fn top_field(text: &str, span: Span) -> Option<&str> {
    let end = text[span.start..].find('\n').map_or(text.len(), |length| span.start + length);
    let line = text[..end].lines().rev().find(|line| line.starts_with(char::is_alphanumeric))?;
    line.split_once(':').map(|(field, _)| field)
}

/// The name of a field at a place.
fn name_at(text: &str, span: Span) -> Option<&str> {
    let rest = text.get(span.start..)?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty() && rest[end..].trim_start().starts_with(':'))
}

fn is_quoted(message: &str, name: &str) -> bool {
    [format!("`{name}`"), format!("{name:?}")].iter().any(|quoted| message.contains(quoted))
}

/// Whether a field of this name may have a key.
fn may_be_key(field: &str) -> bool {
    let field = field.to_ascii_lowercase();
    ["key", "token", "secret", "auth", "password", "credential", "header"]
        .iter()
        .any(|word| field.contains(word))
}

/// A message without the words of a value. Some messages of the parser repeat it.
fn without_value(message: &str, value: &str) -> String {
    let mut shown = message.to_owned();
    let words = value.split(|c: char| c.is_whitespace() || "[]{},:\"'".contains(c));
    for word in words.filter(|word| word.len() >= 4) {
        shown = shown.replace(word, "…");
    }
    shown
}

/// The text with the line of a place alone, and on it the field alone; and the place.
fn hidden(text: &str, span: Span, field: Option<&str>, is_name: bool) -> (String, Span) {
    let name = field.unwrap_or_default();
    let place = match is_name {
        true => span.start,
        false => text[..span.start].trim_end().trim_end_matches(':').len() - name.len(),
    };
    let place = if field.is_some() { place } else { span.start };
    let begin = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let mut shown = "\n".repeat(text[..begin].matches('\n').count());
    let is_plain = |c: char| c.is_whitespace() || matches!(c, '-' | '{' | '[' | ',');
    shown.extend(text[begin..place].chars().map(|c| if is_plain(c) { c } else { '*' }));
    let start = shown.len();
    shown.push_str(name);
    if is_name {
        let at = Span::new(start, shown.len());
        shown.push_str(": …");
        return (shown, at);
    }
    // A colon and blanks.
    shown.push_str(&text[place + name.len()..span.start]);
    let start = shown.len();
    shown.push('…');
    let at = Span::new(start, shown.len());
    (shown, at)
}

#[cfg(test)]
mod tests {
    use super::super::file::AgentFile;
    use super::*;

    fn told(text: &str) -> String {
        let source = Text { name: "a.yaml".to_owned(), text: text.to_owned() };
        let Err(refused) = runstate_scenario::from_yaml::<AgentFile>(text) else { panic!("{text} is read") };
        failure(&source, &refused, "start").to_string()
    }

    #[test]
    fn key_in_a_field_of_another_name_is_not_shown() {
        let block =
            |field: &str| format!("name: a\nmodel:\n  base_url: https://a.example\n  name: m\n  {field}\n");
        let flow =
            |field: &str| format!("name: a\nmodel: {{base_url: \"https://a.example\", name: m, {field}}}\n");
        let fields = [
            "api_key: sk-12345678",
            "apiKey: \"sk-12345678\"",
            "token: sk-12345678",
            "key_env: [sk-12345678]",
            "key_env: {sk-12345678: 1}",
            "key_file: [sk-12345678]",
            "headers_env: sk-12345678",
            "headers: {x-key: sk-12345678}",
            "parameters: sk-12345678",
            "Authorization: 'Bearer sk-12345678",
        ];
        for field in fields {
            let name = field.split(':').next().unwrap();
            for text in [block(field), flow(field)] {
                let told = told(&text);
                assert!(!told.contains("sk-1"), "{text}\n{told}");
                if name != "Authorization" {
                    assert!(told.contains("a.yaml") && told.contains(name), "{text}\n{told}");
                }
                if name != "parameters" && name != "Authorization" {
                    assert!(told.contains("key_env: VARIABLE"), "{text}\n{told}");
                }
            }
        }
        for (text, field) in [
            (
                "name: a\nmodel: {base_url: x, name: m}\ntools:\n  http: {hosts: [a], headers: sk-12345678}\n",
                "headers",
            ),
            (
                "name: a\nmodel: {base_url: x, name: m}\ntools:\n  mcp:\n    - name: b\n      bearer: sk-12345678\n",
                "bearer",
            ),
            (
                "name: a\nmodel: {base_url: x, name: m, headers_env: {x-gateway: [sk-12345678]}}\n",
                "x-gateway",
            ),
            ("name: a\nmodel: {base_url: x, name: m}\nfallbacks:\n  - secret: sk-12345678\n", "secret"),
        ] {
            let told = told(text);
            assert!(told.contains(field) && !told.contains("sk-1"), "{told}");
        }
    }
}
