//! An order with `rust-fsm`. Its machine has no data: the order around it has the data and the guard.

use rust_fsm::state_machine;

state_machine! {
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub order_fsm(Cart)

    Cart(Place) => Placed,
    Placed => {
        Pay => Paid,
        Cancel => Cancelled,
    },
    Paid(Ship) => Shipped,
}

pub use order_fsm::{Input, State};

#[derive(Debug, PartialEq)]
pub enum Refused {
    Illegal { state: State, event: Input },
    Declined { got: u64, expected: u64 },
}

pub struct Order {
    cents: u64,
    receipt: Option<String>,
    machine: order_fsm::StateMachine,
}

impl Order {
    pub fn new(cents: u64) -> Self {
        Order { cents, receipt: None, machine: order_fsm::StateMachine::new() }
    }

    pub fn state(&self) -> State {
        *self.machine.state()
    }

    pub fn receipt(&self) -> Option<&str> {
        self.receipt.as_deref()
    }

    pub fn apply(&mut self, event: Input) -> Result<(), Refused> {
        let state = self.state();
        self.machine.consume(&event).map(drop).map_err(|_| Refused::Illegal { state, event })
    }

    pub fn pay(&mut self, cents: u64, receipt: String) -> Result<(), Refused> {
        if self.state() == State::Placed && cents != self.cents {
            return Err(Refused::Declined { got: cents, expected: self.cents });
        }
        self.apply(Input::Pay)?;
        self.receipt = Some(receipt);
        Ok(())
    }
}
