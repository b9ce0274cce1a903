//! An order with faults that can be switched on: a system that knows nothing of the fuzzer.

use runstate::diagram::{StateGraph, parse};
use runstate_fuzz::{Broken, Config, Fuzz, Map, Reply, Report, Sut};
use serde_json::{Value, json};

pub(crate) const DIAGRAM: &str = "stateDiagram-v2
    [*] --> Created
    Created --> Paid : pay [the amount is enough]
    Created --> Cancelled : cancel
    Paid --> Shipped : ship
    Paid --> Refunded : refund
    Shipped --> Delivered : deliver
    Shipped --> Returned : return
    Returned --> Refunded : refund
    Delivered --> [*]
    Cancelled --> [*]
    Refunded --> [*]";

pub(crate) fn graph(source: &str) -> StateGraph {
    StateGraph::from_diagram(&parse(source).unwrap(), "order").unwrap()
}

pub(crate) fn map() -> Map {
    let config = Config::parse("payloads: {pay: {object: {amount: {int: {min: 0, max: 100}}}}}").unwrap();
    Map::new(&graph(DIAGRAM), &config).unwrap()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Fault {
    #[default]
    None,
    /// A shipped order can be paid again.
    PaysTwice,
    /// A paid order cannot be refunded.
    RefusesRefund,
    /// A refused payment cancels.
    MovesOnRefusal,
    /// A return leads to `Refunded` at once.
    WrongTarget,
    /// A refused event is remembered: the second delivery after one is refused.
    HiddenDamage,
    /// A payment of exactly 77 panics.
    PanicsOnPayload,
    /// The order begins paid.
    WrongStart,
    /// A state that the diagram lacks.
    UnknownState,
    /// After a return and a refund a payment is taken.
    FiveSteps,
    /// A reset does not clear the order's count, and the fourth order is refused to be paid.
    Leaks,
}

#[derive(Debug, Default)]
pub(crate) struct Order {
    pub(crate) fault: Fault,
    state: &'static str,
    refusals: u32,
    returned: bool,
    orders: u32,
}

impl Order {
    pub(crate) fn with(fault: Fault) -> Self {
        Order { fault, ..Order::default() }
    }
}

impl Sut for Order {
    fn reset(&mut self) -> Result<String, Broken> {
        self.state = if self.fault == Fault::WrongStart { "Paid" } else { "Created" };
        (self.refusals, self.returned) = (0, false);
        self.orders += 1;
        Ok(self.state.to_owned())
    }

    fn renew(&mut self) -> Result<String, Broken> {
        self.orders = 0;
        self.reset()
    }

    fn state(&mut self) -> Result<String, Broken> {
        Ok(self.state.to_owned())
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        let amount = payload["amount"].as_i64().unwrap_or_default();
        let has = |fault| self.fault == fault;
        let to = match (self.state, event) {
            ("Created", "pay") if has(Fault::PanicsOnPayload) && amount >= 77 => {
                panic!("no change for {amount}")
            }
            ("Created", "pay") if has(Fault::Leaks) && self.orders >= 4 => None,
            ("Created", "pay") if amount >= 10 => Some("Paid"),
            ("Created", "pay") if has(Fault::MovesOnRefusal) => {
                self.state = "Cancelled";
                return Ok(Reply::refused("too little", self.state));
            }
            ("Created", "cancel") if has(Fault::Leaks) && self.orders == 4 => None,
            ("Created", "cancel") if has(Fault::UnknownState) => Some("Scrapped"),
            ("Created", "cancel") => Some("Cancelled"),
            ("Paid", "ship") => Some("Shipped"),
            ("Paid", "refund") if has(Fault::RefusesRefund) => None,
            ("Paid", "refund") => Some("Refunded"),
            ("Shipped", "deliver") if has(Fault::HiddenDamage) && self.refusals >= 2 => None,
            ("Shipped", "deliver") => Some("Delivered"),
            ("Shipped", "pay") if has(Fault::PaysTwice) => Some("Paid"),
            ("Shipped", "return") if has(Fault::WrongTarget) => Some("Refunded"),
            ("Shipped", "return") => Some("Returned"),
            ("Returned", "refund") => Some("Refunded"),
            ("Refunded", "pay") if has(Fault::FiveSteps) && self.returned => Some("Paid"),
            _ => None,
        };
        match to {
            Some(to) => {
                self.returned |= to == "Returned";
                self.state = to;
                Ok(Reply::taken(to).with_data(json!({ "at": to })))
            }
            None => {
                self.refusals += 1;
                Ok(Reply::refused("not now", self.state))
            }
        }
    }
}

pub(crate) fn fuzz(fault: Fault) -> Report {
    Fuzz::new(map()).seed(3).run(&mut Order::with(fault)).unwrap()
}
