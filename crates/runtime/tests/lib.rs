//! The files below the stores, on the machine's disk and on one that forgets.

mod real;
mod sim;
