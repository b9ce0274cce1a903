use by_statig::{Event, Order, State};
use statig::blocking::IntoStateMachineExt;

#[test]
fn order_is_paid_and_shipped() {
    let mut order = Order { cents: 450, refused: None }.state_machine();
    let pay = |cents| Event::Pay { cents, receipt: "R-7".to_owned() };
    order.handle(&Event::Place);
    order.handle(&pay(400));
    assert_eq!(order.inner().refused, Some("the amount differs"));
    order.handle(&pay(450));
    order.handle(&Event::Ship);
    assert_eq!(order.state(), &State::Shipped { receipt: "R-7".to_owned() });
}
