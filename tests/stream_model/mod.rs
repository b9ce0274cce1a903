//! Stream sessions as the model of agent runs.

mod ends;
mod live;
mod whole;
mod world;
