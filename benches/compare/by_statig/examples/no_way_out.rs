//! No transition leads to `Lost`, and none leaves it.

use statig::prelude::*;

pub struct Ship;
#[derive(Default)]
pub struct Order;

#[state_machine(initial = "State::placed()")]
impl Order {
    #[state]
    fn placed(event: &Ship) -> Outcome<State> {
        let Ship = event;
        Transition(State::shipped())
    }

    #[state]
    fn lost() -> Outcome<State> {
        Super
    }

    #[state]
    fn shipped() -> Outcome<State> {
        Super
    }
}

fn main() {
    Order.state_machine().handle(&Ship);
}
