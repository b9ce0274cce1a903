use by_typestate::{AnyOrder, Event, Order};

#[test]
fn order_is_paid_and_shipped() {
    let declined = Order::new(450).place().pay(400, "R-7".to_owned()).unwrap_err();
    assert_eq!(declined.got, 400);
    let shipped = declined.order.pay(450, "R-7".to_owned()).unwrap().ship();
    assert_eq!(shipped.receipt(), "R-7");
    let placed = AnyOrder::Cart(Order::new(450)).apply(Event::Place).unwrap();
    assert!(placed.apply(Event::Ship).is_err());
}
