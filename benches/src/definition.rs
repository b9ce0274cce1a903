// The machine by the macro; included where `Label`, its record, is defined.

use runstate::kernel::Enter;
use runstate::lifecycle;
use serde::{Deserialize, Serialize};

lifecycle! {
    /// A parcel on its way.
    pub mod parcel: Parcel(Label), AnyParcel;
    version 1;
    diagram "parcel.md";
    status ParcelStatus {
        /// Not yet on its way.
        New,
        /// On its way.
        Moving { .. },
        /// Held up.
        Held { .. },
        /// There.
        Arrived { .. },
    }
    event ParcelEvent {
        /// Off it goes.
        Start { .. },
        /// It is held up.
        Hold { .. },
        /// It goes on.
        Free,
        /// It is there.
        Arrive,
    }
    [*]     --> New;
    New     --> Moving  : start(Start);
    Moving  --> Held    : hold(Hold);
    Held    --> Moving  : free(Free);
    Moving  --> Arrived : arrive(Arrive);
    Arrived --> [*];
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Moving {
    pub to: u64,
}
#[derive(Debug, Serialize, Deserialize)]
pub struct Held {
    pub to: u64,
    pub why: u64,
}
#[derive(Debug, Serialize, Deserialize)]
pub struct Arrived {
    pub at: u64,
}
#[derive(Debug)]
pub struct Start {
    pub to: u64,
}
#[derive(Debug)]
pub struct Hold {
    pub why: u64,
}

impl Enter<New, Start> for Moving {
    #[inline]
    fn enter(_: New, event: Start, label: &mut Label) -> Self {
        label.moves += 1;
        Moving { to: event.to }
    }
}
impl Enter<Moving, Hold> for Held {
    #[inline]
    fn enter(from: Moving, event: Hold, label: &mut Label) -> Self {
        label.moves += 1;
        Held { to: from.to, why: event.why }
    }
}
impl Enter<Held, Free> for Moving {
    #[inline]
    fn enter(from: Held, _: Free, label: &mut Label) -> Self {
        label.moves += 1;
        Moving { to: from.to }
    }
}
impl Enter<Moving, Arrive> for Arrived {
    #[inline]
    fn enter(from: Moving, _: Arrive, label: &mut Label) -> Self {
        label.moves += 1;
        Arrived { at: from.to }
    }
}
