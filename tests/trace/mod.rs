//! Traces: recording, reading and writing, checking, showing.
use insta::Settings;
use runstate::kernel::Stateful;
use runstate::trace::{Event, Recorder, Rulebook};

mod checking;
mod composites;
mod coverage;
mod diff;
mod drawn;
mod files;
mod jsonl;
mod labels;
mod mutations;
mod parcel;
mod recorder;
mod shown;

use parcel::{AnyParcel, Bounce, Deliver, Discard, Label, Parcel, Send};

/// The names of snapshots are ours, and they lie in the top-level folder.
fn snapshots() -> Settings {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// The rules of parcels.
fn book() -> Rulebook {
    Rulebook::of([<AnyParcel as Stateful>::GRAPH])
}

/// An event of run `r`, written by hand.
fn event(seq: u64, instance: &str, event: &str, from: Option<&str>, to: &str) -> Event<'static> {
    let line = serde_json::json!({
        "seq": seq, "at_ms": seq * 10, "run": "r", "lifecycle": "parcel", "instance": instance, "event": event,
        "from": from, "to": to,
    });
    Event::from_json(&line.to_string()).unwrap().into_owned()
}

/// Two parcels: `a` comes back once and arrives, `b` comes back and is thrown away.
fn journey() -> Vec<Event<'static>> {
    let recorder = Recorder::new("r");
    let a = Parcel::new(Label::observed(recorder.observer("a")));
    let b = Parcel::new(Label::observed(recorder.observer("b")));
    let (a, b) = (a.send(Send), b.send(Send));
    let (a, b) = (a.bounce(Bounce), b.bounce(Bounce));
    let a = a.send(Send);
    let _b = b.discard(Discard);
    let _a = a.deliver(Deliver);
    recorder.take()
}

fn jsonl(events: &[Event<'_>]) -> String {
    events.iter().map(|event| event.to_json() + "\n").collect()
}
