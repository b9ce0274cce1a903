//! A typed and a hand-written machine, for an instruction counter: `bash count-instructions.sh`.

use std::hint::black_box;

use runstate_benches::by_hand;
use runstate_benches::parcel::plain;

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

fn main() {
    let n = 100_000;
    match std::env::args().nth(1).as_deref() {
        Some("by-hand") => println!("{}", moves_by_hand(black_box(n))),
        Some("typed") => println!("{}", moves_typed(black_box(n))),
        Some("nothing") => println!("0"),
        _ => {
            eprintln!("expected by-hand, typed or nothing");
            std::process::exit(2);
        }
    }
}
