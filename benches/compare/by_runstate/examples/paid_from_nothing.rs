//! A paid order is made by another package, without a payment.

use by_runstate::{Basket, Order, Paid};

fn main() {
    let order = Order { record: Basket { cents: 450 }, state: Paid { receipt: String::new() } };
    println!("{order:?}");
}
