//! A machine is made in the state `Paid` by another package, without a payment.

use by_rust_fsm::order_fsm::{State, StateMachine};

fn main() {
    let machine = StateMachine::from_state(State::Paid);
    println!("{:?}", machine.state());
}
