//! Limits of schemas, and of the work of checking a value.
//!
//! A schema of one kilobyte can ask for more work than a machine has: a chain of `$defs`, each an `anyOf` of two references to the
//! next, doubles it with each link. So a value is walked here first, as the check would walk it, and each step is counted. The walk
//! ends at a limit, and the check is not begun then. It takes no more steps than are counted, since nothing is evaluated.
//!
//! A schema becomes a graph once, when it is compiled: its subschemas, and for each the subschemas that it applies. A reference is an
//! edge of it, which the resolver of the validator found. The limits of the schema and the steps of a check are both read off it.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use referencing::{Draft, Error, Registry, Resolved, Resolver, Uri, uri};
use serde_json::{Map, Value};

use crate::MOST_BACKTRACKS;

/// The longest schema, as JSON text, in bytes.
pub const MOST_BYTES: usize = 64 << 10;
/// The most levels of a schema, and of references that follow one another.
pub const MOST_DEPTH: usize = 96;
/// The most levels of a check: a level of a value takes one for its subschema, and one for each reference and choice on the way.
pub const MOST_CHECK_DEPTH: usize = 5 * MOST_DEPTH;
/// The most steps of a check: subschemas that are applied to values, and the characters and items that a keyword looks at.
pub const MOST_STEPS: usize = 200_000;
/// The most subschemas that are compiled: one is compiled anew for each way over resources (`$id`) that leads to it, and for each
/// `unevaluatedProperties` and `unevaluatedItems` that it is below.
pub const MOST_COMPILED: usize = 20_000;

/// More than a schema may ask for.
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
    /// The same, where no value is checked: only the schema is too deep.
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
                    "it has {got} bytes, and at most {MOST_BYTES} are taken: leave out what is not checked"
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
                "checking takes more than {MOST_STEPS} steps, at {at}: each `anyOf`, `allOf` and `oneOf` multiplies what it refers \
                 to, and a pattern with look-around takes the square of a text; refer once, or give less to check"
            ),
            Excess::Compiled(at) => write!(
                f,
                "it has more than {MOST_COMPILED} subschemas to compile, at {at}: each way over an `$id` leads to more of them, and so \
                 does each `unevaluatedProperties` and `unevaluatedItems`; use fewer"
            ),
            Excess::Reference(at) => write!(
                f,
                "it refers to {at:?}, which is not in the schema: put what is referred to into its `$defs`"
            ),
        }
    }
}

/// A schema that is small enough, as a graph. The first node is the schema.
#[derive(Debug)]
pub(crate) struct Measured {
    nodes: Vec<Node>,
    /// Patterns of the schema, for texts and for names.
    pub(crate) patterns: usize,
    pub(crate) matching: Matching,
}

/// The work of matching a text. One pattern decides for all of a schema.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Matching {
    /// A step for each byte.
    Small,
    /// A pattern is large when it is compiled: [`LARGE`] steps for each byte.
    Large,
    /// A pattern goes back, and may read the text anew each time.
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
    /// Steps for an object: the names that its keywords look for.
    names: usize,
    /// Keywords that read a text, and patterns for it: one for each 64 bytes of a pattern.
    reads: usize,
    patterns: usize,
    /// Are characters of a text counted, and the items of a list compared?
    measures: bool,
    compares: bool,
    /// Has it `unevaluatedProperties` or `unevaluatedItems`? They apply subschemas for the same value once more.
    marks: bool,
    edges: Vec<Edge>,
}

/// A subschema that another one applies.
#[derive(Debug)]
struct Edge {
    part: Part,
    to: usize,
    /// Is it applied once more where `unevaluatedProperties` or `unevaluatedItems` is about the same value?
    again: bool,
}

/// The values that a subschema is applied to.
#[derive(Debug)]
enum Part {
    Same,
    /// The same, by a reference.
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
    /// What it names. Two names of one subschema are compiled twice.
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
    /// More of them than a check may take.
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

/// Keywords with schemas for the same value.
const SAME: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// Keywords with schemas by names.
const BY_NAME: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
/// Keywords whose schemas `unevaluatedProperties` and `unevaluatedItems` apply once more.
const AGAIN: [&str; 7] =
    ["allOf", "anyOf", "oneOf", "if", "contains", "unevaluatedProperties", "unevaluatedItems"];
/// The key of all that a `$recursiveRef` may lead to, among dynamic names.
const RECURSIVE: &str = "$recursiveAnchor";

/// Reads a schema as a graph.
struct Reader<'s> {
    nodes: Vec<Node>,
    patterns: usize,
    /// Subschemas whose keywords are still to be read.
    open: Vec<(usize, &'s Value, Resolver<'s>, Draft)>,
    /// Nodes by their subschema and the base of its references.
    known: HashMap<(*const Value, usize), usize>,
    bases: HashMap<Arc<Uri<String>>, usize>,
    names: HashMap<Arc<Uri<String>>, usize>,
    /// The values of the schema. A reference that leads elsewhere is refused.
    own: HashSet<*const Value>,
    /// Subschemas by the name that makes them dynamic, and a node for all that have the name.
    dynamic: HashMap<&'s str, Vec<&'s Value>>,
    choices: HashMap<&'s str, usize>,
    root: Resolver<'s>,
}

impl Reader<'_> {
    fn read(schema: &Value) -> Result<Measured, Excess> {
        let refused = |error: Error| match error {
            Error::Unretrievable { uri, .. } => Excess::Reference(uri),
            other => Excess::Reference(other.to_string()),
        };
        let draft = Draft::default().detect(schema);
        let resource = draft.create_resource_ref(schema);
        let base = uri::from_str(resource.id().unwrap_or("json-schema:///")).map_err(refused)?;
        let registry = Registry::new().draft(draft).add(base.as_str(), resource).map_err(refused)?;
        let registry = registry.prepare().map_err(refused)?;
        let root = registry.resolver(base);
        let mut reader = Reader {
            nodes: Vec::new(),
            patterns: 0,
            open: Vec::new(),
            known: HashMap::new(),
            bases: HashMap::new(),
            names: HashMap::new(),
            own: HashSet::new(),
            dynamic: HashMap::new(),
            choices: HashMap::new(),
            root: root.clone(),
        };
        reader.list(schema);
        reader.node(schema, root, draft, None);
        while let Some((node, schema, resolver, draft)) = reader.open.pop() {
            if let Value::Object(keywords) = schema {
                for keyword in keywords.keys() {
                    reader.keyword(node, keywords, keyword, &resolver, draft)?;
                }
            }
        }
        Ok(Measured { nodes: reader.nodes, patterns: reader.patterns, matching: Matching::Small })
    }
}

impl<'s> Reader<'s> {
    /// Lists the values of the schema, and the names that make some of them dynamic.
    fn list(&mut self, schema: &'s Value) {
        let mut open = vec![schema];
        while let Some(next) = open.pop() {
            self.own.insert(next);
            match next {
                Value::Array(items) => open.extend(items),
                Value::Object(fields) => {
                    if let Some(name) = next["$dynamicAnchor"].as_str() {
                        self.dynamic.entry(name).or_default().push(next);
                    }
                    if next["$recursiveAnchor"] == true {
                        self.dynamic.entry(RECURSIVE).or_default().push(next);
                    }
                    open.extend(fields.values());
                }
                _ => {}
            }
        }
    }

    /// The node of a subschema.
    fn node(&mut self, schema: &'s Value, resolver: Resolver<'s>, draft: Draft, name: Option<&str>) -> usize {
        let next = self.nodes.len();
        let bases = self.bases.len();
        let base = *self.bases.entry(resolver.base_uri()).or_insert(bases);
        let node = *self.known.entry((schema, base)).or_insert(next);
        if node == next {
            let steps = 1 + schema.as_object().map_or(0, Map::len);
            self.nodes.push(Node { base, name: name.map(str::to_owned), steps, ..Node::default() });
            self.open.push((node, schema, resolver, draft));
        }
        node
    }

    fn keyword(
        &mut self,
        from: usize,
        keywords: &'s Map<String, Value>,
        keyword: &'s str,
        resolver: &Resolver<'s>,
        draft: Draft,
    ) -> Result<(), Excess> {
        let with = &keywords[keyword];
        let node = &mut self.nodes[from];
        match keyword {
            "enum" | "const" => node.steps += size(with),
            "required" | "dependentRequired" | "dependencies" => node.names += size(with),
            "properties" => node.names += with.as_object().map_or(0, Map::len),
            "minLength" | "maxLength" => node.measures = true,
            "uniqueItems" => node.compares = true,
            "format" => node.reads += 1,
            // Other drafts assert nothing by them.
            "contentMediaType" | "contentEncoding" if matches!(draft, Draft::Draft6 | Draft::Draft7) => {
                node.reads += 1;
            }
            "pattern" => {
                node.patterns += weight(with.as_str().unwrap_or_default());
                self.patterns += 1;
            }
            "unevaluatedProperties" | "unevaluatedItems" => node.marks = true,
            // One that is empty is passed over.
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                if let Some(text) = with.as_str().filter(|text| !text.is_empty()) {
                    let reference = self.reference(text, resolver)?;
                    let to = self.target(from, keyword, text, resolver)?;
                    self.nodes[from].edges.push(Edge { part: Part::Refers(reference), to, again: false });
                }
            }
            _ => {}
        }
        for (index, (name, schema)) in schemas(keyword, with).into_iter().enumerate() {
            let part = match keyword {
                _ if SAME.contains(&keyword) => Part::Same,
                "properties" => Part::Field(name.to_owned()),
                "patternProperties" => {
                    self.patterns += 1;
                    Part::Fields(weight(name))
                }
                "additionalProperties" | "unevaluatedProperties" => {
                    let named = keywords.get("properties").and_then(Value::as_object);
                    Part::Others(named.into_iter().flat_map(Map::keys).cloned().collect())
                }
                "propertyNames" => Part::Names,
                "prefixItems" => Part::Item(index),
                "items" if with.is_array() => Part::Item(index),
                "items" | "additionalItems" | "unevaluatedItems" | "contains" => Part::Items,
                _ => return Ok(()),
            };
            let draft = draft.detect(schema);
            let inner = resolver.in_subresource(draft.create_resource_ref(schema));
            let inner = inner.map_err(|error| Excess::Reference(error.to_string()))?;
            let to = self.node(schema, inner, draft, None);
            self.nodes[from].edges.push(Edge { part, to, again: AGAIN.contains(&keyword) });
        }
        Ok(())
    }

    fn reference(&mut self, text: &str, resolver: &Resolver<'s>) -> Result<Reference, Excess> {
        let base = resolver.base_uri();
        let resolve =
            |text| resolver.resolve_uri(&base.borrow(), text).map_err(|_| Excess::Reference(text.to_owned()));
        let next = self.names.len();
        let names = *self.names.entry(resolve(text)?).or_insert(next);
        let resource = text.rsplit_once('#').map_or(text, |(resource, _)| resource);
        Ok(Reference { names, leaves: !resource.is_empty() && resolve(resource)? != base })
    }

    /// The node that a reference leads to.
    fn target(
        &mut self,
        from: usize,
        keyword: &str,
        text: &str,
        resolver: &Resolver<'s>,
    ) -> Result<usize, Excess> {
        let is_own = |found: &Resolved<'_>| self.own.contains(&std::ptr::from_ref(found.contents()));
        let Some(found) = resolver.lookup(text).ok().filter(is_own) else {
            return Err(Excess::Reference(text.to_owned()));
        };
        let target = found.contents();
        let fragment = text.rsplit_once('#').map(|(_, fragment)| fragment);
        let name = match target["$dynamicAnchor"].as_str() {
            _ if keyword == "$recursiveRef" && target["$recursiveAnchor"] == true => RECURSIVE,
            Some(name) if fragment == Some(name) => {
                // The outermost resource that has the name is meant, and none is outside of the schema's own.
                let outermost = self.root.lookup(&format!("#{name}")).ok();
                if let Some(outermost) = outermost.filter(|found| found.contents()["$dynamicAnchor"] == *name)
                {
                    return Ok(self.resolved(outermost, text));
                }
                name
            }
            _ => return Ok(self.resolved(found, text)),
        };
        // Any of those that have it may be meant.
        if let Some(choice) = self.choices.get(name) {
            return Ok(*choice);
        }
        let choice = self.nodes.len();
        let base = self.nodes[from].base;
        self.nodes.push(Node { base, name: Some(text.to_owned()), steps: 1, ..Node::default() });
        self.choices.insert(name, choice);
        let (_, resolver, draft) = found.into_inner();
        for one in self.dynamic.get(name).cloned().unwrap_or_default() {
            let inner = resolver.in_subresource(draft.create_resource_ref(one));
            let inner = inner.map_err(|error| Excess::Reference(error.to_string()))?;
            let to = self.node(one, inner, draft, None);
            let reference = Reference { names: usize::MAX - to, leaves: false };
            self.nodes[choice].edges.push(Edge { part: Part::Refers(reference), to, again: false });
        }
        Ok(choice)
    }

    fn resolved(&mut self, found: Resolved<'s>, text: &str) -> usize {
        let (schema, resolver, draft) = found.into_inner();
        self.node(schema, resolver, draft, Some(text))
    }
}

/// Counts steps over a graph.
struct Walk<'m> {
    measured: &'m Measured,
    steps: usize,
    /// The last reference that was followed.
    at: &'m str,
}

impl<'m> Walk<'m> {
    fn over(measured: &'m Measured) -> Self {
        Walk { measured, steps: 0, at: "#" }
    }

    fn count(&mut self, steps: usize) -> Result<(), Excess> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MOST_STEPS { Err(Excess::Steps(self.at.to_owned())) } else { Ok(()) }
    }

    fn enter(&mut self, node: usize, depth: usize) -> Result<&'m Node, Excess> {
        let node = &self.measured.nodes[node];
        self.at = node.name.as_deref().unwrap_or(self.at);
        if depth > MOST_CHECK_DEPTH { Err(Excess::CheckDepth(self.at.to_owned())) } else { Ok(node) }
    }

    /// Walks the check of a value.
    fn apply(&mut self, node: usize, value: &Value, depth: usize) -> Result<(), Excess> {
        let entered = self.enter(node, depth)?;
        self.count(entered.steps)?;
        match value {
            Value::String(text) => {
                self.count(self.measured.matching(entered.patterns, text))?;
                self.count(entered.reads.saturating_mul(text.len()))?;
                self.count(if entered.measures { text.len() / 64 } else { 0 })?;
            }
            Value::Object(_) => self.count(entered.names)?,
            Value::Array(items) if entered.compares => self.count(comparing(items))?,
            _ => {}
        }
        for edge in &entered.edges {
            self.follow(edge, value, depth + 1)?;
        }
        if entered.marks { self.mark(node, value, depth + 1) } else { Ok(()) }
    }

    /// Walks the second round for `unevaluatedProperties` and `unevaluatedItems`.
    fn mark(&mut self, node: usize, value: &Value, depth: usize) -> Result<(), Excess> {
        let entered = self.enter(node, depth)?;
        self.count(1 + entered.edges.len())?;
        for edge in &entered.edges {
            if edge.again {
                self.follow(edge, value, depth + 1)?;
            }
            match (&edge.part, value) {
                (Part::Same | Part::Refers(_), _) => self.mark(edge.to, value, depth + 1)?,
                (Part::Fields(patterns), Value::Object(fields)) => {
                    fields.keys().try_for_each(|name| self.count(self.measured.matching(*patterns, name)))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Walks the checks of the values that an edge is about.
    fn follow(&mut self, edge: &'m Edge, value: &Value, depth: usize) -> Result<(), Excess> {
        let to = edge.to;
        match (&edge.part, value) {
            (Part::Same | Part::Refers(_), _) => self.apply(to, value, depth),
            (Part::Field(name), Value::Object(fields)) => {
                fields.get(name).map_or(Ok(()), |value| self.apply(to, value, depth))
            }
            (Part::Fields(patterns), Value::Object(fields)) => fields.iter().try_for_each(|(name, value)| {
                self.count(self.measured.matching(*patterns, name))?;
                self.apply(to, value, depth)
            }),
            (Part::Others(named), Value::Object(fields)) => fields
                .iter()
                .filter(|(name, _)| !named.contains(*name))
                .try_for_each(|(_, value)| self.apply(to, value, depth)),
            (Part::Names, Value::Object(fields)) => {
                fields.keys().try_for_each(|name| self.apply(to, &Value::String(name.clone()), depth))
            }
            (Part::Item(index), Value::Array(items)) => {
                items.get(*index).map_or(Ok(()), |value| self.apply(to, value, depth))
            }
            (Part::Items, Value::Array(items)) => {
                items.iter().try_for_each(|value| self.apply(to, value, depth))
            }
            _ => Ok(()),
        }
    }

    /// Holds the longest chain of subschemas, over references too, against the limit: they are compiled one in another.
    fn chain(&mut self, node: usize, depth: usize, seen: &mut HashMap<usize, usize>) -> Result<(), Excess> {
        let entered = self.enter(node, depth)?;
        if depth > MOST_DEPTH {
            return Err(Excess::Depth(self.at.to_owned()));
        }
        // One that is seen again less deep, or on its own way, leads no deeper than before.
        if seen.get(&node).is_some_and(|seen| *seen >= depth) {
            return Ok(());
        }
        seen.insert(node, usize::MAX);
        for edge in &entered.edges {
            self.chain(edge.to, depth + 1, seen)?;
        }
        seen.insert(node, depth);
        Ok(())
    }
}

/// Counts the subschemas that are compiled.
struct Compiling<'m> {
    nodes: &'m [Node],
    count: usize,
    /// Subschemas and names that are being compiled.
    marked: Vec<usize>,
    named: Vec<usize>,
    /// Each scope is a resource that was left, after an outer scope. The outermost is 0.
    scopes: HashMap<(usize, usize), usize>,
    /// Names that were compiled, by the scope.
    seen: HashSet<(usize, usize)>,
}

impl<'m> Compiling<'m> {
    fn of(measured: &'m Measured) -> Self {
        Compiling {
            nodes: &measured.nodes,
            count: 0,
            marked: Vec::new(),
            named: Vec::new(),
            scopes: HashMap::new(),
            seen: HashSet::new(),
        }
    }

    /// Walks what is compiled for a subschema. One that is marked is compiled for `unevaluatedProperties` or `unevaluatedItems`
    /// too, with all subschemas for the same value.
    fn compile(&mut self, node: usize, is_marked: bool, scope: usize, depth: usize) -> Result<(), Excess> {
        let entered = &self.nodes[node];
        let at = || entered.name.clone().unwrap_or_else(|| "#".to_owned());
        self.count += 1;
        if self.count > MOST_COMPILED {
            return Err(Excess::Compiled(at()));
        }
        if depth > MOST_CHECK_DEPTH {
            return Err(Excess::Depth(at()));
        }
        if is_marked {
            self.marked.push(node);
        }
        for edge in &entered.edges {
            match edge.part {
                Part::Refers(reference) => {
                    self.refer(entered, reference, edge.to, is_marked, scope, depth + 1)?
                }
                _ => {
                    if is_marked && matches!(edge.part, Part::Same) {
                        self.compile(edge.to, true, scope, depth + 1)?;
                    }
                    self.compile(edge.to, self.nodes[edge.to].marks, scope, depth + 1)?;
                }
            }
        }
        if is_marked {
            self.marked.pop();
        }
        Ok(())
    }

    fn refer(
        &mut self,
        from: &Node,
        reference: Reference,
        to: usize,
        is_marked: bool,
        outer: usize,
        depth: usize,
    ) -> Result<(), Excess> {
        let next = self.scopes.len() + 1;
        let is_left = reference.leaves || outer == 0;
        let scope = if is_left { *self.scopes.entry((outer, from.base)).or_insert(next) } else { outer };
        if is_marked && !self.marked.contains(&to) {
            self.compile(to, true, scope, depth)?;
        }
        if self.named.contains(&reference.names) || !self.seen.insert((reference.names, scope)) {
            return Ok(());
        }
        self.named.push(reference.names);
        self.compile(to, self.nodes[to].marks, scope, depth)?;
        self.named.pop();
        Ok(())
    }
}

/// A pattern counts once for each 64 of its bytes.
fn weight(pattern: &str) -> usize {
    1 + pattern.len() / 64
}

/// The schemas in the value of a keyword: one, a list of them, or some by names.
fn schemas<'s>(keyword: &str, with: &'s Value) -> Vec<(&'s str, &'s Value)> {
    let all: Vec<(&str, &Value)> = match with {
        Value::Array(list) => list.iter().map(|one| ("", one)).collect(),
        Value::Object(fields) if BY_NAME.contains(&keyword) => {
            fields.iter().map(|(name, one)| (name.as_str(), one)).collect()
        }
        one => vec![("", one)],
    };
    all.into_iter().filter(|(_, one)| one.is_object() || one.is_boolean()).collect()
}

/// Steps of comparing items. They are compared by their hashes, which are the same for lists in lists that differ by brackets alone:
/// each of those is compared with each.
fn comparing(items: &[Value]) -> usize {
    let alike = items.iter().filter(|item| has_lists_in_lists(item)).count();
    items.iter().map(size).fold(1 + alike * alike, usize::saturating_add)
}

fn has_lists_in_lists(value: &Value) -> bool {
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        match next {
            Value::Array(items) if items.iter().any(Value::is_array) => return true,
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    false
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What no reference leads to is no part of the graph, so that names cost nothing in a check.
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
