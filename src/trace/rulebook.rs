//! The rules of several lifecycles.

use std::sync::Arc;

use super::rules::Rules;
use crate::kernel::Graph;

/// The rules that a trace is held against, by the name of the lifecycle.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Persist;
/// use runstate::trace::{Rulebook, Verdict, check};
///
/// let book = Rulebook::of([<runstate::tool_call::AnyToolCall as Persist>::GRAPH]);
/// assert!(book.rules("tool_call").is_some());
/// assert!(book.rules("run").is_none(), "an event of `run` would be a violation");
/// assert_eq!(check(&[], &book).verdict, Verdict::Conforms);
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Rulebook {
    pub(super) rules: Vec<Arc<Rules>>,
    pub(super) for_all: bool,
    pub(super) only: Option<Box<str>>,
    pub(super) covers_all: bool,
}

impl Rulebook {
    /// Without rules: every event is of an unknown lifecycle.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rules of these graphs.
    pub fn of(graphs: impl IntoIterator<Item = &'static Graph>) -> Self {
        graphs.into_iter().fold(Self::new(), |book, graph| book.with(Rules::of_graph(graph)))
    }

    /// One lifecycle's rules for all events, whatever lifecycle they name.
    pub fn for_all(rules: Rules) -> Self {
        Rulebook { for_all: true, ..Self::new().with(rules) }
    }

    /// The same with these rules, which take the place of earlier ones of that name.
    #[must_use]
    pub fn with(mut self, rules: Rules) -> Self {
        self.rules.retain(|earlier| earlier.name != rules.name);
        self.rules.push(Arc::new(rules));
        self
    }

    /// The same for the events of one lifecycle; those of others are passed over.
    #[must_use]
    pub fn only(mut self, lifecycle: &str) -> Self {
        self.only = Some(lifecycle.into());
        self
    }

    /// The same where the coverage of a report has each lifecycle with rules, also one without an event. Otherwise it has those
    /// that occur, and the one that is asked for.
    #[must_use]
    pub fn cover_all(mut self) -> Self {
        self.covers_all = true;
        self
    }

    /// The rules that the events of a lifecycle are held against.
    pub fn rules(&self, lifecycle: &str) -> Option<&Rules> {
        self.place(lifecycle).map(|place| &*self.rules[place])
    }

    /// All rules.
    pub fn iter(&self) -> impl Iterator<Item = &Rules> {
        self.rules.iter().map(|rules| &**rules)
    }

    pub(super) fn place(&self, lifecycle: &str) -> Option<usize> {
        if self.for_all {
            return Some(0);
        }
        self.rules.iter().position(|rules| &*rules.name == lifecycle)
    }
}
