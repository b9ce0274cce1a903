//! Coverage of transitions by the machines under test.

mod counter;
mod diagram;

pub use counter::EdgeCounter;
pub use diagram::coverage_diagram;
