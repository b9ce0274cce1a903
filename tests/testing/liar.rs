//! A door that lies, each time in one way, and a graph that is wrong about doors.
use std::cell::Cell;
use std::fmt;

use proptest::prelude::*;
use proptest::strategy::LazyJust;
use runstate::kernel::{
    Edge, Event, Graph, Machine, Observer, Persist, Proof, Record, Refusal, Refused, Rehydration, Restore,
    Stateful, Witness, build,
};
use runstate::testing::Subject;
use runstate::testing::example::{AnyDoor, Close, DoorEvent, DoorStatus, Doors, Frame, Lock, Unlock};
use serde::{Deserializer, Serialize, Serializer};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Lie {
    #[default]
    None,
    RefusalChangesMachine,
    RefusalChangesEvent,
    TakesUndeclaredEdge,
    RefusesDeclaredEdge,
    TellsAnotherEdge,
    LeadsElsewhereAtTimes,
    GuardNeverPasses,
    SubjectGivesAnotherEvent,
}

/// Doors that tell this lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Liars(pub(super) Lie);

/// What a lying door remembers; its observer is beside the door's own.
#[derive(Debug, Default, Serialize)]
pub(super) struct Memory {
    lie: u8,
    count: u32,
    #[serde(skip)]
    observer: Observer,
}

impl Record for Memory {
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}

/// The liar's own: it has no proof for the graph of the doors, so it says what the doors' graph says.
static OWN: Witness = Witness::at("here");

const fn edge(place: usize) -> Edge {
    let Edge { lifecycle, from, from_index, event, to, to_index, .. } = &AnyDoor::GRAPH.edges[place];
    build::edge(&OWN, lifecycle, (from, *from_index), event, (to, *to_index))
}

static GRAPH: Graph = build::graph(
    &OWN,
    &build::Names { name: "door", package: None, identity: &[] },
    "",
    1,
    AnyDoor::GRAPH.states,
    AnyDoor::GRAPH.events,
    &[edge(0), edge(1), edge(2), edge(3), edge(4)],
);

#[derive(Debug)]
pub(super) struct Liar {
    lie: Lie,
    door: AnyDoor,
    memory: Memory,
}

#[derive(Debug)]
pub(super) struct Said(DoorEvent);

impl Event for Said {
    const NAMES: &'static [&'static str] = DoorEvent::NAMES;
    fn name(&self) -> &'static str {
        self.0.name()
    }
}

impl Stateful for Liar {
    type Record = Memory;
    type Status = DoorStatus;
    const GRAPH: &'static Graph = &GRAPH;
    const PROOF: Proof<Self> = Proof::new(&OWN);
    fn status(&self) -> DoorStatus {
        self.door.status()
    }
    fn record(&self) -> &Memory {
        &self.memory
    }
}

impl Persist for Liar {
    fn serialize_state<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.door.serialize_state(serializer)
    }
}

impl Machine for Liar {
    type Event = Said;

    fn create(memory: Memory) -> Self {
        let lie = LIES[usize::from(memory.lie)];
        Liar { lie, door: AnyDoor::new(Frame::default()), memory }
    }

    fn apply(mut self, Said(event): Said) -> Result<Self, Refused<Self>> {
        let from = self.door.status();
        let edge = Self::GRAPH.edge(from.name(), event.name());
        let locked = |door: AnyDoor| door.apply(Lock { key: 1 }.into());
        match (self.lie, from, event.name()) {
            (Lie::TakesUndeclaredEdge, DoorStatus::Gone, "reopen") => {
                self.door = AnyDoor::new(Frame::default());
                return Ok(self);
            }
            (Lie::RefusesDeclaredEdge, DoorStatus::Shut, "lock") => {
                return Err(Refused::no_edge(self, Said(event)));
            }
            (Lie::GuardNeverPasses, DoorStatus::Locked, "unlock") => {
                return Err(Refused::by_guard(self, Said(event), fmt::Error));
            }
            (Lie::LeadsElsewhereAtTimes, DoorStatus::Open, "close") if odd() => {
                self.door = locked(self.door.apply(event).unwrap()).unwrap();
                return Ok(self);
            }
            _ => {}
        }
        let Liar { lie, door, mut memory } = self;
        match door.apply(event) {
            Ok(door) => {
                let told = if lie == Lie::TellsAnotherEdge && from == DoorStatus::Shut {
                    &Self::GRAPH.edges[0]
                } else {
                    edge.unwrap()
                };
                build::moved(&mut memory, &OWN, Self::GRAPH, told);
                Ok(Liar { lie, door, memory })
            }
            Err(refused) => {
                let by_guard = refused.guard().is_some();
                let (door, mut event) = refused.into_parts();
                match lie {
                    Lie::RefusalChangesMachine => memory.count += 1,
                    Lie::RefusalChangesEvent if matches!(event, DoorEvent::Lock(_)) => {
                        event = Lock { key: 99 }.into();
                    }
                    _ => {}
                }
                let liar = Liar { lie, door, memory };
                if by_guard {
                    Err(Refused::by_guard(liar, Said(event), fmt::Error))
                } else {
                    Err(Refused::no_edge(liar, Said(event)))
                }
            }
        }
    }

    fn check<'a>(&'a self, event: &'a Said) -> Result<(), Refusal<'a, Self>> {
        self.door.check(&event.0).map_err(|_| Refusal::no_edge(self, event))
    }

    fn observe(&mut self, observer: Observer) {
        self.memory.observer = observer;
    }
}

impl Restore for Liar {
    fn rehydrate<'de, D: Deserializer<'de>>(
        _: Rehydration<Self>,
        _: DoorStatus,
        _: Memory,
        _: D,
    ) -> Result<Self, D::Error> {
        unreachable!("no test restores a lying door")
    }
}

/// Every second time.
fn odd() -> bool {
    thread_local!(static TIMES: Cell<u32> = const { Cell::new(0) });
    TIMES.set(TIMES.get() + 1);
    TIMES.get() % 2 == 1
}

const LIES: [Lie; 9] = [
    Lie::None,
    Lie::RefusalChangesMachine,
    Lie::RefusalChangesEvent,
    Lie::TakesUndeclaredEdge,
    Lie::RefusesDeclaredEdge,
    Lie::TellsAnotherEdge,
    Lie::LeadsElsewhereAtTimes,
    Lie::GuardNeverPasses,
    Lie::SubjectGivesAnotherEvent,
];

impl Subject for Liars {
    type Machine = Liar;

    fn record(&self) -> Memory {
        let lie = LIES.iter().position(|lie| *lie == self.0).unwrap();
        Memory { lie: u8::try_from(lie).unwrap(), ..Memory::default() }
    }

    fn event(&self, liar: &Liar, name: &'static str) -> BoxedStrategy<Said> {
        match name {
            "remove" if self.0 == Lie::SubjectGivesAnotherEvent => {
                LazyJust::new(|| Said(Close.into())).boxed()
            }
            "lock" => LazyJust::new(|| Said(Lock { key: 1 }.into())).boxed(),
            "unlock" => LazyJust::new(|| Said(Unlock { key: 1 }.into())).boxed(),
            name => Doors.event(&liar.door, name).prop_map(Said).boxed(),
        }
    }
}

/// Doors, with one edge too many, one too few, one that leads elsewhere, and one from a state that no door has.
pub(super) fn wrong_graph() -> &'static Graph {
    const STATES: &[runstate::kernel::StateInfo] = &[
        build::state("Shut", "", 0, 0, &[]),
        build::state("Open", "", 1, 0, &[]),
        build::state("Locked", "", 2, 0, &[]),
        build::state("Ajar", "", 3, 0, &[]),
    ];
    const EDGES: &[Edge] = &[
        build::edge(&OWN, "door", ("Open", 1), "close", ("Locked", 2)),
        build::edge(&OWN, "door", ("Shut", 0), "reopen", ("Open", 1)),
        build::edge(&OWN, "door", ("Shut", 0), "lock", ("Locked", 2)),
        build::edge(&OWN, "door", ("Locked", 2), "reopen", ("Open", 1)),
        build::edge(&OWN, "door", ("Ajar", 3), "close", ("Shut", 0)),
        build::edge(&OWN, "door", ("Shut", 0), "slam", ("Shut", 0)),
    ];
    static GRAPH: Graph = build::graph(
        &OWN,
        &build::Names { name: "door", package: None, identity: &[] },
        "",
        1,
        STATES,
        &["close", "reopen", "lock", "unlock", "remove"],
        EDGES,
    );
    &GRAPH
}
