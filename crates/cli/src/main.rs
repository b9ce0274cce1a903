//! The `runstate` command.
fn main() {}
