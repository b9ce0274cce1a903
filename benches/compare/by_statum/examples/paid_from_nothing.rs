//! A paid order is made by another package, without a payment.

use by_statum::{Order, Paid, Receipt};

fn main() {
    Order::<Paid>::builder().cents(450).state_data(Receipt(String::new())).build().ship();
}
