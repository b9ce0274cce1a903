//! A machine is put into the state `Paid` by another package, without a payment.

use by_statig::{Order, State};
use statig::blocking::IntoStateMachineExt;

fn main() {
    let mut order = Order { cents: 450, refused: None }.state_machine();
    *order.state_mut() = State::Paid { receipt: String::new() };
}
