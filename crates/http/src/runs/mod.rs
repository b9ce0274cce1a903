//! The endpoints of runs.

pub(crate) mod act;
pub(crate) mod events;
pub(crate) mod list;
pub(crate) mod query;
pub(crate) mod read;
