//! An order is shipped that was never paid.

use by_runstate::{Basket, Order, Place, Ship};

fn main() {
    Order::new(Basket { cents: 450 }).place(Place).ship(Ship);
}
