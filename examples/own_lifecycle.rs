//! A lifecycle of your own. Every build checks it against its diagram, `own_lifecycle.md`.

use runstate::kernel::{Enter, Guard, Record};
use runstate::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

runstate::lifecycle! {
    /// A parcel, from the counter to the door.
    mod parcel: Parcel(Postage), AnyParcel;
    version 1;
    diagram "own_lifecycle.md";
    status ParcelStatus { Packed, Sent { .. }, Delivered }
    event ParcelEvent { Dispatch { .. }, Deliver }
    [*]       --> Packed;
    Packed    --> Sent      : dispatch(Dispatch) else Underpaid;
    Sent      --> Delivered : deliver(Deliver);
    Delivered --> [*];
}

#[derive(Debug, Serialize, Deserialize)]
struct Postage(u32); // the record: what all states share
impl Record for Postage {}
#[derive(Debug, Serialize, Deserialize)]
struct Sent(String); // the data of one state: its tracking number
#[derive(Debug)]
struct Dispatch(String); // the data of an event
#[derive(Debug)]
struct Underpaid;
impl std::fmt::Display for Underpaid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a parcel needs a postage of 180")
    }
}
impl std::error::Error for Underpaid {}

impl Guard<Packed, Dispatch> for Sent {
    type Error = Underpaid;
    fn check(_: &Packed, _: &Dispatch, postage: &Postage) -> Result<(), Underpaid> {
        if postage.0 < 180 { Err(Underpaid) } else { Ok(()) }
    }
}
impl Enter<Packed, Dispatch> for Sent {
    fn enter(_: Packed, event: Dispatch, _: &mut Postage) -> Self {
        Sent(event.0)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rejected = Parcel::new(Postage(20)).dispatch(Dispatch("PX-9".into())).expect_err("20 is too little");
    println!("{rejected}"); // the guard failed; parcel and event came back
    let parcel = Parcel::new(Postage(180)).dispatch(rejected.event)?; // typed: `Packed` has no `deliver`
    println!("on its way as {}", parcel.state().0);
    let stored = Snapshot::of(&parcel)?.to_json(); // by reference: the parcel goes on
    let refused = AnyParcel::from(parcel).apply(Dispatch("PX-10".into()).into()); // dynamic: checked as it runs
    println!("{}", refused.expect_err("it is on its way"));
    let parcel: AnyParcel = Snapshot::from_json(stored.as_bytes())?.restore()?; // a process later
    println!("{}", parcel.apply(Deliver.into())?.status());
    Ok(())
}
