//! The parts that adapters of models share: limits of time, secrets, schemas of tools, and the kinds of
//! a server's failures.

mod failure;
mod limit;
mod secrets;
mod sieve;
mod tools;

pub use failure::{ErrorObject, kind_of_status, of_status, shown};
pub use limit::{Limit, Times};
pub use secrets::Secrets;
pub use sieve::Sieve;
pub use tools::parameters;
