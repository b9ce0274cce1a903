//! Stored regressions: the sequences of findings, as traces.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::finding::{Exchange, Finding};
use crate::map::Map;
use crate::payload::FromData;

/// The sequence of a finding, to be replayed first in later runs.
///
/// A file of regressions is a trace: `runstate check` and `runstate show` read it. A line is a transition with its
/// `payload`; its parts that came from earlier replies (`from_data`) are taken anew in a replay. The field `tried` has the requests after it that made no transition: refusals, and a request without a
/// reply. The first line of a regression, its creation, has the kind of the difference, the difference in words and the
/// fingerprint of the diagram.
///
/// ```
/// use runstate_fuzz::Regression;
///
/// let text = r#"{"seq":1,"at_ms":0,"run":"door-1","lifecycle":"door","instance":"1","event":"create","from":null,"to":"Open","fuzz":{"kind":"accepted-illegal","why":"Open takes `lock` and becomes Locked","fingerprint":"0"}}
/// {"seq":2,"at_ms":1,"run":"door-1","lifecycle":"door","instance":"1","event":"lock","from":"Open","to":"Locked","payload":{"key":1}}
/// "#;
/// let regressions = Regression::read(text).unwrap();
/// assert_eq!((regressions.len(), regressions[0].name.as_str()), (1, "door-1"));
///
/// let error = Regression::read("{}").unwrap_err();
/// assert!(error.to_string().starts_with("line 1: "));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Regression {
    /// The name, unique in its file.
    pub name: String,
    /// The fingerprint of the diagram.
    pub fingerprint: String,
    pub(crate) requests: Vec<Request>,
}

/// A request of a stored sequence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The event; none for an observation.
    pub(crate) event: Option<String>,
    #[serde(default)]
    pub(crate) payload: Value,
    #[serde(default, skip_serializing_if = "FromData::is_empty")]
    pub(crate) from_data: FromData,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    run: String,
    from: Option<String>,
    event: String,
    #[serde(default)]
    payload: Value,
    #[serde(default)]
    from_data: FromData,
    /// The transition was observed: no event was sent.
    #[serde(default)]
    observed: bool,
    #[serde(default)]
    tried: Vec<Request>,
    fuzz: Option<Head>,
}

#[derive(Deserialize)]
struct Head {
    fingerprint: String,
}

/// The event of a transition that was observed, in a trace.
const OBSERVED: &str = "observed";

impl Regression {
    /// Reads a file of regressions.
    ///
    /// # Errors
    /// [`RegressionError`], with the line.
    pub fn read(text: &str) -> Result<Vec<Regression>, RegressionError> {
        let mut read: Vec<Regression> = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let refuse = |why: String| RegressionError { line: at + 1, why };
            let line: Line = serde_json::from_str(line).map_err(|error| refuse(error.to_string()))?;
            if line.from.is_none() {
                let head = line.fuzz.ok_or_else(|| {
                    refuse(
                        "the creation has no field `fuzz`: the file is a trace, but not one of regressions"
                            .to_owned(),
                    )
                })?;
                let (name, fingerprint) = (line.run, head.fingerprint);
                read.push(Regression { name, fingerprint, requests: line.tried });
                continue;
            }
            let Some(regression) = read.last_mut().filter(|last| last.name == line.run) else {
                return Err(refuse(format!("the run {:?} has no creation before this line", line.run)));
            };
            let event = Some(line.event).filter(|_| !line.observed);
            regression.requests.push(Request {
                event,
                payload: line.payload,
                from_data: line.from_data,
                refused: None,
            });
            regression.requests.extend(line.tried);
        }
        Ok(read)
    }

    /// Writes the sequence of a finding as lines of a trace. The name must be unique in its file. Returns none for a finding
    /// without a start.
    #[must_use]
    pub fn write(finding: &Finding, map: &Map, name: &str) -> Option<String> {
        let start = finding.start.as_deref()?;
        let written = |seq: usize, event, from, to| Written {
            seq,
            at_ms: seq - 1,
            run: name,
            lifecycle: map.name(),
            instance: "1",
            event,
            from,
            to,
            payload: None,
            from_data: None,
            observed: false,
            tried: Vec::new(),
            fuzz: None,
        };
        let mut lines = vec![written(1, "create", None, start)];
        lines[0].fuzz =
            Some(json!({ "kind": finding.kind, "why": finding.why, "fingerprint": map.fingerprint }));
        for Exchange { from, event, payload, from_data, refused, to } in &finding.exchanges {
            match to {
                Some(to) if refused.is_none() && (event.is_some() || to != from) => {
                    let observed = event.is_none();
                    let event = event.as_deref().unwrap_or(OBSERVED);
                    let mut line = written(lines.len() + 1, event, Some(from), to);
                    line.observed = observed;
                    line.payload = Some(payload).filter(|payload| !payload.is_null());
                    line.from_data = Some(from_data).filter(|parts| !parts.is_empty());
                    lines.push(line);
                }
                _ => {
                    let (event, payload, refused) = (event.clone(), payload.clone(), refused.clone());
                    let (last, from_data) = (lines.len() - 1, from_data.clone());
                    lines[last].tried.push(Request { event, payload, from_data, refused });
                }
            }
        }
        // The lines only have texts, numbers and values, so their serialization cannot fail.
        Some(lines.iter().map(|line| serde_json::to_string(line).unwrap_or_default() + "\n").collect())
    }
}

/// A written line.
#[derive(Serialize)]
struct Written<'a> {
    seq: usize,
    at_ms: usize,
    run: &'a str,
    lifecycle: &'a str,
    instance: &'a str,
    event: &'a str,
    from: Option<&'a str>,
    to: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_data: Option<&'a FromData>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    observed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tried: Vec<Request>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fuzz: Option<Value>,
}

/// A file of regressions that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct RegressionError {
    line: usize,
    why: String,
}
