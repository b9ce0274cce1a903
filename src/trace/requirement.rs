//! Requirements on a coverage.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::coverage::shown;

/// A required transition, written `FROM:TO` or `LIFECYCLE/FROM:TO`.
///
/// # Example
/// ```
/// use runstate::trace::WantedEdge;
///
/// let wanted: WantedEdge = "tool_call/New:Running".parse().unwrap();
/// assert_eq!(wanted.to, "Running");
/// assert_eq!(wanted.to_string(), "tool_call/New:Running");
///
/// let error = "New->Running".parse::<WantedEdge>().unwrap_err();
/// assert_eq!(error.to_string(), "expected FROM:TO or LIFECYCLE/FROM:TO, got \"New->Running\"; write New:Running");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WantedEdge {
    /// The lifecycle; none for any lifecycle with the transition.
    pub lifecycle: Option<String>,
    /// The source state.
    pub from: String,
    /// The target state.
    pub to: String,
}

impl fmt::Display for WantedEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(lifecycle) = &self.lifecycle {
            write!(f, "{lifecycle}/")?;
        }
        write!(f, "{}:{}", self.from, self.to)
    }
}

impl FromStr for WantedEdge {
    type Err = NoWantedEdge;

    fn from_str(text: &str) -> Result<Self, NoWantedEdge> {
        let (lifecycle, edge) = match text.split_once('/') {
            Some((lifecycle, edge)) => (Some(lifecycle.trim().to_owned()), edge),
            None => (None, text),
        };
        match edge.split_once(':').map(|(from, to)| (from.trim(), to.trim())) {
            Some((from, to)) if !from.is_empty() && !to.is_empty() && !to.contains(':') => {
                Ok(WantedEdge { lifecycle, from: from.to_owned(), to: to.to_owned() })
            }
            _ => Err(NoWantedEdge { got: text.to_owned() }),
        }
    }
}

/// The error for a text that names no transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoWantedEdge {
    got: String,
}

impl fmt::Display for NoWantedEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected FROM:TO or LIFECYCLE/FROM:TO, got {:?}", self.got)?;
        let arrow = ["-->", "->", "→"].iter().find_map(|arrow| self.got.split_once(arrow));
        match arrow.map(|(from, to)| (from.trim(), to.trim())) {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => write!(f, "; write {from}:{to}"),
            _ => Ok(()),
        }
    }
}

impl Error for NoWantedEdge {}

/// An unmet requirement on a coverage.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum UnmetRequirement {
    /// The percentage of taken transitions is too low.
    Percent {
        /// The reached percentage.
        got: f64,
        /// The required percentage.
        least: f64,
    },
    /// No lifecycle is covered.
    Nothing {
        /// The required percentage.
        least: f64,
    },
    /// The transition was never taken.
    NeverTaken(WantedEdge),
    /// No lifecycle in the trace has the transition.
    NoSuchEdge(WantedEdge),
}

impl fmt::Display for UnmetRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnmetRequirement::Percent { got, least } => {
                write!(f, "expected {least} % of the edges taken, got {:.1} %", shown(*got))
            }
            UnmetRequirement::Nothing { least } => {
                write!(f, "expected {least} % of the edges taken, but no lifecycle with edges is covered")
            }
            UnmetRequirement::NeverTaken(edge) => write!(f, "expected the edge {edge} taken, got it never"),
            UnmetRequirement::NoSuchEdge(edge) => {
                write!(f, "expected the edge {edge} taken, but no lifecycle in the trace has that edge")
            }
        }
    }
}

impl Error for UnmetRequirement {}
