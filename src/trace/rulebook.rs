//! The rules of several lifecycles.

use std::sync::Arc;

use super::event::Event;
use super::rules::Rules;
use crate::kernel::Graph;

/// The rules for a trace, by the name of the lifecycle.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Stateful;
/// use runstate::trace::{Rulebook, Verdict, check};
///
/// let book = Rulebook::of([<runstate::tool_call::AnyToolCall as Stateful>::GRAPH]);
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
    pub(super) restarts: Option<Restarts>,
    pub(super) ends: Option<Ends>,
}

/// A lifecycle with consecutive instances in a run, and the lifecycles of their parts.
#[derive(Debug, Clone)]
pub(super) struct Restarts {
    pub(super) of: Box<str>,
    parts: Vec<Box<str>>,
}

impl Restarts {
    pub(super) fn cuts_off(&self, lifecycle: &str) -> bool {
        *self.of == *lifecycle || self.parts.iter().any(|part| **part == *lifecycle)
    }
}

/// A lifecycle that ends its run, and the states in which that end leaves instances of other lifecycles.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    of: Box<str>,
    left: Vec<(Box<str>, Box<str>)>,
}

impl Ends {
    pub(super) fn leaves(&self, lifecycle: &str, state: &str) -> bool {
        self.left.iter().any(|(of, left)| **of == *lifecycle && **left == *state)
    }
}

impl Rulebook {
    /// Makes a book without rules: every event has an unknown lifecycle.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the rules of these graphs.
    pub fn of(graphs: impl IntoIterator<Item = &'static Graph>) -> Self {
        graphs.into_iter().fold(Self::new(), |book, graph| book.with(Rules::of_graph(graph)))
    }

    /// Makes one set of rules for the events of all lifecycles.
    pub fn for_all(rules: Rules) -> Self {
        Rulebook { for_all: true, ..Self::new().with(rules) }
    }

    /// Adds these rules. They replace earlier rules with that name.
    #[must_use]
    pub fn with(mut self, rules: Rules) -> Self {
        self.rules.retain(|earlier| earlier.name != rules.name);
        self.rules.push(Arc::new(rules));
        self
    }

    /// Limits the check to the events of one lifecycle and skips all others. Default: all lifecycles.
    #[must_use]
    pub fn only(mut self, lifecycle: &str) -> Self {
        self.only = Some(lifecycle.into());
        self
    }

    /// Includes each lifecycle with rules in the coverage of a report, even without events. Default: the lifecycles
    /// in the trace, and the requested one.
    #[must_use]
    pub fn cover_all(mut self) -> Self {
        self.covers_all = true;
        self
    }

    /// Declares that the instances of a lifecycle follow one another in a run, and names the lifecycles of their
    /// parts. A new instance shows that the previous one is over: it ended, or its process was killed. The previous
    /// instance and its parts are [cut off](super::Report::cut_off), if they have not ended and have no later event.
    /// They do not count as unfinished.
    ///
    /// An instance with a regular end may also leave such parts. When a call of a sequential round suspends, the
    /// executions of the later calls do not begin, and the next activation makes new ones. So the check cannot find a
    /// part that a driver loses by mistake, once another activation follows.
    ///
    /// ```
    /// # #[cfg(feature = "lifecycles")] {
    /// use runstate::trace::{Event, Rulebook, Verdict, check};
    ///
    /// let book = Rulebook::of(runstate::lifecycles().iter().copied()).restarting("run_flow", ["tool_execution"]);
    /// let begun = |seq: u64, lifecycle: &str, instance: &str, to: &str| {
    ///     let line = format!(
    ///         r#"{{"seq":{seq},"at_ms":0,"run":"r1","lifecycle":"{lifecycle}","instance":"{instance}","event":"create","from":null,"to":"{to}"}}"#
    ///     );
    ///     Event::from_json(&line).unwrap().into_owned()
    /// };
    /// let mut events = vec![begun(1, "run_flow", "activation_1", "RunStart"), begun(2, "tool_execution", "c.1", "BeforeToolExecute")];
    /// assert_eq!(check(&events, &book).unfinished_instances, 2);
    ///
    /// // A kill -9, and another process continues the run. Its own activation has not ended.
    /// events.push(begun(3, "run_flow", "activation_2", "RunStart"));
    /// let report = check(&events, &book);
    /// assert_eq!((report.verdict, report.cut_off, report.unfinished_instances), (Verdict::Incomplete, 2, 1));
    /// # }
    /// ```
    #[must_use]
    pub fn restarting<'n>(mut self, lifecycle: &str, parts: impl IntoIterator<Item = &'n str>) -> Self {
        let parts = parts.into_iter().map(Into::into).collect();
        self.restarts = Some(Restarts { of: lifecycle.into(), parts });
        self
    }

    /// Declares that a run is over where its instance of a lifecycle ends, and names the states in which that end may
    /// leave instances of other lifecycles, each as lifecycle and state. Such an instance is
    /// [cut off](super::Report::cut_off) and does not count as unfinished. An instance in any other state does, and
    /// so does an instance with an event after the end of the run.
    ///
    /// ```
    /// # #[cfg(feature = "lifecycles")] {
    /// use runstate::trace::{Event, Rulebook, Verdict, check};
    ///
    /// let book = Rulebook::of(runstate::lifecycles().iter().copied()).ending("run", [("tool_call", "New")]);
    /// let event = |seq: u64, lifecycle: &str, instance: &str, event: &str, from: &str, to: &str| {
    ///     let line = format!(
    ///         r#"{{"seq":{seq},"at_ms":0,"run":"r1","lifecycle":"{lifecycle}","instance":"{instance}","event":"{event}","from":{from},"to":"{to}"}}"#
    ///     );
    ///     Event::from_json(&line).unwrap().into_owned()
    /// };
    /// let mut events = vec![
    ///     event(1, "run", "r1", "create", "null", "Running"),
    ///     event(2, "tool_call", "c1", "create", "null", "New"),
    ///     event(3, "tool_call", "c2", "create", "null", "New"),
    ///     event(4, "tool_call", "c2", "start", "\"New\"", "Running"),
    ///     event(5, "run", "r1", "finish", "\"Running\"", "Done"),
    /// ];
    /// // The run was cancelled before its first call began: that call needs no end. A call that began needs one.
    /// let report = check(&events, &book);
    /// assert_eq!((report.verdict, report.cut_off, report.unfinished_instances), (Verdict::Incomplete, 1, 1));
    /// events.remove(3);
    /// events.remove(2);
    /// assert_eq!(check(&events, &book).verdict, Verdict::Conforms);
    /// # }
    /// ```
    #[must_use]
    pub fn ending<'n>(mut self, lifecycle: &str, left: impl IntoIterator<Item = (&'n str, &'n str)>) -> Self {
        let left = left.into_iter().map(|(of, state)| (of.into(), state.into())).collect();
        self.ends = Some(Ends { of: lifecycle.into(), left });
        self
    }

    /// Returns whether that event ends its run.
    pub(super) fn ends_run(&self, event: &Event<'_>) -> bool {
        let Some(ends) = self.ends.as_ref().filter(|ends| *ends.of == *event.lifecycle) else { return false };
        let rules = self.rules(&ends.of);
        rules.is_some_and(|rules| rules.find(&event.to).is_some_and(|state| rules.is_over(state)))
    }

    /// Finds the rules for the events of a lifecycle.
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
