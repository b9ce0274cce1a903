//! An order is shipped that was never paid.

fn main() {
    by_typestate::Order::new(450).place().ship();
}
