use by_runstate::{AnyOrder, Basket, Order, Pay, Place, Ship};

#[test]
fn order_is_paid_and_shipped() {
    let pay = |cents| Pay { cents, receipt: "R-7".to_owned() };
    let declined = Order::new(Basket { cents: 450 }).place(Place).pay(pay(400)).unwrap_err();
    assert_eq!(declined.error.got, 400);
    let shipped = declined.machine.pay(pay(450)).unwrap().ship(Ship);
    assert_eq!(shipped.state().receipt, "R-7");
    let placed = AnyOrder::new(Basket { cents: 450 }).apply(Place.into()).unwrap();
    assert!(placed.apply(Ship.into()).is_err());
}
