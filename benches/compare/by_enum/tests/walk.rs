use by_enum::{Event, Order, Refused, State};

#[test]
fn order_is_paid_and_shipped() {
    let mut order = Order::new(450);
    order.apply(Event::Place).unwrap();
    let pay = |cents| Event::Pay { cents, receipt: "R-7".to_owned() };
    assert_eq!(order.apply(pay(400)), Err(Refused::Declined { got: 400, expected: 450 }));
    order.apply(pay(450)).unwrap();
    order.apply(Event::Ship).unwrap();
    assert_eq!(order.state(), &State::Shipped { receipt: "R-7".to_owned() });
}
