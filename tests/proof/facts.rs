//! What an event carries, read from its `Debug` text: the one form in which every payload shows all its fields, and one
//! that no model shares with the code that it is held against.

use serde_json::{Map, Value};

/// The name of a struct, a variant or a unit stands under this key.
const NAME: &str = "#";

/// The payload of an event, without the variant that it is wrapped in.
pub(super) fn of(event: &impl std::fmt::Debug) -> Value {
    let text = format!("{event:?}");
    let mut reader = Reader { text: &text, at: 0 };
    let fact = reader.value();
    assert_eq!(reader.at, text.len(), "not all of it was read: {text}");
    fact["0"].clone()
}

/// The name of a struct, a variant or a unit.
pub(super) fn name(fact: &Value) -> &str {
    fact[NAME].as_str().unwrap_or_else(|| panic!("{fact} has no name"))
}

/// What is in a `Some`.
pub(super) fn optional(fact: &Value) -> Option<&Value> {
    match name(fact) {
        "None" => None,
        "Some" => Some(&fact["0"]),
        other => panic!("{other} is no option"),
    }
}

/// The JSON that plain derived serde makes of it: a map of a struct, what is inside of a newtype, the name of a unit.
pub(super) fn json(fact: &Value) -> Value {
    match fact {
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Object(fields) => match fields.get(NAME).and_then(Value::as_str) {
            Some("None") => Value::Null,
            Some("Some") => json(&fact["0"]),
            // A value of serde_json: what it wraps is the value.
            Some("Json") => fact["0"].clone(),
            Some(unit) if fields.len() == 1 => unit.into(),
            Some(_) if fields.len() == 2 && fields.contains_key("0") => json(&fact["0"]),
            _ => without_name(fields),
        },
        plain => plain.clone(),
    }
}

/// The JSON of an externally tagged enum with names in snake case.
pub(super) fn tagged(fact: &Value) -> Value {
    let tag = snake(name(fact));
    match fact.as_object().map_or(0, Map::len) {
        1 => tag.into(),
        _ => Value::Object([(tag, json(fact))].into_iter().collect()),
    }
}

/// The JSON of an internally tagged enum whose tag stands in the field `key`.
pub(super) fn tagged_in(key: &str, case: fn(&str) -> String, fact: &Value) -> Value {
    let mut fields = match without_name(fact.as_object().unwrap()) {
        Value::Object(fields) => fields,
        other => unreachable!("{other}"),
    };
    fields.insert(key.to_owned(), case(name(fact)).into());
    Value::Object(fields)
}

/// `PascalCase` as `snake_case`.
pub(super) fn snake(name: &str) -> String {
    let mut text = String::new();
    for (i, c) in name.char_indices() {
        if c.is_ascii_uppercase() && i > 0 {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// `PascalCase` as `SCREAMING_CASE`.
pub(super) fn screaming(name: &str) -> String {
    snake(name).to_ascii_uppercase()
}

fn without_name(fields: &Map<String, Value>) -> Value {
    fields.iter().filter(|(key, _)| *key != NAME).map(|(key, field)| (key.clone(), json(field))).collect()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text[self.at..].trim_start()
    }

    fn skip(&mut self, token: char) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at = self.text.len() - self.rest().len() + token.len_utf8();
        }
        found
    }

    fn word(&mut self, is_part: fn(char) -> bool) -> String {
        let rest = self.rest();
        let word = rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())].to_owned();
        assert!(!word.is_empty(), "a value was expected at: {rest}");
        self.at = self.text.len() - rest.len() + word.len();
        word
    }

    fn value(&mut self) -> Value {
        match self.rest().chars().next().unwrap() {
            '"' => self.string().into(),
            '[' => self.list('[', ']').into(),
            '{' => Value::Object(self.fields()),
            '0'..='9' | '-' => self
                .word(|c| c.is_ascii_digit() || "+-.eE".contains(c))
                .parse::<serde_json::Number>()
                .unwrap()
                .into(),
            _ => self.named(),
        }
    }

    fn named(&mut self) -> Value {
        let name = self.word(|c| c.is_alphanumeric() || c == '_');
        let wrapped = |value: Value| -> Value {
            [(NAME.to_owned(), "Json".into()), ("0".to_owned(), value)].into_iter().collect()
        };
        let next = self.rest().chars().next();
        match (name.as_str(), next) {
            ("true" | "false", _) => (name == "true").into(),
            // The values of serde_json show themselves by these names; nothing else in a payload has one of them.
            ("Null", _) => wrapped(Value::Null),
            ("Bool" | "Number" | "String", Some('(')) => wrapped(self.list('(', ')').remove(0)),
            ("Array", Some('[')) => wrapped(self.list('[', ']').iter().map(json).collect()),
            ("Object", Some('{')) => wrapped(without_name(&self.fields())),
            (_, Some('(')) => {
                let items = self.list('(', ')').into_iter().enumerate();
                let items = items.map(|(i, item)| (i.to_string(), item));
                items.chain([(NAME.to_owned(), name.into())]).collect()
            }
            (_, Some('{')) => {
                let mut fields = self.fields();
                fields.insert(NAME.to_owned(), name.into());
                Value::Object(fields)
            }
            _ => [(NAME.to_owned(), Value::from(name))].into_iter().collect(),
        }
    }

    fn list(&mut self, open: char, close: char) -> Vec<Value> {
        let mut items = Vec::new();
        assert!(self.skip(open));
        while !self.skip(close) {
            items.push(self.value());
            self.skip(',');
        }
        items
    }

    fn fields(&mut self) -> Map<String, Value> {
        let mut fields = Map::new();
        assert!(self.skip('{'));
        while !self.skip('}') {
            let key = if self.rest().starts_with('"') {
                self.string()
            } else {
                self.word(|c| c.is_alphanumeric() || c == '_')
            };
            assert!(self.skip(':'));
            let value = self.value();
            fields.insert(key, value);
            self.skip(',');
        }
        fields
    }

    fn string(&mut self) -> String {
        assert!(self.skip('"'));
        let mut text = String::new();
        let mut chars = self.text[self.at..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return text;
                }
                '\\' => match chars.next() {
                    Some((_, c @ ('"' | '\\' | '\''))) => text.push(c),
                    other => panic!("an escape that no payload has: {other:?}"),
                },
                c => text.push(c),
            }
        }
        panic!("a string has no end: {}", self.text)
    }
}

#[test]
fn the_debug_text_of_a_payload_is_read_whole() {
    use runstate::decision::{Decision, DecisionAction, Suspension};
    use runstate::tool_call::{Resume, Succeed, Suspend, ToolCallEvent};
    use serde_json::json;

    let suspension = Suspension {
        parameters: json!({ "a b": [1, null, "x\"y\\z"], "c": {} }),
        ..Suspension::new("s", "a", "m")
    };
    let suspend = of(&ToolCallEvent::from(Suspend::new(suspension.expiring_at(9))));
    assert_eq!(name(&suspend), "Suspend");
    assert_eq!(name(&suspend["suspension"]["resume_mode"]), "ReplayToolCall");
    assert_eq!(optional(&suspend["suspension"]["expires_at_ms"]), Some(&json!(9)));
    assert_eq!(json(&suspend["suspension"])["parameters"], json!({ "a b": [1, null, "x\"y\\z"], "c": {} }));

    let resume = of(&ToolCallEvent::from(Resume::new(Decision::new("d", "s", DecisionAction::Cancel))));
    assert_eq!(tagged(&resume["decision"]["action"]), "cancel");
    assert_eq!(optional(&resume["decision"]["reason"]), None);

    let succeed = of(&ToolCallEvent::from(Succeed::new(json!([true, -2, 0.5])).warned("slow")));
    assert_eq!(json(&succeed), json!({ "output": [true, -2, 0.5], "warning": "slow" }));
}
