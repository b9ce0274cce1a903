use by_statum::{Cart, Order};

#[test]
fn order_is_paid_and_shipped() {
    let placed = Order::<Cart>::builder().cents(450).build().place();
    let Err(declined) = placed.pay(400, "R-7".to_owned()) else { panic!("a wrong amount is taken") };
    assert_eq!(declined.got, 400);
    let Ok(paid) = declined.order.pay(450, "R-7".to_owned()) else { panic!("the amount is refused") };
    assert_eq!(paid.ship().state_data.0, "R-7");
}
