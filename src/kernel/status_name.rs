//! Parsing of state names.

use core::error::Error;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{self, Deserializer, Visitor};

use super::machine::Status;

/// The error for a text that names no state of a lifecycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownStatus {
    lifecycle: &'static str,
    got: String,
    expected: String,
}

impl fmt::Display for UnknownStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no state {:?}; expected one of {}", self.lifecycle, self.got, self.expected)
    }
}

impl Error for UnknownStatus {}

/// Finds the status with this name.
#[doc(hidden)]
pub fn status_from_name<S: Status>(name: &str) -> Result<S, UnknownStatus> {
    S::ALL.iter().copied().find(|status| status.name() == name).ok_or_else(|| UnknownStatus {
        lifecycle: S::graph().name,
        got: name.to_owned(),
        expected: S::ALL.iter().map(|status| status.name()).collect::<Vec<_>>().join(", "),
    })
}

/// Reads a status from its name.
#[doc(hidden)]
pub fn deserialize_status<'de, S: Status, D: Deserializer<'de>>(deserializer: D) -> Result<S, D::Error> {
    struct Name<S>(PhantomData<S>);

    impl<S: Status> Visitor<'_> for Name<S> {
        type Value = S;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "the name of a state of {}", S::graph().name)
        }

        fn visit_str<E: de::Error>(self, name: &str) -> Result<S, E> {
            status_from_name(name).map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Name(PhantomData))
}
