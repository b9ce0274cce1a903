//! An order is shipped that was never paid.

use by_statum::{Cart, Order};

fn main() {
    Order::<Cart>::builder().cents(450).build().place().ship();
}
