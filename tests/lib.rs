//! One harness; a module per behaviour.

mod diagram;
