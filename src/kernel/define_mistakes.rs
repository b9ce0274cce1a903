//! The words of `lifecycle!` for a definition that it cannot read.

/// Finds the first mistake of a definition. The first word after `@` is the part of the definition that comes next.
///
/// Only a definition that [`lifecycle!`](crate::lifecycle) refuses comes here: a right one is not read twice.
#[doc(hidden)]
#[macro_export]
macro_rules! __lifecycle_mistake {
    // The line `pub mod door: Door(House), AnyDoor;`.
    (@begin #[doc = $doc:literal] $($rest:tt)*) => { $crate::__lifecycle_mistake! { @begin $($rest)* } };
    (@begin #$attribute:tt $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the attribute `#", ::core::stringify!($attribute), "` cannot stand here: before `mod` there are doc comments alone. ",
        "Attributes of the event enum stand before `event`, and `#[cfg]` before `lifecycle!`"
    )); };
    (@begin mod $($rest:tt)*) => { $crate::__lifecycle_mistake! { @head $($rest)* } };
    (@begin pub mod $($rest:tt)*) => { $crate::__lifecycle_mistake! { @head $($rest)* } };
    (@begin pub ($($place:tt)*) $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the visibility `pub(", ::core::stringify!($($place)*), ")` cannot be read: write `pub mod`, `pub(crate) mod`, ",
        "`pub(super) mod`, `pub(in crate::path) mod` or `mod`"
    )); };
    (@begin pub $($rest:tt)*) => { $crate::__lifecycle_mistake! { @begin $($rest)* } };
    (@begin $name:ident $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the word `mod` is missing: write `mod ", ::core::stringify!($name), ": Machine(Record), AnyMachine;`"
    )); };
    (@begin $($rest:tt)*) => { ::core::compile_error!(
        "a definition begins with the line `mod name: Machine(Record), AnyMachine;`"
    ); };

    (@head $name:ident: $M:ident ($($R:tt)+), $Any:ident; $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @version $($rest)* }
    };
    (@head $name:ident: $M:ident ($($R:tt)+), $Any:ident $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "a semicolon is missing after `", ::core::stringify!($Any), "`"
    )); };
    (@head $name:ident: $M:ident ($($R:tt)+) $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the name of the dynamic machine is missing: write `", ::core::stringify!($name), ": ", ::core::stringify!($M), "(",
        ::core::stringify!($($R)+), "), Any", ::core::stringify!($M), ";`"
    )); };
    (@head $name:ident: $M:ident $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the record is missing: write the type that all states share in parentheses, `",
        ::core::stringify!($name), ": ", ::core::stringify!($M), "(Record), AnyMachine;`"
    )); };
    (@head $name:ident $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the machine is missing: write `mod ", ::core::stringify!($name), ": Machine(Record), AnyMachine;`"
    )); };

    // The lines `version`, `identity` and `diagram`, which may be absent.
    (@version version $version:literal; $($rest:tt)*) => { $crate::__lifecycle_mistake! { @identity $($rest)* } };
    (@version version $version:literal $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "a semicolon is missing after `version ", $version, "`"
    )); };
    (@version version $($rest:tt)*) => { ::core::compile_error!("the version is a whole number: write `version 1;`"); };
    (@version $($rest:tt)*) => { $crate::__lifecycle_mistake! { @identity $($rest)* } };

    (@identity identity $identity:literal; $($rest:tt)*) => { $crate::__lifecycle_mistake! { @diagram $($rest)* } };
    (@identity identity $($rest:tt)*) => { ::core::compile_error!(
        "the identity is a text with a semicolon: write `identity \"package/name\";`"
    ); };
    (@identity $($rest:tt)*) => { $crate::__lifecycle_mistake! { @diagram $($rest)* } };

    (@diagram diagram $diagram:literal $(heading $heading:literal)?; $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @status $($rest)* }
    };
    (@diagram diagram $($rest:tt)*) => { ::core::compile_error!(
        "the diagram is a path in quotes with a semicolon: write `diagram \"docs/order.md\";` or \
         `diagram \"docs/order.md\" heading \"Order\";`"
    ); };
    (@diagram heading $($rest:tt)*) => { ::core::compile_error!(
        "a heading belongs to a diagram: write `diagram \"docs/order.md\" heading \"Order\";`"
    ); };
    (@diagram $($rest:tt)*) => { $crate::__lifecycle_mistake! { @status $($rest)* } };

    // The two lists.
    (@status status $St:ident { $($list:tt)* } $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @states $St [$($list)*] $($rest)* }
    };
    (@status status $($rest:tt)*) => { ::core::compile_error!(
        "the states stand in braces behind the name of their enum: write `status OrderStatus { Cart, Paid { .. } }`"
    ); };
    (@status #$attribute:tt $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the attribute `#", ::core::stringify!($attribute), "` cannot stand before `status`: only the event enum takes attributes"
    )); };
    (@status [*] $($rest:tt)*) => { ::core::compile_error!(
        "the list of states is missing: write `status OrderStatus { Cart, Paid { .. } }` before the transitions"
    ); };
    (@status $line:ident $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "expected the list of states, got `", ::core::stringify!($line),
        "`: the order of the lines is `version`, `identity`, `diagram`, `status`, `event`, and the transitions"
    )); };
    (@status $($rest:tt)*) => { ::core::compile_error!("expected the list of states: write `status OrderStatus { Cart, Paid { .. } }`"); };

    (@states $St:ident [] $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the list `", ::core::stringify!($St), "` is empty: a lifecycle has at least one state"
    )); };
    (@states $St:ident [$( $(#[doc = $doc:literal])* $S:ident $({ .. })? $(= $name:literal)? ),+ $(,)?] $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @event $($rest)* }
    };
    (@states $St:ident [$($list:tt)*] $($rest:tt)*) => { $crate::__lifecycle_mistake! { @item "state" $($list)* } };

    (@event $(#[$($attribute:tt)*])* event $Ev:ident { } $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the list `", ::core::stringify!($Ev), "` is empty: a lifecycle has at least one event"
    )); };
    (@event $(#[$($attribute:tt)*])* event $Ev:ident {
        $( $(#[doc = $doc:literal])* $E:ident $({ .. })? ),+ $(,)?
    } $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @initial $($rest)* }
    };
    (@event $(#[$($attribute:tt)*])* event $Ev:ident { $($list:tt)* } $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @item "event" $($list)* }
    };
    (@event $($rest:tt)*) => { ::core::compile_error!(
        "the list of events is missing: write `event OrderEvent { Place, Pay { .. } }` after the states"
    ); };

    // One name of a list.
    (@item $kind:literal #[doc = $doc:literal] $($rest:tt)*) => { $crate::__lifecycle_mistake! { @item $kind $($rest)* } };
    (@item $kind:literal $S:ident $({ .. })? $(= $name:literal)?, $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @item $kind $($rest)* }
    };
    (@item $kind:literal #$attribute:tt $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the attribute `#", ::core::stringify!($attribute), "` cannot stand on one ", $kind, ": write `{ .. }` behind its name, ",
        "and a struct of that name with the attribute beside the definition"
    )); };
    (@item $kind:literal $S:ident { .. } $(= $name:literal)? $next:ident $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!("a comma is missing after `", ::core::stringify!($S), " { .. }`"));
    };
    (@item $kind:literal $S:ident $(= $name:literal)? $next:ident $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!("a comma is missing after `", ::core::stringify!($S), "`"));
    };
    (@item $kind:literal $S:ident = $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the name of `", ::core::stringify!($S), "` in the diagram is a text of a state: write `",
        ::core::stringify!($S), " = \"NAME\"`"
    )); };
    (@item $kind:literal $S:ident $data:tt $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the data of the ", $kind, " `", ::core::stringify!($S), "` stands in a struct of its own: write `",
        ::core::stringify!($S), " { .. }` here, and `struct ", ::core::stringify!($S), "` beside the definition"
    )); };
    (@item $kind:literal $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "expected the name of a ", $kind, ", got `", ::core::stringify!($($rest)*), "`"
    )); };

    // The transitions.
    (@initial [*] --> $Init:ident; $($rest:tt)+) => { $crate::__lifecycle_mistake! { @edges $($rest)* } };
    (@initial [*] --> $Init:ident;) => { ::core::compile_error!(::core::concat!(
        "no line leaves `", ::core::stringify!($Init), "`: write its transitions, or `", ::core::stringify!($Init), " --> [*];`"
    )); };
    (@initial [*] --> $Init:ident : $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the initial mark takes no event: write `[*] --> ", ::core::stringify!($Init),
        ";`. A new machine begins there"
    )); };
    (@initial) => { ::core::compile_error!("the transitions are missing: write `[*] --> FIRST;`, and each transition as `FROM --> TO : method(Event);`"); };
    (@initial [*] --> $Init:ident $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "a semicolon is missing after `[*] --> ", ::core::stringify!($Init), "`"
    )); };
    (@initial $line:ident $name:ident { $($list:tt)* } $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "`", ::core::stringify!($line), "` cannot stand here: the order of the lines is `version`, `identity`, `diagram`, ",
        "`status`, `event`, and the transitions"
    )); };
    (@initial $($rest:tt)*) => { ::core::compile_error!(
        "the initial mark is missing: the first transition is `[*] --> FIRST;`, with the state in which a machine begins"
    ); };

    (@edges $From:ident --> $To:ident : $m:ident ($Via:ident) $(else $Fault:path)?; $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @edges $($rest)* }
    };
    (@edges $From:ident --> [*]; $($rest:tt)*) => { $crate::__lifecycle_mistake! { @edges $($rest)* } };
    (@edges [*] --> $Init:ident $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "`[*] --> ", ::core::stringify!($Init), "` is a second initial mark: a machine begins in one state. ",
        "Write a transition from that state instead"
    )); };
    (@edges $(#$attribute:tt)+ $($rest:tt)*) => { ::core::compile_error!(
        "a transition takes no attribute and no doc comment: write a comment with `//`"
    ); };
    (@edges $(status)? $(event)? $list:ident { $($names:tt)* } $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the list `", ::core::stringify!($list), "` stands before the transitions"
    )); };
    (@edges $From:ident --> [*] : $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the terminal mark takes no event: write `", ::core::stringify!($From), " --> [*];`. The event belongs to the transition ",
        "that enters `", ::core::stringify!($From), "`"
    )); };
    (@edges $From:ident --> [*] $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "a semicolon is missing after `", ::core::stringify!($From), " --> [*]`"
    )); };
    (@edges $From:ident --> * $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the terminal mark has brackets: write `", ::core::stringify!($From), " --> [*];`"
    )); };
    (@edges $From:ident --> : $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the target of a transition of `", ::core::stringify!($From), "` is missing: write `", ::core::stringify!($From),
        " --> TO : method(Event);`"
    )); };
    (@edges $From:ident --> $To:ident ; $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "`", ::core::stringify!($From), " --> ", ::core::stringify!($To), "` has no event: write `",
        ::core::stringify!($From), " --> ", ::core::stringify!($To), " : method(Event);`"
    )); };
    (@edges $From:ident --> $To:ident : $m:ident ; $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "`", ::core::stringify!($From), " --> ", ::core::stringify!($To), " : ", ::core::stringify!($m),
        "` lacks a part: a transition has a method and the event in parentheses, such as `close(Close)`"
    )); };
    (@edges $From:ident --> $To:ident : $m:ident ($Via:ident) else ; $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the error is missing behind `else`: write the error type of the guard, or leave out `else`, at `",
        ::core::stringify!($From), " --> ", ::core::stringify!($To), " : ", ::core::stringify!($m), "`"
    )); };
    (@edges $From:ident --> $To:ident : $m:ident ($Via:ident) else $Fault:path) => {
        $crate::__lifecycle_mistake! { @semicolon $From $To $m }
    };
    (@edges $From:ident --> $To:ident : $m:ident ($Via:ident)) => { $crate::__lifecycle_mistake! { @semicolon $From $To $m } };
    (@edges $From:ident --> $To:ident : $m:ident ($Via:ident) if $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @guard $From $To $Via }
    };
    (@edges $From:ident --> $To:ident : $m:ident ($Via:ident) [$($guard:tt)*] $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @guard $From $To $Via }
    };
    (@edges $From:ident --> $To:ident : $m:ident ($Via:ident) $(else $Fault:ident)? $Next:ident $($rest:tt)*) => {
        $crate::__lifecycle_mistake! { @semicolon $From $To $m }
    };
    (@edges $From:ident --> $To:ident : $m:ident ($Via:ident $($data:tt)+) $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the parentheses of `", ::core::stringify!($m), "` hold the name of the event alone: write `", ::core::stringify!($m), "(",
        ::core::stringify!($Via), ")`. Its data stands in the struct `", ::core::stringify!($Via), "`"
    )); };
    (@edges $From:ident $arrow:tt $To:ident : $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the arrow of a transition is `-->`: write `", ::core::stringify!($From), " --> ", ::core::stringify!($To), "`"
    )); };
    (@edges $From:ident $To:ident : $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "the arrow is missing: write `", ::core::stringify!($From), " --> ", ::core::stringify!($To), "`"
    )); };
    (@edges $($rest:tt)*) => { ::core::compile_error!(::core::concat!(
        "expected a transition `FROM --> TO : method(Event);`, got `", ::core::stringify!($($rest)*), "`"
    )); };

    (@semicolon $From:ident $To:ident $m:ident) => { ::core::compile_error!(::core::concat!(
        "a semicolon is missing after `", ::core::stringify!($From), " --> ", ::core::stringify!($To), " : ",
        ::core::stringify!($m), "`"
    )); };
    (@guard $From:ident $To:ident $Via:ident) => { ::core::compile_error!(::core::concat!(
        "a condition is a guard: write `else ERROR` here, and `impl Guard<", ::core::stringify!($From), ", ",
        ::core::stringify!($Via), "> for ", ::core::stringify!($To), "` beside the definition"
    )); };
}
