//! Random runs of agents under virtual time, judged by the documented behaviour.

pub mod campaign;
pub mod case;
pub mod exports;
pub mod judge;
pub mod play;
pub mod situations;
pub mod threads;
