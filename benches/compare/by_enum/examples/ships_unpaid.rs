//! An order is shipped that was never paid.

fn main() {
    let mut order = by_enum::Order::new(450);
    order.apply(by_enum::Event::Place).unwrap();
    order.apply(by_enum::Event::Ship).unwrap();
}
