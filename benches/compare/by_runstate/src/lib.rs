//! An order with `runstate`.

use runstate::kernel::{Enter, Guard, Record};

runstate::lifecycle! {
    /// An order.
    pub mod order: Order(Basket), AnyOrder;
    diagram "../order.md";
    status OrderStatus { Cart, Placed, Paid { .. }, Shipped { .. }, Cancelled }
    event OrderEvent { Place, Pay { .. }, Ship, Cancel }
    [*]       --> Cart;
    Cart      --> Placed    : place(Place);
    Placed    --> Paid      : pay(Pay) else Declined;
    Placed    --> Cancelled : cancel(Cancel);
    Paid      --> Shipped   : ship(Ship);
    Shipped   --> [*];
    Cancelled --> [*];
}

#[derive(Debug)]
pub struct Basket {
    pub cents: u64,
}

impl Record for Basket {}

#[derive(Debug)]
pub struct Paid {
    receipt: String,
}

#[derive(Debug)]
pub struct Shipped {
    pub receipt: String,
}

#[derive(Debug)]
pub struct Pay {
    pub cents: u64,
    pub receipt: String,
}

#[derive(Debug)]
pub struct Declined {
    pub got: u64,
}

impl std::fmt::Display for Declined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "got {} cents", self.got)
    }
}

impl std::error::Error for Declined {}

impl Guard<Placed, Pay> for Paid {
    type Error = Declined;

    fn check(_: &Placed, event: &Pay, basket: &Basket) -> Result<(), Declined> {
        if event.cents == basket.cents { Ok(()) } else { Err(Declined { got: event.cents }) }
    }
}

impl Enter<Placed, Pay> for Paid {
    fn enter(_: Placed, event: Pay, _: &mut Basket) -> Self {
        Paid { receipt: event.receipt }
    }
}

impl Enter<Paid, Ship> for Shipped {
    fn enter(from: Paid, _: Ship, _: &mut Basket) -> Self {
        Shipped { receipt: from.receipt }
    }
}
