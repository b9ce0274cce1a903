//! The parts that adapters of models share: limits of time, secrets, tools and their calls, and the kinds of
//! a server's failures.

mod failure;
mod ids;
mod limit;
mod secrets;
mod sieve;
mod tools;

pub use failure::{ErrorObject, kind_of_status, of_status, shown};
pub use ids::CallIds;
pub use limit::{Limit, Times};
pub use secrets::Secrets;
pub use sieve::Sieve;
pub use tools::parameters;
