//! Traces to check, and the naive replay that a checker is measured by.

use std::collections::HashMap;

use runstate::run::{AnyRun, RunRecord};
use runstate::tool_call::{AnyToolCall, CallRecord, Start, Succeed};
use runstate::trace::{Event, Recorder};

/// A trace of about `events` events: tool calls of one run, eight interleaved at a time.
pub fn of_tool_calls(events: usize) -> Vec<Event<'static>> {
    let recorder = Recorder::builder("r1").capacity(events).build();
    let _run = AnyRun::new(RunRecord::new("r1").observed(recorder.observer("r1")));
    for round in 0..events.div_ceil(24) {
        let calls: Vec<_> = (0..8)
            .map(|i| {
                let name = format!("call_{}", round * 8 + i);
                let observer = recorder.observer(&name);
                AnyToolCall::new(CallRecord::new(name, "read", serde_json::Value::Null).observed(observer))
            })
            .collect();
        let running: Vec<_> =
            calls.into_iter().map(|call| call.apply(Start.into()).expect("new calls start")).collect();
        for call in running {
            let _done = call.apply(Succeed::new(1).into()).expect("running calls succeed");
        }
    }
    recorder.take()
}

/// The lines of those events.
pub fn lines(events: &[Event<'_>]) -> String {
    events.iter().map(|event| event.to_json() + "\n").collect()
}

/// What one writes in an afternoon: a state by instance, a count by pair, all keyed by text, and no diagnosis.
pub fn naive_replay(events: &[Event<'_>], edges: &[(&str, &str)]) -> Result<usize, usize> {
    let mut states: HashMap<(String, String), String> = HashMap::new();
    let mut counts: HashMap<(String, String), u64> =
        edges.iter().map(|(a, b)| ((a.to_string(), b.to_string()), 0)).collect();
    for (line, event) in events.iter().enumerate() {
        let instance = (event.lifecycle.to_string(), event.instance.to_string());
        let state = states.entry(instance).or_default();
        if let Some(from) = &event.from {
            if state != from {
                return Err(line);
            }
            *counts.get_mut(&(from.to_string(), event.to.to_string())).ok_or(line)? += 1;
        }
        *state = event.to.to_string();
    }
    Ok(counts.values().filter(|count| **count > 0).count())
}
