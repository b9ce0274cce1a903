//! One harness; a module per behaviour.
