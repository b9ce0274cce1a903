//! Parcels, some of which go abroad.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use runstate::kernel::{Observer, Record};
use runstate::trace::Recorder;
use serde::{Deserialize, Serialize};

runstate::lifecycle! {
    /// A parcel, from the counter to the door.
    pub mod parcel: Parcel(Label), AnyParcel;
    version 1;
    diagram "../parcel.md";
    status ParcelStatus { Packed, Sent, PendingCustoms, Delivered }
    event ParcelEvent { Dispatch, Hold, Release, Deliver }
    [*]            --> Packed;
    Packed         --> Sent           : dispatch(Dispatch);
    Sent           --> PendingCustoms : hold(Hold);
    PendingCustoms --> Sent           : release(Release);
    Sent           --> Delivered      : deliver(Deliver);
    Delivered      --> [*];
}

/// The record of a parcel.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Label {
    #[serde(skip)]
    observer: Observer,
}

impl Record for Label {
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}

/// Delivers a parcel to each country, and returns the trace. The id of a parcel ends with `salt`.
pub fn deliver(countries: &[&str], salt: &str) -> Recorder {
    let clock = Arc::new(AtomicU64::new(1_700_000_000_000));
    let now = Arc::clone(&clock);
    let recorder = Recorder::builder(format!("tour-{salt}")).clock(move || now.load(Ordering::Relaxed)).build();
    let pass = |ms| clock.fetch_add(ms, Ordering::Relaxed);
    for (number, country) in (1..).zip(countries) {
        let label = Label { observer: recorder.observer(&format!("PX-{number}-{salt}")) };
        let parcel = Parcel::new(label);
        pass(900);
        let mut parcel = parcel.dispatch(Dispatch);
        let is_abroad = *country != "home";
        if is_abroad {
            pass(60_000);
            let held = parcel.hold(Hold);
            pass(7_200_000);
            parcel = held.release(Release);
        }
        pass(1_500);
        let _ = parcel.deliver(Deliver);
    }
    recorder
}
