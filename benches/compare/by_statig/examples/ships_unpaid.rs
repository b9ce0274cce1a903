//! An order is shipped that was never paid.

use statig::blocking::IntoStateMachineExt;

fn main() {
    let mut order = by_statig::Order { cents: 450, refused: None }.state_machine();
    order.handle(&by_statig::Event::Place);
    order.handle(&by_statig::Event::Ship);
}
