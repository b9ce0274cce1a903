//! Which edges the machines under test have taken.

mod counter;
mod diagram;

pub use counter::EdgeCounter;
pub use diagram::coverage_diagram;
