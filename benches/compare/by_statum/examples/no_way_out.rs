//! No transition leads to `Lost`, and none leaves it.

use statum::{machine, state, transition};

#[state]
pub enum OrderState {
    Placed,
    Lost,
    Shipped,
}

#[machine]
pub struct Order<OrderState> {}

#[transition]
impl Order<Placed> {
    pub fn ship(self) -> Order<Shipped> {
        self.transition()
    }
}

fn main() {
    let _ = Order::<Placed>::builder().build().ship();
}
