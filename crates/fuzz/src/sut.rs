//! The interface between the fuzzer and a system under test.

use serde_json::Value;

use crate::quiet;

/// A system under test: one machine that the fuzzer starts, sends events to, and starts anew.
///
/// ```
/// use runstate::diagram::{StateGraph, parse};
/// use runstate_fuzz::{Broken, Config, Fuzz, Map, Reply, Sut};
/// use serde_json::Value;
///
/// /// A door with a mistake: a locked door can be closed.
/// #[derive(Default)]
/// struct Door(&'static str);
///
/// impl Sut for Door {
///     fn reset(&mut self) -> Result<String, Broken> {
///         self.0 = "Open";
///         Ok(self.0.to_owned())
///     }
///
///     fn state(&mut self) -> Result<String, Broken> {
///         Ok(self.0.to_owned())
///     }
///
///     fn apply(&mut self, event: &str, _: &Value) -> Result<Reply, Broken> {
///         self.0 = match (self.0, event) {
///             ("Open" | "Locked", "close") => "Closed",
///             ("Closed", "lock") => "Locked",
///             ("Locked", "unlock") => "Closed",
///             (state, _) => return Ok(Reply::refused("not now", state)),
///         };
///         Ok(Reply::taken(self.0))
///     }
/// }
///
/// let source = "stateDiagram-v2
///     [*] --> Open
///     Open --> Closed : close
///     Closed --> Locked : lock
///     Locked --> Closed : unlock";
/// let graph = StateGraph::from_diagram(&parse(source).unwrap(), "door").unwrap();
/// let map = Map::new(&graph, &Config::default()).unwrap();
/// let report = Fuzz::new(map).seed(7).run(&mut Door::default()).unwrap();
/// assert_eq!(report.findings.len(), 1);
/// assert!(report.to_string().contains("accepted-illegal: Locked takes `close`"));
/// ```
pub trait Sut {
    /// Starts a machine anew and returns its initial state. The previous machine is dropped.
    ///
    /// # Errors
    /// [`Broken`].
    fn reset(&mut self) -> Result<String, Broken>;

    /// Starts everything anew, such as the process of the machine. Default: [`reset`](Self::reset).
    ///
    /// # Errors
    /// [`Broken`].
    fn renew(&mut self) -> Result<String, Broken> {
        self.reset()
    }

    /// Returns the current state. It may differ from the last one where the diagram has a transition without a label.
    ///
    /// # Errors
    /// [`Broken`].
    fn state(&mut self) -> Result<String, Broken>;

    /// Sends an event. The machine takes it, or refuses it and stays in its state.
    ///
    /// # Errors
    /// [`Broken`].
    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken>;

    /// The last output of the system beside its replies, for the report of a difference. Default: none.
    fn log(&self) -> String {
        String::new()
    }
}

/// The reply to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// The reason of a refusal; none if the event was taken.
    pub refused: Option<String>,
    /// The state after the event.
    pub state: String,
    /// Data for the payloads of later events.
    pub data: Option<Value>,
}

impl Reply {
    /// The reply of a machine that took the event.
    pub fn taken(state: impl Into<String>) -> Self {
        Reply { refused: None, state: state.into(), data: None }
    }

    /// The reply of a machine that refused the event.
    pub fn refused(reason: impl Into<String>, state: impl Into<String>) -> Self {
        Reply { refused: Some(reason.into()), state: state.into(), data: None }
    }

    /// Sets the data. Default: none.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

/// A system that did not reply as it must.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// The system ended, or its code panicked.
    Crash(String),
    /// No reply in time.
    Timeout(String),
    /// A reply that is none, with what was got.
    Garbage(String),
    /// More output than the protocol allows.
    Flood(String),
    /// The system cannot be tested. No finding: the fuzzer stops.
    Unusable(String),
}

/// Executes a call of the system; its panic is a crash.
pub(crate) fn caught<T>(call: impl FnOnce() -> Result<T, Broken>) -> Result<T, Broken> {
    quiet::trial(call).unwrap_or_else(|panic| Err(Broken::Crash(panic)))
}
