//! The parts that drivers of agent runs are made of.

mod answer;
mod event;
mod keys;
mod stop;
