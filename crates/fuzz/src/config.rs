//! The configuration: events of labels, permitted refusals, payloads.

use std::collections::BTreeMap;

use runstate::trace::closest;
use serde::Deserialize;

use crate::map::MapError;
use crate::payload::Generator;

/// How a diagram is fuzzed. A file has these fields in YAML; all are optional.
///
/// ```
/// let config = runstate_fuzz::Config::parse("
/// events: {it is paid: pay}        # a label, and the event that it means
/// may_refuse: [ship, Created.pay]  # an event, or an event in a state
/// payloads:
///   pay: {object: {amount: {int: {min: 1, max: 100}}, code: {regex: '[A-Z]{3}'}}}
///   ship: {samples: [{to: home}, {to: office}]}
/// ").unwrap();
/// assert_eq!(config.events["it is paid"], "pay");
///
/// let error = runstate_fuzz::Config::parse("payload: {}").unwrap_err();
/// assert!(error.to_string().contains("payload"));
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// The event of each label that is not in the form `event [guard] / action`.
    pub events: BTreeMap<String, String>,
    /// The events that may be refused in a state that has a transition for them: `event`, or `State.event`.
    /// A transition with a guard needs no entry.
    pub may_refuse: Vec<String>,
    /// The generator of the payloads of each event. Default: an empty object.
    pub payloads: BTreeMap<String, Generator>,
}

/// The maximum size of a payload. A request has at most 1 MiB.
const MOST_BYTES: usize = 1_000_000;

impl Config {
    /// Parses a configuration in YAML.
    ///
    /// # Errors
    /// [`ConfigError`], with line and column.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        if text.trim().is_empty() {
            return Ok(Config::default());
        }
        let refuse = |error: serde_saphyr::Error| {
            let text = error.to_string();
            ConfigError(text.strip_prefix("error: ").unwrap_or(&text).to_owned())
        };
        let config: Config = serde_saphyr::from_str(text).map_err(refuse)?;
        for (event, generator) in &config.payloads {
            let strategy = generator.strategy();
            drop(strategy.map_err(|why| ConfigError(format!("the payload of `{event}`: {why}")))?);
            let bytes = generator.most_bytes();
            if bytes > MOST_BYTES {
                return Err(ConfigError(format!(
                    "the payload of `{event}` may have {bytes} bytes; expected at most {MOST_BYTES}: lower a `max`"
                )));
            }
        }
        Ok(config)
    }

    pub(crate) fn may_refuse(&self, state: &str, event: &str) -> bool {
        self.may_refuse.iter().any(|entry| match entry.rsplit_once('.') {
            Some((in_state, of)) => (in_state, of) == (state, event) || entry == event,
            None => entry == event,
        })
    }

    /// Checks that each name is one of the diagram, and that each permitted refusal is one of a transition. `has` tells whether a
    /// state has a transition for an event.
    pub(crate) fn check(
        &self,
        states: &[String],
        events: &[String],
        has: impl Fn(&str, &str) -> bool,
    ) -> Result<(), MapError> {
        let is_event = |name: &str| events.iter().any(|event| event == name);
        let expected = events.join(", ");
        if let Some(event) = self.payloads.keys().find(|event| !is_event(event)) {
            let meant = did_you_mean(event, events);
            return Err(MapError(format!(
                "`payloads` names the event `{event}`; the diagram has {expected}{meant}"
            )));
        }
        let is_known = |entry: &str| {
            is_event(entry)
                || entry
                    .rsplit_once('.')
                    .is_some_and(|(state, event)| is_event(event) && states.iter().any(|name| name == state))
        };
        match self.may_refuse.iter().find(|entry| !is_known(entry)) {
            None => {}
            Some(entry) => {
                let (of, meant) = match entry.rsplit_once('.') {
                    Some((state, event)) if is_event(event) => {
                        (format!("a state of {}", states.join(", ")), did_you_mean(state, states))
                    }
                    parts => {
                        let event = parts.map_or(entry.as_str(), |(_, event)| event);
                        (format!("an event of {expected}"), did_you_mean(event, events))
                    }
                };
                return Err(MapError(format!(
                    "`may_refuse` has `{entry}`; expected `event` or `State.event`, with {of}{meant}"
                )));
            }
        }
        let in_vain = |entry: &&String| {
            !is_event(entry) && entry.rsplit_once('.').is_some_and(|(state, event)| !has(state, event))
        };
        match self.may_refuse.iter().find(in_vain).and_then(|entry| entry.rsplit_once('.')) {
            None => Ok(()),
            Some((state, event)) => {
                let of: Vec<&str> =
                    states.iter().map(String::as_str).filter(|state| has(state, event)).collect();
                Err(MapError(format!(
                    "`may_refuse` has `{state}.{event}`, but {state} has no transition for `{event}`, so it must refuse the event anyway; expected a state of {}",
                    of.join(", ")
                )))
            }
        }
    }
}

/// A suggestion behind a message: the known name that is close to an unknown one, if there is one.
pub(crate) fn did_you_mean(name: &str, known: &[impl AsRef<str>]) -> String {
    let near = closest(name, known.iter().map(AsRef::as_ref));
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// A configuration that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);
