//! An order as an enum by hand.

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Cart,
    Placed,
    Paid { receipt: String },
    Shipped { receipt: String },
    Cancelled,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Place,
    Pay { cents: u64, receipt: String },
    Ship,
    Cancel,
}

#[derive(Debug, PartialEq)]
pub enum Refused {
    Illegal { state: State, event: Event },
    Declined { got: u64, expected: u64 },
}

#[derive(Debug)]
pub struct Order {
    cents: u64,
    state: State,
}

impl Order {
    pub fn new(cents: u64) -> Self {
        Order { cents, state: State::Cart }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn apply(&mut self, event: Event) -> Result<(), Refused> {
        self.state = match (&self.state, event) {
            (State::Cart, Event::Place) => State::Placed,
            (State::Placed, Event::Pay { cents, .. }) if cents != self.cents => {
                return Err(Refused::Declined { got: cents, expected: self.cents });
            }
            (State::Placed, Event::Pay { receipt, .. }) => State::Paid { receipt },
            (State::Placed, Event::Cancel) => State::Cancelled,
            (State::Paid { receipt }, Event::Ship) => State::Shipped { receipt: receipt.clone() },
            (state, event) => return Err(Refused::Illegal { state: state.clone(), event }),
        };
        Ok(())
    }
}
