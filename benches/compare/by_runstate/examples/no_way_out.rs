//! No transition leads to `Lost`, and none leaves it.

use runstate::kernel::Record;

runstate::lifecycle! {
    mod order: Order(Basket), AnyOrder;
    status OrderStatus { Placed, Lost, Shipped }
    event OrderEvent { Ship }
    [*]     --> Placed;
    Placed  --> Shipped : ship(Ship);
    Shipped --> [*];
}

#[derive(Debug)]
struct Basket;
impl Record for Basket {}

fn main() {
    println!("{:?} {:?}", Order::new(Basket).ship(Ship), AnyOrder::new(Basket));
}
