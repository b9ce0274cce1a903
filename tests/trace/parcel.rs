//! A small lifecycle with a cycle and two ends, for traces to be about.
use runstate::kernel::{Observer, Record};
use runstate::lifecycle;
use serde::{Deserialize, Serialize};

lifecycle! {
    /// A parcel on its way.
    pub mod parcel: Parcel(Label), AnyParcel;
    version 1;
    diagram "parcel.md";
    status ParcelStatus {
        /// Ready to go.
        Packed,
        /// On its way.
        Sent,
        /// Came back.
        Returned,
        /// Arrived.
        Delivered,
        /// Thrown away.
        Discarded,
    }
    event ParcelEvent {
        /// Hand it over.
        Send,
        /// Put it into the hands of its addressee.
        Deliver,
        /// Find nobody at home.
        Bounce,
        /// Give it up.
        Discard,
    }
    [*]      --> Packed;
    Packed   --> Sent      : send(Send);
    Sent     --> Delivered : deliver(Deliver);
    Sent     --> Returned  : bounce(Bounce);
    Returned --> Sent      : send(Send);
    Returned --> Discarded : discard(Discard);
    Delivered --> [*];
    Discarded --> [*];
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Label {
    #[serde(skip)]
    observer: Observer,
}

impl Label {
    pub fn observed(observer: Observer) -> Self {
        Label { observer }
    }
}

impl Record for Label {
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}
