//! The worker: what is in a store goes on, whoever decides and whatever fails.

mod clocks;
mod damaged;
mod decisions;
mod failures;
mod faulty;
mod leases;
mod parks;
mod poison;
mod sharing;
mod stalls;
mod threads;
mod world;
mod writes;
