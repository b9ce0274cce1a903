use by_rust_fsm::{Input, Order, Refused, State};

#[test]
fn order_is_paid_and_shipped() {
    let mut order = Order::new(450);
    order.apply(Input::Place).unwrap();
    assert_eq!(order.pay(400, "R-7".to_owned()), Err(Refused::Declined { got: 400, expected: 450 }));
    order.pay(450, "R-7".to_owned()).unwrap();
    order.apply(Input::Ship).unwrap();
    assert_eq!((order.state(), order.receipt()), (State::Shipped, Some("R-7")));
}
