//! Records that only readers of stored machines can read.

/// Defines the record of a documented lifecycle. The record has no `Deserialize`; a reader can read it only for a
/// machine of its own lifecycle. Otherwise a record from any text could begin a machine in the middle of a life.
macro_rules! record {
    (
        $Any:ident:
        $(#[$meta:meta])*
        pub struct $Record:ident {
            $($(#[$attribute:meta])* $field:ident: $Type:ty),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, PartialEq, ::serde::Serialize)]
        pub struct $Record {
            $($(#[$attribute])* $field: $Type),+
        }

        const _: () = {
            #[derive(::serde::Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Stored {
                $($(#[$attribute])* $field: $Type),+
            }

            impl $crate::kernel::ReadRecord for $Record {
                fn read_record<'de, D: ::serde::Deserializer<'de>>(
                    permit: $crate::kernel::Rehydration<Self>,
                    deserializer: D,
                ) -> Result<Self, D::Error> {
                    $crate::lifecycle::record::of_its_own::<$Any, Self, D::Error>(&permit)?;
                    let Stored { $($field),+ } = ::serde::Deserialize::deserialize(deserializer)?;
                    Ok($Record { $($field),+ })
                }
            }
        };
    };
}

pub(super) use record;

use serde::de::Error;

use crate::kernel::{Rehydration, Stateful};

/// Checks that a record is read for a machine of its own lifecycle.
pub(super) fn of_its_own<P: Stateful, R, E: Error>(permit: &Rehydration<R>) -> Result<(), E> {
    if permit.is_of(P::GRAPH) {
        return Ok(());
    }
    Err(E::custom(format_args!("it is read for machines of {} alone", P::GRAPH.identity())))
}
