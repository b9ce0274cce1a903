//! An order with `statig`.

use statig::prelude::*;

#[derive(Debug)]
pub enum Event {
    Place,
    Pay { cents: u64, receipt: String },
    Ship,
    Cancel,
}

#[derive(Debug, Default)]
pub struct Order {
    pub cents: u64,
    /// The reason why the last event was refused. A handler has no other way to return it.
    pub refused: Option<&'static str>,
}

#[state_machine(initial = "State::cart()", state(derive(Debug, PartialEq)))]
impl Order {
    #[state(superstate = "any")]
    fn cart(event: &Event) -> Outcome<State> {
        match event {
            Event::Place => Transition(State::placed()),
            _ => Super,
        }
    }

    #[state(superstate = "any")]
    fn placed(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Pay { cents, .. } if *cents != self.cents => {
                self.refused = Some("the amount differs");
                Handled
            }
            Event::Pay { receipt, .. } => Transition(State::paid(receipt.clone())),
            Event::Cancel => Transition(State::cancelled()),
            _ => Super,
        }
    }

    #[state(superstate = "any")]
    fn paid(receipt: &mut String, event: &Event) -> Outcome<State> {
        match event {
            Event::Ship => Transition(State::shipped(receipt.clone())),
            _ => Super,
        }
    }

    #[state(superstate = "any")]
    fn shipped(receipt: &mut String) -> Outcome<State> {
        let _ = receipt;
        Super
    }

    #[state(superstate = "any")]
    fn cancelled() -> Outcome<State> {
        Super
    }

    #[superstate]
    fn any(&mut self) -> Outcome<State> {
        self.refused = Some("the state has no transition for the event");
        Handled
    }
}
