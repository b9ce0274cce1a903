//! An order as a typestate by hand.

#[derive(Debug)]
pub struct Order<S> {
    cents: u64,
    state: S,
}

#[derive(Debug)]
pub struct Cart(());
#[derive(Debug)]
pub struct Placed(());
#[derive(Debug)]
pub struct Paid {
    receipt: String,
}
#[derive(Debug)]
pub struct Shipped {
    receipt: String,
}
#[derive(Debug)]
pub struct Cancelled(());

#[derive(Debug)]
pub struct Declined {
    pub order: Order<Placed>,
    pub got: u64,
}

impl Order<Cart> {
    pub fn new(cents: u64) -> Self {
        Order { cents, state: Cart(()) }
    }

    pub fn place(self) -> Order<Placed> {
        Order { cents: self.cents, state: Placed(()) }
    }
}

impl Order<Placed> {
    pub fn pay(self, cents: u64, receipt: String) -> Result<Order<Paid>, Declined> {
        if cents == self.cents {
            Ok(Order { cents, state: Paid { receipt } })
        } else {
            Err(Declined { order: self, got: cents })
        }
    }

    pub fn cancel(self) -> Order<Cancelled> {
        Order { cents: self.cents, state: Cancelled(()) }
    }
}

impl Order<Paid> {
    pub fn ship(self) -> Order<Shipped> {
        Order { cents: self.cents, state: Shipped { receipt: self.state.receipt } }
    }
}

impl Order<Shipped> {
    pub fn receipt(&self) -> &str {
        &self.state.receipt
    }
}

/// An order in any state, for storage and queues.
#[derive(Debug)]
pub enum AnyOrder {
    Cart(Order<Cart>),
    Placed(Order<Placed>),
    Paid(Order<Paid>),
    Shipped(Order<Shipped>),
    Cancelled(Order<Cancelled>),
}

#[derive(Debug)]
pub enum Event {
    Place,
    Pay { cents: u64, receipt: String },
    Ship,
    Cancel,
}

impl AnyOrder {
    /// An event that the state refuses returns the order as it was.
    pub fn apply(self, event: Event) -> Result<AnyOrder, AnyOrder> {
        match (self, event) {
            (AnyOrder::Cart(order), Event::Place) => Ok(AnyOrder::Placed(order.place())),
            (AnyOrder::Placed(order), Event::Pay { cents, receipt }) => match order.pay(cents, receipt) {
                Ok(order) => Ok(AnyOrder::Paid(order)),
                Err(declined) => Err(AnyOrder::Placed(declined.order)),
            },
            (AnyOrder::Placed(order), Event::Cancel) => Ok(AnyOrder::Cancelled(order.cancel())),
            (AnyOrder::Paid(order), Event::Ship) => Ok(AnyOrder::Shipped(order.ship())),
            (order, _) => Err(order),
        }
    }
}
