//! Reads a schema as a graph.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use referencing::{Draft, Error, Registry, Resolved, Resolver, Uri, uri};
use serde_json::{Map, Value};

use super::{Edge, Excess, Matching, Measured, Node, Part, Reference, size};

/// Keywords with schemas for the value itself.
const SAME: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// Keywords with schemas by names.
const BY_NAME: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
/// Keywords with schemas that `unevaluatedProperties` and `unevaluatedItems` apply once more.
const AGAIN: [&str; 7] =
    ["allOf", "anyOf", "oneOf", "if", "contains", "unevaluatedProperties", "unevaluatedItems"];
/// The key of all targets of a `$recursiveRef`, among dynamic names.
const RECURSIVE: &str = "$recursiveAnchor";

/// Reads a schema as a graph.
pub(super) struct Reader<'s> {
    nodes: Vec<Node>,
    patterns: usize,
    /// Subschemas with unread keywords.
    open: Vec<(usize, &'s Value, Resolver<'s>, Draft)>,
    /// Nodes by their subschema and the base of its references.
    known: HashMap<(*const Value, usize), usize>,
    bases: HashMap<Arc<Uri<String>>, usize>,
    names: HashMap<Arc<Uri<String>>, usize>,
    /// The values of the schema. A reference to another target is refused.
    own: HashSet<*const Value>,
    /// Subschemas by the name that makes them dynamic, and a node for all subschemas of the name.
    dynamic: HashMap<&'s str, Vec<&'s Value>>,
    choices: HashMap<&'s str, usize>,
    root: Resolver<'s>,
}

impl Reader<'_> {
    pub(super) fn read(schema: &Value) -> Result<Measured, Excess> {
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
            // An empty one is skipped.
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
                // The outermost resource with the name is the target, and no resource lies outside of the schema's own.
                let outermost = self.root.lookup(&format!("#{name}")).ok();
                if let Some(outermost) = outermost.filter(|found| found.contents()["$dynamicAnchor"] == *name)
                {
                    return Ok(self.resolved(outermost, text));
                }
                name
            }
            _ => return Ok(self.resolved(found, text)),
        };
        // Any subschema with the name may be the target.
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
