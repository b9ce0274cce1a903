//! The code that `lifecycle!` generates for one state, event, transition or terminal mark.

/// A state: a unit struct with its serde impls, or only the [`State`](crate::kernel::State) of a struct that the
/// author wrote.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_state {
    ([$($doc:literal)*] $vis:vis $S:ident [] ($R:ty, $St:ident)) => {
        $(#[doc = $doc])*
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy, ::core::cmp::PartialEq, ::core::cmp::Eq)]
        #[non_exhaustive]
        $vis struct $S;

        #[diagnostic::do_not_recommend]
        impl<__From, __Event> $crate::kernel::Enter<__From, __Event> for $S {
            #[inline]
            fn enter(_: __From, _: __Event, _: &mut $R) -> Self { $S }
        }

        #[diagnostic::do_not_recommend]
        impl $crate::kernel::Begin for $S {
            #[inline]
            fn begin(_: &mut $R) -> Self { $S }
        }

        $crate::__lifecycle_unit! { $S }
        $crate::__lifecycle_state! { [] $vis $S [..] ($R, $St) }
    };
    ([$($doc:literal)*] $vis:vis $S:ident [..] ($R:ty, $St:ident)) => {
        impl $crate::kernel::State for $S {
            type Record = $R;
            type Status = $St;
            const STATUS: $St = $St::$S;
        }
    };
    ([$($doc:literal)*] $vis:vis $S:ident [$data:tt] ($R:ty, $St:ident)) => {
        $crate::__lifecycle_mistake! { @item "state" $S { $data } }
        $crate::__lifecycle_state! { [] $vis $S [..] ($R, $St) }
    };
}

/// The serde impls of a unit struct: `null`.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_unit {
    ($S:ident) => {
        impl $crate::kernel::serde::Serialize for $S {
            fn serialize<__Z: $crate::kernel::serde::Serializer>(
                &self,
                serializer: __Z,
            ) -> ::core::result::Result<__Z::Ok, __Z::Error> {
                serializer.serialize_unit()
            }
        }

        impl<'de> $crate::kernel::serde::Deserialize<'de> for $S {
            fn deserialize<__D: $crate::kernel::serde::Deserializer<'de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                <() as $crate::kernel::serde::Deserialize<'de>>::deserialize(deserializer)?;
                ::core::result::Result::Ok($S)
            }
        }
    };
}

/// The text forms of the status enum.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_status {
    ($St:ident) => {
        impl ::core::fmt::Display for $St {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad($St::name(*self))
            }
        }

        impl ::core::str::FromStr for $St {
            type Err = $crate::kernel::UnknownStatus;
            fn from_str(name: &str) -> ::core::result::Result<Self, Self::Err> {
                $crate::kernel::status_from_name(name)
            }
        }

        impl $crate::kernel::serde::Serialize for $St {
            fn serialize<__Z: $crate::kernel::serde::Serializer>(
                &self,
                serializer: __Z,
            ) -> ::core::result::Result<__Z::Ok, __Z::Error> {
                serializer.serialize_str($St::name(*self))
            }
        }

        impl<'de> $crate::kernel::serde::Deserialize<'de> for $St {
            fn deserialize<__D: $crate::kernel::serde::Deserializer<'de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                $crate::kernel::deserialize_status(deserializer)
            }
        }
    };
}

/// An event: a unit struct, or nothing where the author wrote a struct.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_event {
    ([$($doc:literal)*] $vis:vis $E:ident []) => {
        $(#[doc = $doc])*
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy, ::core::cmp::PartialEq, ::core::cmp::Eq)]
        $vis struct $E;

        $crate::__lifecycle_unit! { $E }
    };
    ([$($doc:literal)*] $vis:vis $E:ident [..]) => {};
    ([$($doc:literal)*] $vis:vis $E:ident [$data:tt]) => {
        $crate::__lifecycle_mistake! { @item "event" $E { $data } }
    };
}

/// The stored form of the machines of a lifecycle with a version.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_stored {
    ([] $M:ident $Any:ident $R:ty, $St:ident [$($S:ident)+]) => {};
    ([$version:literal] $M:ident $Any:ident $R:ty, $St:ident [$($S:ident)+]) => {
        impl<InState> $crate::kernel::Persist for $M<InState>
        where
            InState: $crate::kernel::State<Record = $R, Status = $St> + $crate::kernel::serde::Serialize,
        {
            fn serialize_state<__Z: $crate::kernel::serde::Serializer>(
                &self,
                serializer: __Z,
            ) -> ::core::result::Result<__Z::Ok, __Z::Error> {
                $crate::kernel::serde::Serialize::serialize(&self.state, serializer)
            }
        }

        impl $crate::kernel::Persist for $Any {
            fn serialize_state<__Z: $crate::kernel::serde::Serializer>(
                &self,
                serializer: __Z,
            ) -> ::core::result::Result<__Z::Ok, __Z::Error> {
                match self { $( $Any::$S(machine) =>
                    $crate::kernel::Persist::serialize_state(machine, serializer) ),+ }
            }
        }

        impl $crate::kernel::Restore for $Any {
            fn rehydrate<'de, __Source: $crate::kernel::serde::Deserializer<'de>>(
                _: $crate::kernel::Rehydration<Self>,
                status: $St,
                record: $R,
                state: __Source,
            ) -> ::core::result::Result<Self, __Source::Error> {
                match status { $( $St::$S => {
                    let state = <$S as $crate::kernel::serde::Deserialize<'de>>::deserialize(state)?;
                    ::core::result::Result::Ok($Any::$S($M { record, state }))
                } ),+ }
            }
        }
    };
}

/// A transition method, guarded or not, and its mark.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_move {
    ($module:ident $M:ident $St:ident, $From:ident $To:ident $m:ident $Via:ident []) => {
        impl $M<$From> {
            #[doc = ::core::concat!("`", ::core::stringify!($From), " --> ", ::core::stringify!($To), "` by [`", ::core::stringify!($Via), "`].")]
            #[inline]
            pub fn $m(self, event: $Via) -> $M<$To> {
                // A constant, so that a transition needs no lookup at run time.
                const EDGE: &$crate::kernel::Edge = &THE_EDGES
                    [$crate::kernel::build::place(&THE_EDGES, $St::$From as usize, ::core::stringify!($m))];
                let $M { mut record, state } = self;
                let state = <$To as $crate::kernel::Enter<$From, $Via>>::enter(state, event, &mut record);
                $crate::kernel::build::entered::<$To>(&mut record, &__WITNESS, &THE_GRAPH, EDGE);
                $M { record, state }
            }
        }
        impl $crate::kernel::Accepts<$Via> for $M<$From> {
            type Next = $To;
            const MARK: $crate::kernel::Mark<Self, $Via> = $crate::kernel::Mark::new(
                &__WITNESS,
                $crate::kernel::build::place(&THE_EDGES, $St::$From as usize, ::core::stringify!($m)),
            );
        }

        const _: () = {
            #[allow(unused_imports, reason = "unused where the edge has a guard, which is refused")]
            use $crate::kernel::check::Unguarded as _;
            $crate::kernel::check::unguarded(
                $crate::kernel::check::GuardOf::<$To, $From, $Via>::IS_WRITTEN,
                ::core::stringify!($module),
                [NAMES[$St::$From as usize], NAMES[$St::$To as usize], ::core::stringify!($m)],
            );
        };
    };
    ($module:ident $M:ident $St:ident, $From:ident $To:ident $m:ident $Via:ident [$Fault:path]) => {
        impl $M<$From> {
            #[doc = ::core::concat!("`", ::core::stringify!($From), " --> ", ::core::stringify!($To), "` by [`", ::core::stringify!($Via), "`], if its guard lets it.")]
            ///
            /// # Errors
            #[doc = ::core::concat!("[`", ::core::stringify!($Fault), "`], with machine and event as they were.")]
            #[inline]
            #[allow(clippy::result_large_err, reason = "a failed guard hands the machine back by value")]
            pub fn $m(
                self,
                event: $Via,
            ) -> ::core::result::Result<$M<$To>, $crate::kernel::Rejected<$M<$From>, $Via, $Fault>> {
                // A constant, so that a transition needs no lookup at run time.
                const EDGE: &$crate::kernel::Edge = &THE_EDGES
                    [$crate::kernel::build::place(&THE_EDGES, $St::$From as usize, ::core::stringify!($m))];
                if let ::core::result::Result::Err(error) =
                    $crate::kernel::build::guard::<$To, $From, $Via, $Fault>(&self.state, &event, &self.record)
                {
                    return ::core::result::Result::Err($crate::kernel::Rejected { machine: self, event, error });
                }
                let $M { mut record, state } = self;
                let state = <$To as $crate::kernel::Enter<$From, $Via>>::enter(state, event, &mut record);
                $crate::kernel::build::entered::<$To>(&mut record, &__WITNESS, &THE_GRAPH, EDGE);
                ::core::result::Result::Ok($M { record, state })
            }
        }
        impl $crate::kernel::Accepts<$Via> for $M<$From> {
            type Next = $To;
            const MARK: $crate::kernel::Mark<Self, $Via> = $crate::kernel::Mark::new(
                &__WITNESS,
                $crate::kernel::build::place(&THE_EDGES, $St::$From as usize, ::core::stringify!($m)),
            );
        }
    };
}

/// One arm of `apply`.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_apply {
    ($Any:ident $Ev:ident, $machine:ident $event:ident $From:ident $To:ident $m:ident $Via:ident []) => {
        ::core::result::Result::Ok($Any::$To($machine.$m($event)))
    };
    ($Any:ident $Ev:ident, $machine:ident $event:ident $From:ident $To:ident $m:ident $Via:ident [$Fault:path]) => {
        match $machine.$m($event) {
            ::core::result::Result::Ok(machine) => ::core::result::Result::Ok($Any::$To(machine)),
            ::core::result::Result::Err(rejected) => {
                ::core::result::Result::Err($crate::kernel::Refused::by_guard(
                    $Any::$From(rejected.machine),
                    $Ev::$Via(rejected.event),
                    rejected.error,
                ))
            }
        }
    };
}

/// One arm of `check`.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_check {
    ($this:tt $event:ident $machine:ident $taken:ident $From:ident $To:ident $Via:ident []) => {
        ::core::result::Result::Ok(())
    };
    ($this:tt $event:ident $machine:ident $taken:ident $From:ident $To:ident $Via:ident [$Fault:path]) => {
        $crate::kernel::Refusal::of_guard::<$To, $From, $Via>(
            $this,
            $event,
            (&$machine.state, $taken, &$machine.record),
        )
    };
}

/// The method of a terminal state.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_end {
    (* $M:ident $R:ty, $From:ident) => {
        impl $M<$From> {
            /// Takes a finished machine apart. The caller can read the record. The record cannot begin another
            /// machine, unless it is `Reusable`.
            pub fn into_parts(self) -> ($crate::kernel::Retired<$R>, $From) {
                ($crate::kernel::Retired::new(self.record), self.state)
            }
        }
    };
}

/// Expands to the second of two arguments. The first argument only drives the repetition.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_keep {
    ($mark:tt, $kept:expr) => {
        $kept
    };
}
