//! The same machine as one would write it without the macro.

#[derive(Debug, Default)]
pub struct Label {
    pub id: u64,
    pub moves: u64,
}

#[derive(Debug)]
pub struct New {
    pub label: Label,
}
#[derive(Debug)]
pub struct Moving {
    pub label: Label,
    pub to: u64,
}
#[derive(Debug)]
pub struct Held {
    pub label: Label,
    pub to: u64,
    pub why: u64,
}
#[derive(Debug)]
pub struct Arrived {
    pub label: Label,
    pub at: u64,
}

impl New {
    #[inline]
    pub fn start(self, to: u64) -> Moving {
        let mut label = self.label;
        label.moves += 1;
        Moving { label, to }
    }
}
impl Moving {
    #[inline]
    pub fn hold(self, why: u64) -> Held {
        let mut label = self.label;
        label.moves += 1;
        Held { label, to: self.to, why }
    }
    #[inline]
    pub fn arrive(self) -> Arrived {
        let mut label = self.label;
        label.moves += 1;
        Arrived { label, at: self.to }
    }
}
impl Held {
    #[inline]
    pub fn free(self) -> Moving {
        let mut label = self.label;
        label.moves += 1;
        Moving { label, to: self.to }
    }
}

#[derive(Debug)]
pub enum Parcel {
    New(New),
    Moving(Moving),
    Held(Held),
    Arrived(Arrived),
}

#[derive(Debug)]
pub enum Event {
    Start { to: u64 },
    Hold { why: u64 },
    Free,
    Arrive,
}

#[derive(Debug)]
pub struct Refused(pub Box<(Parcel, Event)>);

impl Parcel {
    #[inline]
    pub fn apply(self, event: Event) -> Result<Parcel, Refused> {
        match (self, event) {
            (Parcel::New(parcel), Event::Start { to }) => Ok(Parcel::Moving(parcel.start(to))),
            (Parcel::Moving(parcel), Event::Hold { why }) => Ok(Parcel::Held(parcel.hold(why))),
            (Parcel::Held(parcel), Event::Free) => Ok(Parcel::Moving(parcel.free())),
            (Parcel::Moving(parcel), Event::Arrive) => Ok(Parcel::Arrived(parcel.arrive())),
            (parcel, event) => Err(Refused(Box::new((parcel, event)))),
        }
    }
}
