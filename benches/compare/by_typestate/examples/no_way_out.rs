//! No transition leads to `Lost`, and none leaves it.

#[derive(Debug)]
pub struct Order<S>(S);
#[derive(Debug)]
pub struct Placed;
#[derive(Debug)]
pub struct Lost;
#[derive(Debug)]
pub struct Shipped;

impl Order<Placed> {
    pub fn ship(self) -> Order<Shipped> {
        Order(Shipped)
    }
}

fn main() {
    println!("{:?} {:?}", Order(Placed).ship(), Order(Lost));
}
