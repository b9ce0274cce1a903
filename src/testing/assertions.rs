//! Assertions on traces and coverage.

use core::fmt;

use crate::kernel::Graph;
use crate::trace::{Coverage, Event, Report, Rulebook, Verdict, check};

/// A source of the rules for a check: a graph, several graphs, or a whole [`Rulebook`].
pub trait ToRulebook {
    /// The rules.
    fn rulebook(&self) -> Rulebook;
}

impl ToRulebook for Rulebook {
    fn rulebook(&self) -> Rulebook {
        self.clone()
    }
}

impl ToRulebook for &'static Graph {
    fn rulebook(&self) -> Rulebook {
        Rulebook::of([*self])
    }
}

impl<const N: usize> ToRulebook for [&'static Graph; N] {
    fn rulebook(&self) -> Rulebook {
        Rulebook::of(*self)
    }
}

impl<T: ToRulebook> ToRulebook for &T {
    fn rulebook(&self) -> Rulebook {
        (*self).rulebook()
    }
}

/// Checks that every event is legal. [`assert_conforms!`](crate::assert_conforms) calls it.
///
/// A trace with unfinished instances is legal. With `is_complete` every instance must have ended.
///
/// # Errors
/// [`NotConforming`], with the first violation, or with the unfinished instances.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::testing::conforms;
/// use runstate::testing::example::{AnyDoor, Frame};
/// use runstate::trace::Recorder;
///
/// let recorder = Recorder::new("r1");
/// let _door = AnyDoor::new(Frame::observed(recorder.observer("front")));
/// assert_eq!(conforms(&recorder.events(), AnyDoor::GRAPH, false)?.instances, 1);
///
/// let error = conforms(&recorder.events(), AnyDoor::GRAPH, true).unwrap_err();
/// assert!(error.to_string().contains("door front of run r1 is in Open since line 1"));
/// # Ok::<(), runstate::testing::NotConforming>(())
/// ```
pub fn conforms<'e>(
    events: impl IntoIterator<Item = &'e Event<'e>>,
    rules: impl ToRulebook,
    is_complete: bool,
) -> Result<Report, NotConforming> {
    let report = check(events, &rules.rulebook());
    match report.verdict {
        Verdict::Conforms => Ok(report),
        Verdict::Incomplete if !is_complete => Ok(report),
        Verdict::Incomplete | Verdict::Interrupted | Verdict::Violates => {
            Err(NotConforming(Box::new(report)))
        }
    }
}

/// The error for a trace that is illegal or incomplete.
#[derive(Clone, PartialEq, Eq)]
pub struct NotConforming(Box<Report>);

impl NotConforming {
    /// The full report of the check.
    pub fn report(&self) -> &Report {
        &self.0
    }
}

impl fmt::Display for NotConforming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.summary().trim_end())
    }
}

/// The `Display` text, because `unwrap` shows it in a failed test.
impl fmt::Debug for NotConforming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NotConforming {}

/// Checks that every transition of the graph was taken, except for the exceptions.
/// [`assert_covers!`](crate::assert_covers) calls it.
///
/// An exception is a transition in the notation of a diagram: `Locked --> Shut : unlock`. An exception that was
/// taken, or that is no transition of the graph, is an error too, because outdated exceptions must be removed.
///
/// # Errors
/// [`Uncovered`], with the transitions and exceptions at fault.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::testing::example::AnyDoor;
/// use runstate::testing::{EdgeCounter, covers};
///
/// let nothing = EdgeCounter::of([AnyDoor::GRAPH]).coverage();
/// let error = covers(&nothing, AnyDoor::GRAPH, &["Open --> Gone : remove", "Gone --> Open : undo"]).unwrap_err();
/// assert_eq!(error.never.len(), 4);
/// assert_eq!(error.unknown_exceptions, ["Gone --> Open : undo"]);
/// ```
pub fn covers(coverage: &Coverage, graph: &Graph, except: &[&str]) -> Result<(), Uncovered> {
    let covered = coverage.lifecycle(graph.name);
    let is_taken = |shown: &str| {
        covered.is_some_and(|c| c.edges.iter().any(|edge| edge.taken > 0 && edge.to_string() == shown))
    };
    let edges: Vec<String> = graph.edges.iter().map(|edge| edge.to_string()).collect();
    let never = edges.iter().filter(|edge| !is_taken(edge) && !except.contains(&edge.as_str()));
    let excepted = || except.iter().map(|edge| (*edge).to_owned());
    let uncovered = Uncovered {
        lifecycle: graph.name,
        edges: edges.len(),
        never: never.cloned().collect(),
        taken_exceptions: excepted().filter(|edge| is_taken(edge)).collect(),
        unknown_exceptions: excepted().filter(|edge| !edges.contains(edge)).collect(),
    };
    let is_covered = uncovered.never.is_empty()
        && uncovered.taken_exceptions.is_empty()
        && uncovered.unknown_exceptions.is_empty();
    if is_covered { Ok(()) } else { Err(uncovered) }
}

/// The transitions that were never taken, and the invalid exceptions.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uncovered {
    /// The lifecycle.
    pub lifecycle: &'static str,
    /// The number of its transitions.
    pub edges: usize,
    /// The transitions that were never taken and are no exceptions, in source order.
    pub never: Vec<String>,
    /// The exceptions that were taken.
    pub taken_exceptions: Vec<String>,
    /// The exceptions that are no transitions.
    pub unknown_exceptions: Vec<String>,
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} of {} edges were never taken", self.lifecycle, self.never.len(), self.edges)?;
        self.never.iter().try_for_each(|edge| write!(f, "\n  {edge}"))?;
        for edge in &self.taken_exceptions {
            write!(f, "\n  {edge} was taken: it is no exception any more")?;
        }
        for edge in &self.unknown_exceptions {
            write!(f, "\n  {edge} is an exception, and no edge of the graph")?;
        }
        Ok(())
    }
}

/// The `Display` text, because `unwrap` shows it in a failed test.
impl fmt::Debug for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Uncovered {}

/// Asserts that every event of a trace is legal, and names the first illegal event.
///
/// The events are a source of `&Event`, such as the [`events`](crate::trace::Recorder::events) of a recorder. The
/// rules are a graph, an array of graphs, or a [`Rulebook`](crate::trace::Rulebook), which may come from diagrams.
/// With `complete` every instance must also have ended in a terminal state.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::testing::assert_conforms;
/// use runstate::testing::example::{AnyDoor, Frame, Remove};
/// use runstate::trace::Recorder;
///
/// let recorder = Recorder::new("r1");
/// let door = AnyDoor::new(Frame::observed(recorder.observer("front")));
/// assert_conforms!(&recorder.events(), AnyDoor::GRAPH);
/// let _door = door.apply(Remove.into()).unwrap();
/// assert_conforms!(&recorder.events(), AnyDoor::GRAPH, complete);
/// ```
///
/// ```should_panic
/// # use runstate::kernel::Stateful;
/// # use runstate::testing::assert_conforms;
/// # use runstate::testing::example::{AnyDoor, Frame};
/// # use runstate::trace::Recorder;
/// let recorder = Recorder::new("r1");
/// let _door = AnyDoor::new(Frame::observed(recorder.observer("front")));
/// assert_conforms!(&recorder.events(), AnyDoor::GRAPH, complete); // the door is still there
/// ```
///
/// # Panics
/// When the trace violates the rules; with `complete`, also when an instance has not ended.
#[macro_export]
macro_rules! assert_conforms {
    ($events:expr, $rules:expr $(,)?) => {
        if let ::core::result::Result::Err(error) = $crate::testing::conforms($events, $rules, false) {
            ::core::panic!("{error}");
        }
    };
    ($events:expr, $rules:expr, complete $(,)?) => {
        if let ::core::result::Result::Err(error) = $crate::testing::conforms($events, $rules, true) {
            ::core::panic!("{error}");
        }
    };
}

/// Asserts that every transition of a graph was taken, and lists the transitions that never were.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::testing::example::{AnyDoor, Close, Doors, Frame};
/// use runstate::testing::{EdgeCounter, assert_covers};
///
/// let counter = EdgeCounter::of([AnyDoor::GRAPH]);
/// let door = AnyDoor::new(Frame::observed(counter.observer()));
/// let _door = door.apply(Close.into()).unwrap();
/// assert_covers!(
///     counter.coverage(),
///     AnyDoor::GRAPH,
///     except [
///         "Open --> Gone : remove", // for a reason that a reader understands
///         "Shut --> Open : reopen",
///         "Shut --> Locked : lock",
///         "Locked --> Shut : unlock",
///     ],
/// );
/// ```
///
/// ```should_panic
/// # use runstate::kernel::Stateful;
/// # use runstate::testing::example::AnyDoor;
/// # use runstate::testing::{EdgeCounter, assert_covers};
/// assert_covers!(EdgeCounter::of([AnyDoor::GRAPH]).coverage(), AnyDoor::GRAPH); // nothing was taken
/// ```
///
/// # Panics
/// When a transition was never taken and is no exception; when an exception was taken or is no transition.
#[macro_export]
macro_rules! assert_covers {
    ($coverage:expr, $graph:expr $(,)?) => {
        $crate::assert_covers!($coverage, $graph, except [])
    };
    ($coverage:expr, $graph:expr, except [$($edge:expr),* $(,)?] $(,)?) => {
        if let ::core::result::Result::Err(error) = $crate::testing::covers(&$coverage, $graph, &[$($edge),*]) {
            ::core::panic!("{error}");
        }
    };
}
