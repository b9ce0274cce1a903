//! The stable text form of a trace, independent of ids and times.

use std::collections::HashMap;

use super::event::{Event, Plain};

/// Renders a trace for snapshots: one line per transition, ordinals for ids, the number of the transition for its
/// time.
///
/// Instances are numbered within their lifecycle in the order of their appearance. Runs are numbered too; a run is
/// named from the second run on. Two traces of equal behaviour have equal texts, regardless of their ids, their
/// clocks and their first `seq`.
///
/// # Example
/// ```
/// use runstate::trace::{Event, to_text};
///
/// let line = r#"{"seq":9,"at_ms":812,"run":"r-7f","lifecycle":"tool_call","instance":"call_x","event":"create","from":null,"to":"New"}"#;
/// assert_eq!(to_text(&[Event::from_json(line).unwrap()]), "   1  tool_call#1  [*] --> New : create\n");
/// ```
pub fn to_text<'e>(events: impl IntoIterator<Item = &'e Event<'e>>) -> String {
    let mut ordinals = Ordinals::new();
    events.into_iter().map(|event| format!("{}\n", ordinals.line(event))).collect()
}

/// Renders a trace for snapshots, one event at a time; see [`to_text`].
///
/// # Example
/// ```
/// use runstate::trace::{Event, Ordinals};
///
/// let line = r#"{"seq":9,"at_ms":812,"run":"r-7f","lifecycle":"run","instance":"r-7f","event":"create","from":null,"to":"Running"}"#;
/// let mut ordinals = Ordinals::new();
/// assert_eq!(ordinals.line(&Event::from_json(line).unwrap()), "   1  run#1  [*] --> Running : create");
/// let other = line.replace("r-7f", "r-80");
/// assert_eq!(ordinals.line(&Event::from_json(&other).unwrap()), "   2  run 2: run#1  [*] --> Running : create");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ordinals {
    ticks: u64,
    runs: HashMap<Box<str>, Run>,
}

#[derive(Debug, Clone, Default)]
struct Run {
    ordinal: usize,
    instances: HashMap<Box<str>, HashMap<Box<str>, usize>>,
}

impl Ordinals {
    /// Makes a renderer before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Renders the line of the next event, without the line break.
    pub fn line(&mut self, event: &Event<'_>) -> String {
        self.ticks += 1;
        let next_run = self.runs.len() + 1;
        let run = entry(&mut self.runs, &event.run, || Run { ordinal: next_run, ..Run::default() });
        let instances = entry(&mut run.instances, &event.lifecycle, HashMap::new);
        let next_instance = instances.len() + 1;
        let instance = *entry(instances, &event.instance, || next_instance);
        let of_run = if run.ordinal == 1 { String::new() } else { format!("run {}: ", run.ordinal) };
        format!("{:>4}  {of_run}{}#{instance}  {event}", self.ticks, Plain(&event.lifecycle))
    }
}

/// Returns the value of a name. It copies only a new name.
fn entry<'m, V>(map: &'m mut HashMap<Box<str>, V>, name: &str, new: impl FnOnce() -> V) -> &'m mut V {
    if map.contains_key(name) {
        return map.get_mut(name).expect("it is there");
    }
    map.entry(name.into()).or_insert_with(new)
}
