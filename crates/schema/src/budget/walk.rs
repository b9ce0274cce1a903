//! Counts the steps of a check, over the graph of its schema.

use std::collections::HashMap;

use serde_json::Value;

use super::{Edge, Excess, MOST_CHECK_DEPTH, MOST_DEPTH, MOST_STEPS, Measured, Node, Part, size};

/// Counts steps over a graph.
pub(super) struct Walk<'m> {
    measured: &'m Measured,
    steps: usize,
    /// The last followed reference.
    at: &'m str,
}

impl<'m> Walk<'m> {
    pub(super) fn over(measured: &'m Measured) -> Self {
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

    /// Counts the check of a value.
    pub(super) fn apply(&mut self, node: usize, value: &Value, depth: usize) -> Result<(), Excess> {
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

    /// Counts the second round for `unevaluatedProperties` and `unevaluatedItems`.
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

    /// Counts the checks of the values of an edge.
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

    /// Checks the longest chain of subschemas, over references too, against the limit: they are compiled recursively.
    pub(super) fn chain(
        &mut self,
        node: usize,
        depth: usize,
        seen: &mut HashMap<usize, usize>,
    ) -> Result<(), Excess> {
        let entered = self.enter(node, depth)?;
        if depth > MOST_DEPTH {
            return Err(Excess::Depth(self.at.to_owned()));
        }
        // A node that is seen again at a lower depth, or on its own path, leads no deeper than before.
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

/// Steps of comparing items. They are compared by their hashes, which are equal for nested lists that differ by brackets
/// alone: each of those is compared with each.
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
