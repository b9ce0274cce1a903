//! No transition leads to `Lost`, and none leaves it.

#[derive(Debug)]
pub enum State {
    Placed,
    Lost,
    Shipped,
}

pub fn ship(state: State) -> Result<State, State> {
    match state {
        State::Placed => Ok(State::Shipped),
        other => Err(other),
    }
}

fn main() {
    println!("{:?}", ship(State::Placed));
}
