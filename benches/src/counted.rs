//! Moves of a typed and of a hand-written machine, dynamic, and recorded, for an instruction counter:
//! `bash count-instructions.sh`.

use std::hint::black_box;

use runstate::snapshot::Snapshot;
use runstate::tool_call::{AnyToolCall, CallRecord};
use runstate::trace::Recorder;
use runstate_benches::by_hand;
use runstate_benches::parcel::{observed, plain};

#[inline(never)]
fn moves_by_hand(n: u64) -> u64 {
    let mut parcel = by_hand::New { label: by_hand::Label::default() }.start(black_box(1));
    for why in 0..n {
        parcel = black_box(black_box(parcel.hold(why)).free());
    }
    parcel.label.moves
}

#[inline(never)]
fn moves_typed(n: u64) -> u64 {
    let mut parcel = plain::Parcel::new(plain::Label::default()).start(plain::Start { to: black_box(1) });
    for why in 0..n {
        parcel = black_box(black_box(parcel.hold(plain::Hold { why })).free(plain::Free));
    }
    parcel.record().moves
}

macro_rules! applied {
    ($name:ident, $module:ident, $label:expr) => {
        #[inline(never)]
        fn $name(n: u64) -> u64 {
            let parcel = $module::AnyParcel::new($label);
            let mut parcel = parcel.apply($module::Start { to: black_box(1) }.into()).expect("starts");
            for why in 0..n {
                parcel = black_box(parcel).apply(black_box($module::Hold { why }.into())).expect("holds");
                parcel = black_box(parcel).apply(black_box($module::Free.into())).expect("goes on");
            }
            parcel.record().moves
        }
    };
}
applied!(applied, plain, plain::Label::default());
applied!(unobserved, observed, observed::Label::default());
applied!(recorded, observed, {
    let recorder = Recorder::builder("r1").capacity(1 << 18).build();
    observed::Label { observer: recorder.observer("parcel"), ..Default::default() }
});

/// Two snapshots each, so that their number is that of the moves.
fn snapshots(n: u64) -> u64 {
    let call = AnyToolCall::new(CallRecord::new("call_1", "read_file", serde_json::json!({ "path": "a" })));
    (0..n * 2).map(|_| Snapshot::of(black_box(&call)).expect("it is written").to_json().len() as u64).sum()
}

fn main() {
    let n = 100_000;
    let count: fn(u64) -> u64 = match std::env::args().nth(1).as_deref() {
        Some("by-hand") => moves_by_hand,
        Some("typed") => moves_typed,
        Some("apply") => applied,
        Some("observer-off") => unobserved,
        Some("recorder") => recorded,
        Some("snapshot") => snapshots,
        Some("nothing") => |_| 0,
        _ => {
            eprintln!("expected by-hand, typed, apply, observer-off, recorder, snapshot or nothing");
            std::process::exit(2);
        }
    };
    println!("{}", count(black_box(n)));
}
