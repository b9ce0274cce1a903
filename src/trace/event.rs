//! One transition in a trace.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::extra::Extra;
use crate::kernel::{Edge, Graph};
use crate::unseen::is_unseen;

/// The name of the event that creates an instance.
pub const CREATE: &str = "create";

/// One transition of one instance of a lifecycle: one line of a trace.
///
/// An event that was read from a line borrows from that line where possible. Its [`Display`](fmt::Display) shows the
/// transition in the notation of a diagram.
///
/// # Example
/// ```
/// use runstate::trace::Event;
///
/// let line = r#"{"seq":7,"at_ms":12,"run":"r1","lifecycle":"tool_call","instance":"call_1","event":"suspend","from":"Running","to":"Suspended"}"#;
/// let event = Event::from_json(line).unwrap();
/// assert_eq!(event.to_string(), "Running --> Suspended : suspend");
/// assert_eq!(event.to_json(), line);
///
/// let error = Event::from_json(r#"{"seq":"7"}"#).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 1, column 10: invalid type: string \"7\", expected a whole number from 0 for `seq`",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The sequence number in the trace of its run; it increases from line to line.
    pub seq: u64,
    /// The time, in milliseconds of the recorder's clock.
    pub at_ms: u64,
    /// The id of the run.
    pub run: Cow<'a, str>,
    /// The name of the lifecycle, such as `tool_call`.
    pub lifecycle: Cow<'a, str>,
    /// The name of the instance; unique within run and lifecycle.
    pub instance: Cow<'a, str>,
    /// The name of the event; [`CREATE`] for a creation.
    pub event: Cow<'a, str>,
    /// The source state; none for a creation.
    pub from: Option<Cow<'a, str>>,
    /// The target state.
    pub to: Cow<'a, str>,
    /// The unknown fields of the line.
    pub extra: Extra<'a>,
}

/// The number, time and names of a recorded event.
pub(super) struct Stamp<'a> {
    pub(super) seq: u64,
    pub(super) at_ms: u64,
    pub(super) run: Cow<'a, str>,
    pub(super) instance: Cow<'a, str>,
}

impl<'a> Event<'a> {
    pub(super) fn creation(stamp: Stamp<'a>, lifecycle: &'a str, graph: &'static Graph) -> Self {
        Self::stamped(stamp, lifecycle, CREATE, None, graph.initial().name)
    }

    pub(super) fn transition(stamp: Stamp<'a>, lifecycle: &'a str, edge: &'static Edge) -> Self {
        Self::stamped(stamp, lifecycle, edge.event, Some(edge.from), edge.to)
    }

    fn stamped(
        stamp: Stamp<'a>,
        lifecycle: &'a str,
        event: &'static str,
        from: Option<&'static str>,
        to: &'static str,
    ) -> Self {
        Event {
            seq: stamp.seq,
            at_ms: stamp.at_ms,
            run: stamp.run,
            lifecycle: Cow::Borrowed(lifecycle),
            instance: stamp.instance,
            event: Cow::Borrowed(event),
            from: from.map(Cow::Borrowed),
            to: Cow::Borrowed(to),
            extra: Extra::default(),
        }
    }

    /// Returns whether the event is a creation.
    pub fn is_creation(&self) -> bool {
        self.from.is_none()
    }

    /// Writes the event as its line, without the line break.
    pub fn to_json(&self) -> String {
        // The event only has strings and numbers, so its serialization cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the event with owned data.
    pub fn into_owned(self) -> Event<'static> {
        fn own(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        Event {
            seq: self.seq,
            at_ms: self.at_ms,
            run: own(self.run),
            lifecycle: own(self.lifecycle),
            instance: own(self.instance),
            event: own(self.event),
            from: self.from.map(own),
            to: own(self.to),
            extra: self.extra.into_owned(),
        }
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from.as_deref() {
            // A creation has null there, so `[*]` as a name is quoted.
            Some("[*]") => f.write_str("\"[*]\"")?,
            from => Plain(from.unwrap_or("[*]")).fmt(f)?,
        }
        write!(f, " --> {} : {}", Plain(&self.to), Plain(&self.event))
    }
}

impl Serialize for Event<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(8 + self.extra.len()))?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("at_ms", &self.at_ms)?;
        map.serialize_entry("run", &self.run)?;
        map.serialize_entry("lifecycle", &self.lifecycle)?;
        map.serialize_entry("instance", &self.instance)?;
        map.serialize_entry("event", &self.event)?;
        map.serialize_entry("from", &self.from)?;
        map.serialize_entry("to", &self.to)?;
        for (name, value) in self.extra.raw() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A name from a trace, for people: invisible characters are escaped, and the length is limited.
pub(super) struct Plain<'a>(pub(super) &'a str);

impl Plain<'_> {
    const MOST: usize = 80;
}

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        for (place, c) in self.0.chars().enumerate() {
            if place == Self::MOST {
                return f.write_char('…');
            }
            if is_unseen(c) {
                write!(f, "{}", c.escape_unicode())?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}
