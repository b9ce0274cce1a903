//! An order is shipped that was never paid.

fn main() {
    let mut order = by_rust_fsm::Order::new(450);
    order.apply(by_rust_fsm::Input::Place).unwrap();
    order.apply(by_rust_fsm::Input::Ship).unwrap();
}
