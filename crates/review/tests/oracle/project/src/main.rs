//! Writes the trace of a tour.

fn main() {
    let salt = std::env::args().nth(1).unwrap_or_default();
    for event in parcels::deliver(&["home", "abroad", "home", "abroad"], &salt).events() {
        println!("{}", event.to_json());
    }
}
