//! `Lost` loops, and no transition leads to it. A state without transitions cannot be written.

rust_fsm::state_machine! {
    #[derive(Debug)]
    pub order(Placed)

    Placed(Ship) => Shipped,
    Lost(Ship) => Lost,
}

fn main() {
    println!("{:?}", order::StateMachine::new().state());
}
