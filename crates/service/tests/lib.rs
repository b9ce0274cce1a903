//! Tests of the run service.
