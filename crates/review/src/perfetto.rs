//! Reviews as a Chrome trace, for Perfetto, speedscope and chrome://tracing.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use crate::breach::Breach;
use crate::model::{Fact, Lane, Review, Stay, StayKind};
use crate::span::utc;
use crate::text::{name, seen};

/// The maximum length of a fact, in characters.
const VALUE: usize = 2_000;
/// The highest time, in milliseconds: its microseconds are exact in a JSON number.
const LATEST_MS: u64 = (1 << 53) / 1_000;

/// Renders reviews as one Chrome trace in JSON: a process for each run, a thread for each instance, a slice for each stay.
///
/// Times are microseconds since the earliest event of the trace. Of several traces with clocks that count from 1970, they are since the
/// earliest event of all. The facts of a wait, such as a question and its decision, are arguments of its slice, and other facts
/// of an instance those of its last slice. A flow leads from each finished wait to the next state with a
/// duration. It has the name of the event that ended the wait, such as the decision on a suspension. A stay without a duration, such as one in a terminal state, is an instant. Illegal events have the category
/// `illegal`, and their slices have the reason. A wait that has not ended lasts to the end of the trace, and has the category
/// `open_wait`. Times end after 2^53 microseconds. An event that is earlier than the previous one of its run has the argument
/// `earlier than the event before it`. In a trace whose times are equal each step takes a millisecond, and the name of the process says so.
///
/// # Example
/// ```
/// use runstate::trace::Event;
/// use runstate_review::{ReviewBuilder, perfetto};
///
/// let lines = [
///     r#"{"seq":1,"at_ms":5,"run":"r","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"New"}"#,
///     r#"{"seq":2,"at_ms":8,"run":"r","lifecycle":"tool_call","instance":"c","event":"succeed","from":"New","to":"Succeeded"}"#,
/// ];
/// let book = runstate::rulebook();
/// let mut builder = ReviewBuilder::new("a call", &book);
/// for (number, line) in (1..).zip(lines) {
///     builder.event(number, &Event::from_json(line).unwrap());
/// }
/// let trace: serde_json::Value = serde_json::from_str(&perfetto(&[builder.finish()])).unwrap();
/// let events = trace["traceEvents"].as_array().unwrap();
/// let slice = events.iter().find(|event| event["ph"] == "X").unwrap();
/// assert_eq!((&slice["name"], &slice["ts"], &slice["dur"]), (&"New".into(), &0.into(), &3000.into()));
/// let end = events.iter().find(|event| event["ph"] == "i").unwrap();
/// assert_eq!((&end["cat"], &end["args"]["illegal"]), (&"illegal".into(), &"no edge leads from New to Succeeded".into()));
/// ```
pub fn perfetto(reviews: &[Review]) -> String {
    let mut events = Events::default();
    let (mut first_process, mut flows) = (1, 0);
    // Clocks that count from 1970 agree on the begins of traces.
    let begins: Option<Vec<u64>> =
        reviews.iter().map(|review| review.begun_ms().filter(|ms| utc(*ms).is_some())).collect();
    let first_ms = begins.iter().flatten().min().copied().unwrap_or_default();
    for (number, review) in reviews.iter().enumerate() {
        let offset_ms = begins.as_ref().map_or(0, |begins| begins[number] - first_ms);
        let process = |run: usize| first_process + run;
        for (run, name_of_run) in review.runs().iter().enumerate() {
            let mut shown = if reviews.len() > 1 {
                format!("{}: {}", name(review.title()), name(name_of_run))
            } else {
                name(name_of_run)
            };
            if review.is_stable() || review.is_without_times() {
                shown.push_str(" (no times: a millisecond is a step)");
            }
            events.push(named("process_name", process(run), 0, &shown));
            let lost = review.interruption().map(|it| format!("not whole: {it}"));
            let is_late = review.end_ms().saturating_add(offset_ms) > LATEST_MS;
            let late = is_late.then(|| "times after 2^53 microseconds are drawn at that time".to_owned());
            let labels: Vec<String> = lost.into_iter().chain(late).chain(review.notes()).collect();
            if !labels.is_empty() {
                let labels = seen(&labels.join("; "), VALUE);
                events.push(json!({"ph": "M", "name": "process_labels", "pid": process(run), "args": {"labels": labels}}));
            }
        }
        let breaches: HashMap<usize, &Breach> =
            review.breaches().iter().filter_map(|breach| Some((breach.step?, breach))).collect();
        for (thread, lane) in (1..).zip(review.lanes()) {
            let at = Place { process: process(lane.run), thread };
            events.push(named("thread_name", at.process, thread, &lane.label()));
            // A clock that goes back makes no slices that overlap.
            let mut floor = 0;
            let spans = lane.stays.iter().map(|stay| {
                let (begun, ended) = times(review, stay);
                let (begun, ended) = (begun.saturating_add(offset_ms), ended.saturating_add(offset_ms));
                let span = (begun.max(floor), ended.max(begun).max(floor));
                floor = span.1;
                span
            });
            let spans: Vec<(u64, u64)> = spans.collect();
            let following = following(&spans);
            for (place, stay) in lane.stays.iter().enumerate() {
                let breach = breaches.get(&stay.begun).copied();
                events.push(slice(review, lane, (stay, spans[place]), breach, at));
                if let (StayKind::Waiting, Some(next)) = (stay.kind, following[place]) {
                    flows += 1;
                    let ended_by =
                        stay.ended.map(|step| name(&review.steps()[step].event)).unwrap_or_default();
                    events.push(flow(spans[place], at, (flows, &ended_by), "s"));
                    events.push(flow(spans[next], at, (flows, &ended_by), "f"));
                }
            }
        }
        first_process += review.runs().len();
    }
    // Times in milliseconds are shown with that unit.
    format!("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[{}]}}\n", events.0)
}

/// The written events: as values, those of a long trace need much memory.
#[derive(Default)]
struct Events(String);

impl Events {
    fn push(&mut self, event: Value) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&event.to_string());
    }
}

#[derive(Clone, Copy)]
struct Place {
    process: usize,
    thread: usize,
}

fn named(what: &str, process: usize, thread: usize, name: &str) -> Value {
    json!({"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}})
}

fn micros(ms: u64) -> u64 {
    ms.min(LATEST_MS) * 1_000
}

/// For each stay, the next one with a duration, or else the next one.
fn following(spans: &[(u64, u64)]) -> Vec<Option<usize>> {
    let (mut all, mut lasting) = (vec![None; spans.len()], None);
    for (place, (begun, ended)) in spans.iter().enumerate().rev() {
        all[place] = lasting.or(Some(place + 1).filter(|next| *next < spans.len()));
        if micros(*begun) != micros(*ended) {
            lasting = Some(place);
        }
    }
    all
}

/// The times of a stay. In a trace without any duration a step takes a millisecond.
fn times(review: &Review, stay: &Stay) -> (u64, u64) {
    if review.end_ms() > 0 || review.is_stable() {
        return review.times(stay);
    }
    let last = if matches!(stay.kind, StayKind::Over | StayKind::CutOff) {
        stay.begun
    } else {
        review.steps().len()
    };
    (stay.begun as u64, stay.ended.unwrap_or(last) as u64)
}

fn slice(
    review: &Review,
    lane: &Lane,
    (stay, (begun, ended)): (&Stay, (u64, u64)),
    breach: Option<&Breach>,
    at: Place,
) -> Value {
    let step = &review.steps()[stay.begun];
    let mut args = Map::new();
    let mut add = |name: &str, value: Value| {
        args.insert(name.to_owned(), value);
    };
    add("event", name(&step.event).into());
    add(&review.unit.to_string(), step.line.into());
    if step.is_illegal {
        let reason = breach.map_or("after an earlier violation of the instance", |breach| &breach.reason);
        add("illegal", seen(reason, VALUE).into());
    }
    if !step.is_timed {
        add("time", "unknown: that of the event before it".into());
    }
    if step.is_back {
        add("earlier than the event before it", true.into());
    }
    match stay.ended {
        Some(next) => add("ended by", name(&review.steps()[next].event).into()),
        None if stay.is_open_wait() => {
            add("still waits", lane.note.as_ref().map_or(true.into(), |note| seen(note, VALUE).into()));
        }
        None if stay.kind == StayKind::CutOff => add("cut off", true.into()),
        None if stay.kind != StayKind::Over => add("not ended", true.into()),
        None => {}
    }
    let of_stay =
        lane.facts.iter().filter(|fact| lane.stay_of(fact).is_some_and(|it| it.begun == stay.begun));
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    for Fact { name: of, value, .. } in of_stay.chain(&step.facts) {
        let named = format!("fact {}", name(of));
        let number = numbers.entry(named.clone()).and_modify(|number| *number += 1).or_insert(1);
        // Another fact of one name has a number, as a call that was decided twice.
        let key = if *number == 1 { named } else { format!("{named} ({number})") };
        add(&key, seen(value, VALUE).into());
    }
    let category = match (step.is_illegal, stay.is_open_wait()) {
        (true, _) => "illegal".to_owned(),
        (false, true) => "open_wait".to_owned(),
        (false, false) => name(&lane.lifecycle),
    };
    let mut slice = json!({
        "name": name(&stay.state), "cat": category, "pid": at.process, "tid": at.thread, "ts": micros(begun), "args": args,
    });
    // A slice without a duration has no place among slices that begin at its time.
    if micros(ended) == micros(begun) {
        (slice["ph"], slice["s"]) = ("i".into(), "t".into());
    } else {
        (slice["ph"], slice["dur"]) = ("X".into(), (micros(ended) - micros(begun)).into());
    }
    slice
}

/// One end of a flow, which binds to the slice at its time.
fn flow((begun, _): (u64, u64), at: Place, (id, ended_by): (u64, &str), phase: &str) -> Value {
    let mut flow = json!({
        "ph": phase, "name": ended_by, "cat": "wait", "id": id, "pid": at.process, "tid": at.thread, "ts": micros(begun),
    });
    if phase == "f" {
        flow["bp"] = "e".into();
    }
    flow
}
