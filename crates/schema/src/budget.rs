//! Limits of schemas, and of the work of checking a value.
//!
//! A schema of one kilobyte can ask for more work than a machine has: a chain of `$defs`, each an `anyOf` of two references to the
//! next, doubles it with each link. So a value is walked here first, as the check would walk it, and each step is counted. The walk
//! ends at a limit, and the check is not begun then. It takes no more steps than are counted, since nothing is evaluated.

use std::collections::HashMap;
use std::fmt;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// The longest schema, as JSON text, in bytes.
pub const MOST_BYTES: usize = 64 << 10;
/// The most levels of a schema, of references that follow one another, and of a check.
pub const MOST_DEPTH: usize = 96;
/// The most steps of a check: subschemas that are applied to values, and the characters and items that a pattern, an `enum` or `uniqueItems` looks at.
pub const MOST_STEPS: usize = 200_000;

/// More than a schema may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Excess {
    Bytes(usize),
    Depth(String),
    Steps(String),
    Elsewhere(String),
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Bytes(got) => {
                write!(
                    f,
                    "it has {got} bytes, and at most {MOST_BYTES} are taken: leave out what is not checked"
                )
            }
            Excess::Depth(at) => write!(
                f,
                "it has more than {MOST_DEPTH} levels at {at}, with its references: flatten it, and let no reference lead to itself"
            ),
            Excess::Steps(at) => write!(
                f,
                "checking takes more than {MOST_STEPS} steps, at {at}: each `anyOf`, `allOf` and `oneOf` multiplies what it refers \
                 to; refer once, or give less to check"
            ),
            Excess::Elsewhere(at) => write!(
                f,
                "it refers to {at:?}, which is not in the schema: put what is referred to into its `$defs`"
            ),
        }
    }
}

/// A schema that is small enough.
#[derive(Debug)]
pub(crate) struct Measured {
    schema: Value,
}

impl Measured {
    /// The schema, within the limits.
    ///
    /// # Errors
    /// The first limit that it exceeds.
    pub(crate) fn of(schema: &Value, bytes: usize) -> Result<Self, Excess> {
        if bytes > MOST_BYTES {
            return Err(Excess::Bytes(bytes));
        }
        levels(schema, 0)?;
        let measured = Measured { schema: schema.clone() };
        // Subschemas that are applied to the value itself.
        measured.walk(&Value::Null)?;
        Walk::over(&measured.schema).chain(&measured.schema, 0)?;
        Ok(measured)
    }

    /// Counts the steps of checking a value.
    ///
    /// # Errors
    /// More of them than a check may take.
    pub(crate) fn walk(&self, value: &Value) -> Result<(), Excess> {
        let mut walk = Walk::over(&self.schema);
        walk.apply(&self.schema, value, 0)
    }
}

fn levels(value: &Value, depth: usize) -> Result<(), Excess> {
    if depth > MOST_DEPTH {
        return Err(Excess::Depth("its own text".to_owned()));
    }
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| levels(item, depth + 1)),
        Value::Object(fields) => fields.values().try_for_each(|field| levels(field, depth + 1)),
        _ => Ok(()),
    }
}

/// Keywords with schemas for the same value.
const IN_PLACE: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// Keywords with schemas for parts of the value.
const INSIDE: [&str; 10] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
];
/// Keywords with schemas by names.
const BY_NAME: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

struct Walk<'s> {
    root: &'s Value,
    /// Each object that has a name, with it.
    named: Vec<(&'s str, &'s Value)>,
    steps: usize,
    /// The last reference that was followed.
    at: &'s str,
    /// How deep each subschema was seen, for chains.
    seen: HashMap<*const Value, usize>,
}

impl<'s> Walk<'s> {
    fn over(root: &'s Value) -> Self {
        let mut named = Vec::new();
        let mut open = vec![root];
        while let Some(next) = open.pop() {
            match next {
                Value::Array(items) => open.extend(items),
                Value::Object(fields) => {
                    for name in ["$id", "id", "$anchor", "$dynamicAnchor"] {
                        named.extend(fields.get(name).and_then(Value::as_str).map(|name| (name, next)));
                    }
                    open.extend(fields.values());
                }
                _ => {}
            }
        }
        Walk { root, named, steps: 0, at: "#", seen: HashMap::new() }
    }

    fn count(&mut self, steps: usize) -> Result<(), Excess> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MOST_STEPS { Err(Excess::Steps(self.at.to_owned())) } else { Ok(()) }
    }

    /// Walks the check of a value.
    fn apply(&mut self, schema: &'s Value, value: &Value, depth: usize) -> Result<(), Excess> {
        self.count(1)?;
        if depth > MOST_DEPTH {
            return Err(Excess::Depth(self.at.to_owned()));
        }
        let Value::Object(keywords) = schema else { return Ok(()) };
        // These look at all that applies to the value once more.
        let is_twice =
            keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems");
        for (keyword, with) in keywords {
            self.count(1)?;
            let keyword = keyword.as_str();
            for _ in 0..1 + usize::from(is_twice) {
                if REFERENCES.contains(&keyword) {
                    for target in self.targets(with)? {
                        self.apply(target, value, depth + 1)?;
                    }
                } else if IN_PLACE.contains(&keyword) {
                    for one in schemas(keyword, with) {
                        self.apply(one, value, depth + 1)?;
                    }
                }
            }
            match (keyword, value) {
                ("enum" | "const", _) => self.count(size(with))?,
                ("uniqueItems", Value::Array(_)) => self.count(size(value))?,
                ("pattern" | "format", Value::String(text)) => self.count(text.len())?,
                (_, Value::Object(fields)) => self.fields(keyword, with, keywords, fields, depth)?,
                (_, Value::Array(items)) => self.items(keyword, with, items, depth)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn fields(
        &mut self,
        keyword: &str,
        with: &'s Value,
        keywords: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), Excess> {
        let named = keywords.get("properties").and_then(Value::as_object);
        match (keyword, with) {
            ("properties", Value::Object(properties)) => {
                for (name, schema) in properties {
                    self.count(1)?;
                    if let Some(value) = fields.get(name) {
                        self.apply(schema, value, depth + 1)?;
                    }
                }
            }
            ("patternProperties", Value::Object(patterns)) => {
                for schema in patterns.values() {
                    for (name, value) in fields {
                        self.count(name.len())?;
                        self.apply(schema, value, depth + 1)?;
                    }
                }
            }
            ("additionalProperties" | "unevaluatedProperties", schema) => {
                let others = |name: &String| named.is_none_or(|named| !named.contains_key(name));
                for (_, value) in fields.iter().filter(|(name, _)| others(name)) {
                    self.apply(schema, value, depth + 1)?;
                }
            }
            ("propertyNames", schema) => {
                for name in fields.keys() {
                    self.count(name.len())?;
                    self.apply(schema, &Value::Null, depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn items(&mut self, keyword: &str, with: &'s Value, items: &[Value], depth: usize) -> Result<(), Excess> {
        match (keyword, with) {
            ("prefixItems" | "items", Value::Array(schemas)) => {
                for (schema, item) in schemas.iter().zip(items) {
                    self.apply(schema, item, depth + 1)?;
                }
            }
            ("items" | "additionalItems" | "unevaluatedItems" | "contains", schema) => {
                for item in items {
                    self.apply(schema, item, depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Holds the longest chain of subschemas, over references too, against the limit: they are compiled one in another.
    fn chain(&mut self, schema: &'s Value, depth: usize) -> Result<(), Excess> {
        if depth > MOST_DEPTH {
            return Err(Excess::Depth(self.at.to_owned()));
        }
        let Value::Object(keywords) = schema else { return Ok(()) };
        // One that is seen again less deep, or on its own way, leads no deeper than before.
        match self.seen.get(&std::ptr::from_ref(schema)) {
            Some(seen) if *seen >= depth || *seen == usize::MAX => return Ok(()),
            _ => {}
        }
        self.seen.insert(schema, usize::MAX);
        for (keyword, with) in keywords {
            let keyword = keyword.as_str();
            if REFERENCES.contains(&keyword) {
                for target in self.targets(with)? {
                    self.chain(target, depth + 1)?;
                }
            } else if IN_PLACE.contains(&keyword) || INSIDE.contains(&keyword) {
                for one in schemas(keyword, with) {
                    self.chain(one, depth + 1)?;
                }
            }
        }
        self.seen.insert(schema, depth);
        Ok(())
    }

    /// The subschemas that a reference may lead to: by a name, all that have it.
    fn targets(&mut self, reference: &'s Value) -> Result<Vec<&'s Value>, Excess> {
        let Some(text) = reference.as_str().filter(|text| !text.is_empty()) else { return Ok(Vec::new()) };
        self.at = text;
        let (place, fragment) = text.split_once('#').unwrap_or((text, ""));
        let roots: Vec<&'s Value> = match place {
            "" => {
                let ids = self.named.iter().map(|(_, object)| *object);
                std::iter::once(self.root).chain(ids).collect()
            }
            place => {
                self.named.iter().filter(|(id, _)| is_same(id, place)).map(|(_, object)| *object).collect()
            }
        };
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let found: Vec<&'s Value> = if fragment.is_empty() {
            if place.is_empty() { vec![self.root] } else { roots }
        } else if fragment.starts_with('/') {
            roots.iter().filter_map(|root| root.pointer(&fragment)).collect()
        } else {
            self.named.iter().filter(|(name, _)| *name == fragment).map(|(_, object)| *object).collect()
        };
        if found.is_empty() { Err(Excess::Elsewhere(text.to_owned())) } else { Ok(found) }
    }
}

/// Do an `$id` and the place of a reference name the same? Their last names decide, as one of them may be relative.
fn is_same(id: &str, place: &str) -> bool {
    let last = |text: &'_ str| text.trim_end_matches('#').rsplit(['/', ':']).next().map(str::to_owned);
    last(id) == last(place)
}

/// The schemas in the value of a keyword: one, a list of them, or some by names.
fn schemas<'s>(keyword: &str, with: &'s Value) -> Vec<&'s Value> {
    match with {
        Value::Array(list) => list.iter().collect(),
        Value::Object(fields) if BY_NAME.contains(&keyword) => fields.values().collect(),
        one => vec![one],
    }
}

/// Values in a value.
fn size(value: &Value) -> usize {
    let (mut count, mut open) = (0, vec![value]);
    while let Some(next) = open.pop() {
        count += 1;
        match next {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            Value::String(text) => count += text.len() / 64,
            _ => {}
        }
    }
    count
}
