//! `lifecycle!`: one definition generates the types, the transition methods, the graph and their checks.

/// Defines a lifecycle: its typed states, its transitions, its dynamic wrapper and its graph.
///
/// A definition has the form of the diagram that documents it. The compiler checks that diagram against the
/// definition.
///
/// ```text
/// lifecycle! {
///     /// A description of the lifecycle.
///     pub mod NAME: Machine(Record), AnyMachine;      // `NAME` is the lifecycle's name in traces
///     version 1;                                      // the schema version of snapshots, at least 1; without it there are none
///     identity "shop/order";                          // the name in stored data; default: package/NAME
///     diagram "path/to/diagram.md" heading "Order";   // relative to this source file; the heading is optional
///     status StatusEnum { /// doc
///         Plain, /// doc
///         WithData { .. }, /// doc
///         Renamed = "NAME_IN_DIAGRAM" }
///     #[derive(Clone)]                                // attributes of the event enum; optional
///     event EventEnum { /// doc
///         Plain, /// doc
///         WithData { .. } }
///     [*]   --> First;
///     First --> Second : go_on(GoOn);                 // the method `go_on` takes the event `GoOn`
///     First --> Third  : finish(Finish) else NotYet;  // guarded: it fails with `NotYet`
///     Third --> [*];
/// }
/// ```
///
/// `Plain` makes a unit struct. For `WithData { .. }` you write a struct of that name beside the definition. A
/// state's struct and an event's struct need `Debug`. With a `version`, a state's struct also needs `Serialize` and
/// `Deserialize`; without one, a state may own a socket, a sender or a join handle. The effect of a transition is
/// written in an [`Enter`](crate::kernel::Enter) of its target state, a guard in a [`Guard`](crate::kernel::Guard).
///
/// The definition makes, beside the states and events:
/// - `Machine<State>`: the typed machine, with `new` in its initial state, a method per transition on its source
///   state alone, and `into_parts` in terminal states. It is not `Clone`. Its fields are private to the definition;
/// - `AnyMachine`: the enum of the typed machines; its `apply` routes an event to the typed transition or refuses it;
/// - `StatusEnum` and `EventEnum`, and an [`Accepts`](crate::kernel::Accepts) mark per transition.
///
/// The diagram is the Mermaid block of a Markdown file, the block below the heading, or a whole file `.mmd`. Without the
/// line `diagram` the graph is compared with nothing; `StateGraph::from(AnyMachine::GRAPH).to_mermaid()`
/// of [`diagram`](crate::diagram) is one to start from.
///
/// The visibility is `pub`, `pub(crate)`, `pub(super)`, `pub(in crate::path)` or private. A module holds at most one lifecycle, and a
/// function holds none. States have nouns or participles as names, events imperatives, because both live in one
/// namespace.
///
/// # Compile errors
/// A call of a transition that the graph lacks; a diagram that differs in a state, a transition, an event's name, an
/// initial or terminal mark; an unreachable state; a dead end; a terminal state with an outgoing transition; two
/// transitions from a state by one event; an event on no transition; a method that is not the snake case of its
/// event; a guard on a transition without `else`.
///
/// # Example
/// See `examples/own_lifecycle.rs`.
#[macro_export]
macro_rules! lifecycle {
    ($(#[doc = $about:literal])* pub mod $($rest:tt)+) => {
        $crate::__lifecycle! { [$($about)*] [pub,] [pub,] $($rest)+ }
    };
    ($(#[doc = $about:literal])* pub(crate) mod $($rest:tt)+) => {
        $crate::__lifecycle! { [$($about)*] [pub(crate),] [pub(crate),] $($rest)+ }
    };
    ($(#[doc = $about:literal])* pub(super) mod $($rest:tt)+) => {
        $crate::__lifecycle! { [$($about)*] [pub(super),] [pub(in super::super),] $($rest)+ }
    };
    ($(#[doc = $about:literal])* pub(in crate $(:: $path:ident)*) mod $($rest:tt)+) => {
        $crate::__lifecycle! { [$($about)*] [pub(in crate $(:: $path)*),] [pub(in crate $(:: $path)*),] $($rest)+ }
    };
    ($(#[doc = $about:literal])* mod $($rest:tt)+) => {
        $crate::__lifecycle! { [$($about)*] [,] [pub(super),] $($rest)+ }
    };
    ($($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @begin $($rest)* }
    };
}

/// The whole definition. `$vis` is its visibility, `$inner` the same visibility seen from the submodule. The machines
/// must not be more visible than the record and the status beside them, and a `vis` fragment cannot be taken apart.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle {
    (
        [$($about:literal)*] [$vis:vis,] [$inner:vis,] $module:ident: $M:ident($R:ty), $Any:ident;
        $(version $version:literal;)?
        $(identity $identity:literal;)?
        $(diagram $diagram:literal $(heading $heading:literal)?;)?
        status $St:ident {
            $( $(#[doc = $sdoc:literal])* $S:ident $({ $sdots:tt })? $(= $sname:literal)? ),+ $(,)?
        }
        $(#[$eattr:meta])*
        event $Ev:ident {
            $( $(#[doc = $edoc:literal])* $E:ident $({ $edots:tt })? ),+ $(,)?
        }
        [*] --> $Init:ident;
        $( $From:ident --> $( $To:ident : $m:ident ( $Via:ident ) $( else $Fault:path )? )? $( [ $end:tt ] )? ; )+
    ) => {
        $vis use $module::{$Any, $M};

        $( $crate::__lifecycle_state! { [$($sdoc)*] $vis $S [$($sdots)?] ($R, $St) } )+
        $( $crate::__lifecycle_event! { [$($edoc)*] $vis $E [$($edots)?] } )+

        #[doc = ::core::concat!("The states of `", ::core::stringify!($module), "`, without their data.")]
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy, ::core::cmp::PartialEq, ::core::cmp::Eq, ::core::hash::Hash, ::core::cmp::PartialOrd, ::core::cmp::Ord)]
        $vis enum $St { $( $(#[doc = $sdoc])* $S ),+ }

        #[doc = ::core::concat!("The events of `", ::core::stringify!($module), "`.")]
        #[derive(::core::fmt::Debug)]
        $(#[$eattr])*
        $vis enum $Ev { $( $(#[doc = $edoc])* $E($E) ),+ }

        #[allow(unused_imports, reason = "found by the submodule")]
        use $crate::kernel::place::*;

        #[allow(clippy::module_inception, reason = "the submodule is named after the lifecycle")]
        mod $module {
            use super::*;
            // By name too: what is not there is one error, and not one for each use.
            #[allow(unused_imports, reason = "the glob has them all in a right definition")]
            use super::{a_lifecycle_in_a_function_stands_in_a_mod_of_its_own, $St, $Ev, $($S,)+ $($E,)+};

            // The proof of origin. No function and no constant of the definition returns a reference to it. Only code
            // that the author writes into the definition, as a block in the type of the record, can reach it.
            static __WITNESS: $crate::kernel::Witness = $crate::kernel::Witness::at(::core::concat!(
                ::core::module_path!(), " ", ::core::line!(), ":", ::core::column!(),
            ));

            const NAMES: &[&str] = &[ $( $crate::kernel::build::name(&[$($sname)?], ::core::stringify!($S)) ),+ ];
            const ENDS: &[usize] = &[ $( $( $crate::__lifecycle_keep!($end, $St::$From as usize), )? )+ ];
            const EDGE_TYPES: &[&str] = &[ $( $( ::core::stringify!($Via), )? )+ ];
            const EVENT_TYPES: &[&str] = &[ $( ::core::stringify!($E) ),+ ];
            // A static, because the lookup of a transition compares addresses, and a constant has several.
            static THE_EDGES: [$crate::kernel::Edge; $crate::kernel::check::count(
                ::core::stringify!($module),
                &[ $( $( [::core::stringify!($From), ::core::stringify!($m)], )? )+ ],
            )] = [ $( $( $crate::kernel::build::edge(
                &__WITNESS,
                ::core::stringify!($module),
                (NAMES[$St::$From as usize], $St::$From as usize),
                ::core::stringify!($m),
                (NAMES[$St::$To as usize], $St::$To as usize),
            ), )? )+ ];
            const EVENTS: &[&str] =
                &$crate::kernel::check::method_names(&THE_EDGES, EDGE_TYPES, [ $( ::core::stringify!($E) ),+ ]);
            const STATES: &[$crate::kernel::StateInfo] = &[ $( $crate::kernel::build::state(
                NAMES[$St::$S as usize],
                $crate::kernel::build::doc(::core::concat!($($sdoc, "\n"),*)),
                $St::$S as usize,
                $St::$Init as usize,
                ENDS,
            ) ),+ ];
            const GRAPH: $crate::kernel::Graph = $crate::kernel::build::graph(
                &__WITNESS,
                &$crate::kernel::build::Names {
                    name: ::core::stringify!($module),
                    package: ::core::option_env!("CARGO_PKG_NAME"),
                    identity: &[$($identity)?],
                },
                $crate::kernel::build::doc(::core::concat!($($about, "\n"),*)),
                $crate::kernel::build::version(&[$($version)?]),
                STATES,
                EVENTS,
                &THE_EDGES,
            );
            static THE_GRAPH: $crate::kernel::Graph = GRAPH;

            const _: () = $crate::kernel::check::identity(
                ::core::stringify!($module),
                &[$($identity)?],
                ::core::option_env!("CARGO_PKG_NAME"),
            );
            const _: () = $crate::kernel::check::version(::core::stringify!($module), &[$($version)?]);
            const _: () = $crate::kernel::check::graph(&GRAPH, EDGE_TYPES, EVENT_TYPES);
            $(
                #[allow(long_running_const_eval, reason = "a document may be long")]
                const _: () = $crate::kernel::witness::diagram(
                    &GRAPH,
                    ::core::include_str!($diagram),
                    $diagram,
                    &[$($heading)?],
                );
            )?

            $(#[doc = $about])*
            ///
            /// A machine in one of its states; each state has its own methods.
            $( #[doc = ""]
            #[doc = ::core::include_str!($diagram)] )?
            #[derive(::core::fmt::Debug)]
            #[must_use = "a machine that is dropped goes nowhere"]
            $inner struct $M<InState> {
                record: $R,
                state: InState,
            }

            impl<InState> $M<InState> {
                /// The record: the data that all states share.
                #[inline]
                pub fn record(&self) -> &$R { &self.record }

                /// The data of this state.
                #[inline]
                pub fn state(&self) -> &InState { &self.state }

                /// Reports all later transitions to `observer`, if the record has a field for an observer.
                pub fn observe(&mut self, observer: $crate::kernel::Observer) {
                    if let ::core::option::Option::Some(place) = $crate::kernel::build::observer::<$Init>(&mut self.record) {
                        *place = observer;
                    }
                }

                /// The record, mutable for the lifecycle's own module.
                #[allow(dead_code, reason = "for those lifecycles that change a record between transitions")]
                #[inline]
                pub(super) fn record_mut(&mut self) -> &mut $R { &mut self.record }

                /// The state's data, mutable for the lifecycle's own module: a change within a state is not a
                /// transition.
                #[allow(dead_code, reason = "for those lifecycles whose state data changes within a state")]
                #[inline]
                pub(super) fn state_mut(&mut self) -> &mut InState { &mut self.state }
            }

            impl $M<$Init> {
                /// Creates a machine in its initial state.
                #[inline]
                pub fn new(mut record: $R) -> Self {
                    let state = <$Init as $crate::kernel::Begin>::begin(&mut record);
                    $crate::kernel::build::begun::<$Init>(&mut record, &__WITNESS, &THE_GRAPH);
                    $M { record, state }
                }
            }

            impl<InState: $crate::kernel::State<Record = $R, Status = $St>> $crate::kernel::Stateful for $M<InState> {
                type Record = $R;
                type Status = $St;
                const GRAPH: &'static $crate::kernel::Graph = &THE_GRAPH;
                const PROOF: $crate::kernel::Proof<Self> = $crate::kernel::Proof::new(&__WITNESS);
                fn status(&self) -> $St { <InState as $crate::kernel::State>::STATUS }
                fn record(&self) -> &$R { &self.record }
            }

            $( impl ::core::convert::From<$E> for $Ev {
                #[inline]
                fn from(event: $E) -> Self { $Ev::$E(event) }
            } )+

            $crate::__lifecycle_stored! { [$($version)?] $M $Any $R, $St [$($S)+] }

            $(
                $( $crate::__lifecycle_move! { $module $M $St, $From $To $m $Via [$($Fault)?] } )?
                $( $crate::__lifecycle_end! { $end $M $R, $From } )?
            )+

            #[doc = ::core::concat!("[`", ::core::stringify!($M), "`] in whichever state, for storage and queues.")]
            #[derive(::core::fmt::Debug)]
            #[allow(clippy::large_enum_variant, reason = "a machine is held one at a time")]
            #[must_use = "a machine that is dropped goes nowhere"]
            $inner enum $Any { $( $(#[doc = $sdoc])* $S($M<$S>) ),+ }

            $( impl ::core::convert::From<$M<$S>> for $Any {
                #[inline]
                fn from(machine: $M<$S>) -> Self { $Any::$S(machine) }
            } )+

            impl $Any {
                /// Creates a machine in its initial state.
                #[inline]
                pub fn new(record: $R) -> Self { $Any::$Init($M::new(record)) }

                /// The current state of the machine.
                #[inline]
                pub fn status(&self) -> $St {
                    match self { $( $Any::$S(_) => $St::$S ),+ }
                }

                /// The record: the data that all states share.
                #[inline]
                pub fn record(&self) -> &$R {
                    match self { $( $Any::$S(machine) => machine.record() ),+ }
                }

                /// The record, mutable for the lifecycle's own module.
                #[allow(dead_code, reason = "for those lifecycles that change a record between transitions")]
                pub(super) fn record_mut(&mut self) -> &mut $R {
                    match self { $( $Any::$S(machine) => machine.record_mut() ),+ }
                }

                /// Reports all later transitions to `observer`, if the record has a field for an observer.
                pub fn observe(&mut self, observer: $crate::kernel::Observer) {
                    match self { $( $Any::$S(machine) => machine.observe(observer) ),+ }
                }

                /// Takes the transition that the state has for the event.
                ///
                /// # Errors
                /// Machine and event, both unchanged, when the state has no such transition or its guard fails.
                #[inline]
                pub fn apply(self, event: $Ev) -> ::core::result::Result<Self, $crate::kernel::Refused<Self>> {
                    #[allow(unreachable_patterns, reason = "there may be a lifecycle that refuses nothing")]
                    match (self, event) {
                        $( $( ($Any::$From(machine), $Ev::$Via(event)) => {
                            $crate::__lifecycle_apply! { $Any $Ev, machine event $From $To $m $Via [$($Fault)?] }
                        } )? )+
                        (machine, event) => ::core::result::Result::Err(
                            $crate::kernel::Refused::no_edge(machine, event),
                        ),
                    }
                }
            }

            impl $crate::kernel::Stateful for $Any {
                type Record = $R;
                type Status = $St;
                const GRAPH: &'static $crate::kernel::Graph = &THE_GRAPH;
                const PROOF: $crate::kernel::Proof<Self> = $crate::kernel::Proof::new(&__WITNESS);
                fn status(&self) -> $St { $Any::status(self) }
                fn record(&self) -> &$R { $Any::record(self) }
            }

            impl $crate::kernel::Machine for $Any {
                type Event = $Ev;
                fn create(record: $R) -> Self { $Any::new(record) }
                #[inline]
                fn apply(self, event: $Ev) -> ::core::result::Result<Self, $crate::kernel::Refused<Self>> {
                    $Any::apply(self, event)
                }
                fn check<'a>(
                    &'a self,
                    event: &'a $Ev,
                ) -> ::core::result::Result<(), $crate::kernel::Refusal<'a, Self>> {
                    #[allow(unreachable_patterns, unused_variables, reason = "as for `apply`; an edge may have no guard")]
                    match (self, event) {
                        $( $( ($Any::$From(machine), $Ev::$Via(taken)) => {
                            $crate::__lifecycle_check! { self event machine taken $From $To $Via [$($Fault)?] }
                        } )? )+
                        _ => ::core::result::Result::Err($crate::kernel::Refusal::no_edge(self, event)),
                    }
                }
                fn observe(&mut self, observer: $crate::kernel::Observer) { $Any::observe(self, observer) }
            }

            impl $crate::kernel::Status for $St {
                const ALL: &'static [Self] = &[ $( $St::$S ),+ ];
                fn graph() -> &'static $crate::kernel::Graph { &THE_GRAPH }
                fn index(self) -> usize { self as usize }
            }

            impl $St {
                /// All states, in source order.
                pub const ALL: &'static [Self] = &[ $( $St::$S ),+ ];

                /// The name in diagrams, traces and storage.
                pub const fn name(self) -> &'static str { NAMES[self as usize] }

                /// Returns whether the state is terminal.
                pub const fn is_terminal(self) -> bool { STATES[self as usize].terminal }
            }

            $crate::__lifecycle_status! { $St }

            impl $crate::kernel::Event for $Ev {
                const NAMES: &'static [&'static str] = EVENTS;
                fn name(&self) -> &'static str { $Ev::name(self) }
            }

            impl $Ev {
                /// The name of the event, which is the name of the method that takes it.
                pub const fn name(&self) -> &'static str {
                    // The variants stand in the order of the names.
                    enum Place { $( $E ),+ }
                    match self { $( $Ev::$E(_) => EVENTS[Place::$E as usize] ),+ }
                }
            }
        }
    };
    ([$($about:literal)*] [$vis:vis,] [$inner:vis,] $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @head $($rest)* }
    };
}
