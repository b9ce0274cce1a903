//! A paid order is made by another package, without a payment.

use by_enum::{Order, State};

fn main() {
    let order = Order { cents: 450, state: State::Paid { receipt: String::new() } };
    println!("{order:?}");
}
