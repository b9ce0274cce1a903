//! Random runs of agents under virtual time, judged by what the documents say.

pub mod campaign;
pub mod case;
pub mod exports;
pub mod judge;
pub mod play;
pub mod situations;
