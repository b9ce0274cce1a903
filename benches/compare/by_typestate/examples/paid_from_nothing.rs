//! A paid order is made by another package, without a payment.

use by_typestate::{Order, Paid};

fn main() {
    let order = Order { cents: 450, state: Paid { receipt: String::new() } };
    println!("{order:?}");
}
