//! Stream scenarios: scripted streams, a session over them on virtual time, and its output.

mod check;
mod clock;
mod play;
mod replay;
mod rules;
mod scenario;
mod setup;
mod source;
#[cfg(test)]
mod tests;
mod told;

use runstate::trace::{Event, Verdict};
use runstate_guardrails::structured::Structured;
use runstate_stream::ConsumerText;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, Text};
use crate::scenario::from_yaml;
use play::Ended;
use replay::Replay;
use scenario::Scenario;
use told::Line;

/// The maximum size of a scenario, in bytes.
const LIMIT: u64 = 4 << 20;

/// The JSON Schema of a scenario's file, derived from its types.
pub(crate) fn schema() -> Value {
    schemars::schema_for!(Scenario).to_value()
}

/// The result of a scenario.
#[derive(Debug)]
pub(crate) struct Played {
    title: String,
    lines: Vec<Line>,
    consumer: ConsumerText,
    ended: Ended,
    /// The output as a value, if the scenario requires one.
    value: Option<Structured<Value>>,
    replay: Replay,
    events: Vec<Event<'static>>,
    trace: String,
    verdict: Verdict,
}

/// Reads a scenario and plays it, on virtual time.
///
/// # Errors
/// The file cannot be read, or is no scenario.
pub(crate) fn play(path: &str) -> Result<Played, Failure> {
    let source = input::read_text(path, LIMIT)?;
    let scenario = parse(&source)?;
    play::play(&scenario).map_err(|error| Failure::new(format!("{}: {error}", source.name)))
}

fn parse(source: &Text) -> Result<Scenario, Failure> {
    if source.text.trim().is_empty() {
        return Err(Failure::new(format!("{} is empty: expected a stream scenario", source.name))
            .with_help("start from examples/stream-retry.yaml"));
    }
    let scenario: Scenario = from_yaml(
        source,
        "start from examples/stream-retry.yaml; `runstate stream --schema` prints the fields",
    )?;
    check::check(&scenario).map_err(|fault| Failure::new(format!("{}: {fault}", source.name)))?;
    Ok(scenario)
}

impl Played {
    /// 0 if the output is complete; 1 otherwise, and if the trace violates the diagram or the record replays differently.
    pub(crate) fn exit(&self) -> Exit {
        match (&self.ended, self.verdict, &self.replay) {
            (Ended::Complete(_), Verdict::Conforms, Replay::Same { .. }) => Exit::Good,
            _ => Exit::Bad,
        }
    }

    /// The transitions.
    pub(crate) fn into_trace(self) -> Vec<Event<'static>> {
        self.events
    }

    /// As text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        match told::carried(&self.lines) {
            Ok(("stream_1", Value::Null)) => {}
            Ok((id, meta)) => text.push_str(&format!("in every event streamId={id:?} meta={meta}\n")),
            Err(seq) => text.push_str(&format!("event {seq} carries something else than the first\n")),
        }
        text.push_str("events and callbacks\n");
        for line in &self.lines {
            text.push_str(&line.text());
            text.push('\n');
        }
        text.push_str(&format!("consumer\n  {:?}\nend\n", self.consumer.as_str()));
        for line in self.ended.text() {
            text.push_str(&format!("  {line}\n"));
        }
        if let Some(value) = &self.value {
            let repairs: Vec<_> = value.repairs.iter().map(|repair| repair.name()).collect();
            text.push_str(&format!("value\n  {} (repairs: [{}])\n", value.value, repairs.join(", ")));
            text.extend(value.others.iter().map(|other| format!("  beside {other}\n")));
        }
        text.push_str(&format!("{}\n", self.replay));
        text.push_str(&format!("trace, which {} the diagram\n", self.verdict_said()));
        for line in self.trace.lines() {
            text.push_str(&format!("  {}\n", line.trim_start()));
        }
        text
    }

    fn verdict_said(&self) -> &'static str {
        match self.verdict {
            Verdict::Conforms => "conforms to",
            Verdict::Incomplete => "is incomplete by",
            Verdict::Interrupted | Verdict::Violates => "violates",
        }
    }

    /// As JSON lines: each event and callback, and last the consumer's text, the end and the trace.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let mut lines: Vec<Value> = self.lines.iter().map(Line::json).collect();
        lines.push(json!({"end": {
            "scenario": self.title,
            "consumer": self.consumer.as_str(),
            "result": self.ended.json(),
            "value": self.value.as_ref().map(|value| &value.value),
            "replay": self.replay.to_string(),
            "trace": self.trace.lines().map(str::trim_start).collect::<Vec<_>>(),
            "verdict": self.verdict,
        }}));
        lines
    }
}
