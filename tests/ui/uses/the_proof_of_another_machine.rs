include!("../door.rs");

use runstate::kernel::{Graph, Persist, Stateful, Proof, Witness};
use serde::Serializer;

#[cfg(not(illegal))]
static OWN: Witness = Witness::at("here");

pub struct Liar(pub House);

impl Stateful for Liar {
    type Record = House;
    type Status = DoorStatus;
    const GRAPH: &'static Graph = AnyDoor::GRAPH;
    #[cfg(illegal)]
    const PROOF: Proof<Self> = AnyDoor::PROOF;
    // It compiles, and it is of no use: no snapshot is taken.
    #[cfg(not(illegal))]
    const PROOF: Proof<Self> = Proof::new(&OWN);
    fn status(&self) -> DoorStatus {
        DoorStatus::Locked
    }
    fn record(&self) -> &House {
        &self.0
    }
}

impl Persist for Liar {
    fn serialize_state<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}
