//! Limits of schemas, and of the work of checking a value.
//!
//! A schema of one kilobyte can require more work than a machine has: a chain of `$defs`, each an `anyOf` of two references
//! to the next, doubles the work with each link. So a value is first traversed as the check would traverse it, and each step
//! is counted. At a limit the traversal ends, and the check does not begin. The check takes no more steps than are counted,
//! since the count evaluates nothing.
//!
//! A schema becomes a graph once, when it is compiled: its subschemas, and for each the subschemas that it applies. A
//! reference is an edge, which the resolver of the validator found. The limits of the schema and the steps of a check are
//! both computed from the graph.

mod compiling;
mod graph;
mod walk;

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde_json::Value;

use compiling::Compiling;
use graph::Reader;
use walk::Walk;

use crate::MOST_BACKTRACKS;

/// The maximum length of a schema as JSON text, in bytes.
pub const MOST_BYTES: usize = 64 << 10;
/// The maximum of levels of a schema, and of consecutive references.
pub const MOST_DEPTH: usize = 96;
/// The maximum of levels of a check: a level of a value takes one for its subschema, and one for each reference and choice
/// on the way.
pub const MOST_CHECK_DEPTH: usize = 5 * MOST_DEPTH;
/// The maximum of steps of a check: subschemas applied to values, and the characters and items that a keyword reads.
pub const MOST_STEPS: usize = 200_000;
/// The maximum of compiled subschemas: a subschema is compiled again for each path over resources (`$id`) that leads to it,
/// and for each `unevaluatedProperties` and `unevaluatedItems` above it.
pub const MOST_COMPILED: usize = 20_000;

/// A limit that a schema or a check exceeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Excess {
    Bytes(usize),
    Depth(String),
    CheckDepth(String),
    Steps(String),
    Compiled(String),
    Reference(String),
}

impl Excess {
    /// The error without a value to check: the schema alone is too deep.
    fn of_schema(self) -> Self {
        match self {
            Excess::CheckDepth(at) => Excess::Depth(at),
            other => other,
        }
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Bytes(got) => {
                write!(
                    f,
                    "it has {got} bytes, and at most {MOST_BYTES} are taken: leave out the parts that are not checked"
                )
            }
            Excess::Depth(at) => write!(
                f,
                "it has more than {MOST_DEPTH} levels at {at}, with its references: flatten it, and let no reference lead to itself"
            ),
            Excess::CheckDepth(at) => write!(
                f,
                "the check has more than {MOST_CHECK_DEPTH} levels, at {at}: give a value with fewer levels"
            ),
            Excess::Steps(at) => write!(
                f,
                "checking takes more than {MOST_STEPS} steps, at {at}: each `anyOf`, `allOf` and `oneOf` multiplies the schemas it refers \
                 to, and a pattern with look-around takes the square of a text; refer once, or give less to check"
            ),
            Excess::Compiled(at) => write!(
                f,
                "it has more than {MOST_COMPILED} subschemas to compile, at {at}: each way over an `$id` leads to more of them, and so \
                 does each `unevaluatedProperties` and `unevaluatedItems`; use fewer"
            ),
            Excess::Reference(at) => write!(
                f,
                "it refers to {at:?}, which is not in the schema: put the referenced schema into its `$defs`"
            ),
        }
    }
}

/// A schema within the limits, as a graph. The first node is the schema.
#[derive(Debug)]
pub(crate) struct Measured {
    nodes: Vec<Node>,
    /// Patterns of the schema, for texts and for names.
    pub(crate) patterns: usize,
    pub(crate) matching: Matching,
}

/// The work of matching a text. The most expensive pattern decides for the whole schema.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Matching {
    /// A step for each byte.
    Small,
    /// A compiled pattern is large: [`LARGE`] steps for each byte.
    Large,
    /// A pattern backtracks, and may read the text again each time.
    Back,
}

/// Steps of a large pattern for a byte.
const LARGE: usize = 16;

/// A subschema.
#[derive(Debug, Default)]
struct Node {
    /// The base of its references.
    base: usize,
    /// The reference that led to it first.
    name: Option<String>,
    /// Steps for any value: one for it, one for each keyword, and the values of `enum` and `const`.
    steps: usize,
    /// Steps for an object: the names that its keywords search.
    names: usize,
    /// Keywords that read a text, and patterns for it: one for each 64 bytes of a pattern.
    reads: usize,
    patterns: usize,
    /// Are characters of a text counted, and the items of a list compared?
    measures: bool,
    compares: bool,
    /// Has it `unevaluatedProperties` or `unevaluatedItems`? They apply subschemas for the value once more.
    marks: bool,
    edges: Vec<Edge>,
}

/// A subschema that another one applies.
#[derive(Debug)]
struct Edge {
    part: Part,
    to: usize,
    /// Is it applied once more by `unevaluatedProperties` or `unevaluatedItems` of the value?
    again: bool,
}

/// The values that a subschema is applied to.
#[derive(Debug)]
enum Part {
    Same,
    /// The value itself, by a reference.
    Refers(Reference),
    Field(String),
    /// Fields by a pattern, which counts as in [`Node::patterns`].
    Fields(usize),
    /// Fields that `properties` does not name.
    Others(HashSet<String>),
    Names,
    Item(usize),
    Items,
}

#[derive(Debug, Clone, Copy)]
struct Reference {
    /// The number of its target's name. Two names of one subschema are compiled twice.
    names: usize,
    /// Does it leave the resource that it is in?
    leaves: bool,
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
        let measured = Reader::read(schema)?;
        Walk::over(&measured).chain(0, 0, &mut HashMap::new())?;
        // Subschemas that are applied to the value itself.
        measured.walk(&Value::Null).map_err(Excess::of_schema)?;
        Compiling::of(&measured).compile(0, measured.nodes[0].marks, 0, 0)?;
        Ok(measured)
    }

    /// Counts the steps of checking a value.
    ///
    /// # Errors
    /// The count exceeds the limit of a check.
    pub(crate) fn walk(&self, value: &Value) -> Result<(), Excess> {
        Walk::over(self).apply(0, value, 0)
    }

    /// Steps of matching a text against patterns.
    fn matching(&self, patterns: usize, text: &str) -> usize {
        let length = text.len();
        let each = match self.matching {
            Matching::Small => length,
            Matching::Large => length.saturating_mul(LARGE),
            Matching::Back => length.saturating_mul(length.min(MOST_BACKTRACKS)),
        };
        each.saturating_mul(patterns)
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

/// The number of values in a value. A text and a name count once more for each 64 bytes.
fn size(value: &Value) -> usize {
    let (mut count, mut open) = (0, vec![value]);
    while let Some(next) = open.pop() {
        count += 1;
        match next {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                count += fields.keys().map(|name| name.len() / 64).sum::<usize>();
                open.extend(fields.values());
            }
            Value::String(text) => count += text.len() / 64,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    /// A subschema without a reference is no part of the graph, so names cost nothing in a check.
    #[test]
    fn a_graph_has_what_references_lead_to() {
        let named = |name: usize| (format!("d{name}"), json!({ "$anchor": format!("n{name}") }));
        let defs: Map<String, Value> = (0..1_500).map(named).collect();
        let refers = json!({ "$ref": "#n7" });
        let schema = json!({ "$id": "https://example.com/s", "$defs": defs, "allOf": [refers, refers] });
        let measured = Measured::of(&schema, 0).unwrap();
        assert_eq!(measured.nodes.len(), 1 + 2 + 1);
        assert_eq!(measured.nodes.iter().map(|node| node.edges.len()).sum::<usize>(), 2 + 2);
    }
}
