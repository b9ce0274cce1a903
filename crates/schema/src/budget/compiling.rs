//! Counts the subschemas that are compiled, over the graph of a schema.

use std::collections::{HashMap, HashSet};

use super::{Excess, MOST_CHECK_DEPTH, MOST_COMPILED, Measured, Node, Part, Reference};

/// Counts the subschemas that are compiled.
pub(super) struct Compiling<'m> {
    nodes: &'m [Node],
    count: usize,
    /// Subschemas and names under compilation.
    marked: Vec<usize>,
    named: Vec<usize>,
    /// Each scope is a resource that was left, after an outer scope. The outermost is 0.
    scopes: HashMap<(usize, usize), usize>,
    /// Compiled names, by scope.
    seen: HashSet<(usize, usize)>,
}

impl<'m> Compiling<'m> {
    pub(super) fn of(measured: &'m Measured) -> Self {
        Compiling {
            nodes: &measured.nodes,
            count: 0,
            marked: Vec::new(),
            named: Vec::new(),
            scopes: HashMap::new(),
            seen: HashSet::new(),
        }
    }

    /// Traverses everything that is compiled for a subschema. A marked subschema is compiled for `unevaluatedProperties` or
    /// `unevaluatedItems` too, with all subschemas for its value.
    pub(super) fn compile(
        &mut self,
        node: usize,
        is_marked: bool,
        scope: usize,
        depth: usize,
    ) -> Result<(), Excess> {
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
