//! An order with `statum`.

use statum::{machine, state, transition};

#[derive(Debug, Clone)]
pub struct Receipt(pub String);

#[state]
pub enum OrderState {
    Cart,
    Placed,
    Paid(Receipt),
    Shipped(Receipt),
    Cancelled,
}

#[machine]
pub struct Order<OrderState> {
    pub cents: u64,
}

pub struct Declined {
    pub order: Order<Placed>,
    pub got: u64,
}

#[transition]
impl Order<Cart> {
    pub fn place(self) -> Order<Placed> {
        self.transition()
    }
}

#[transition]
impl Order<Placed> {
    pub fn pay(self, cents: u64, receipt: String) -> ::core::result::Result<Order<Paid>, Declined> {
        if cents == self.cents {
            Ok(self.transition_with(Receipt(receipt)))
        } else {
            Err(Declined { order: self, got: cents })
        }
    }

    pub fn cancel(self) -> Order<Cancelled> {
        self.transition()
    }
}

#[transition]
impl Order<Paid> {
    pub fn ship(self) -> Order<Shipped> {
        let receipt = self.state_data.clone();
        self.transition_with(receipt)
    }
}
