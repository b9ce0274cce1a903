//! The store's clock, which is the server's, in statements.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use runstate::clock::Clock;
use runstate::store::{left, moment};

use crate::text::{int, nat};

/// Stands in statements for the time at which they began.
pub(crate) const NOW: &str = "{now}";

/// The server's own clock, in milliseconds. No clock of a client is asked.
const SERVER: &str = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/// The clock that statements are told.
#[derive(Clone, Default)]
pub(crate) enum Ticking {
    #[default]
    Server,
    /// That of a test.
    Set(Arc<dyn Clock>),
}

impl Ticking {
    /// The statement with the time in it.
    pub(crate) fn told<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        match self {
            _ if !sql.contains(NOW) => Cow::Borrowed(sql),
            Ticking::Server => Cow::Owned(sql.replace(NOW, SERVER)),
            Ticking::Set(clock) => Cow::Owned(sql.replace(NOW, &format!("{}::bigint", clock.ticks_ms()))),
        }
    }
}

impl fmt::Debug for Ticking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ticking::Server => "Server",
            Ticking::Set(_) => "Set",
        })
    }
}

/// A duration as a parameter. `Duration::MAX` is a negative one.
pub(crate) fn span(time: Duration) -> i64 {
    if time == Duration::MAX { -1 } else { int(moment(0, time)) }
}

/// The moment that a parameter of such a duration leads to.
pub(crate) fn after(param: &str) -> String {
    let never = moment(0, Duration::MAX);
    // Without the first case a time that is not given would be one that never comes: the least of nothing and a number is the number.
    format!(
        "CASE WHEN {param} IS NULL THEN NULL WHEN {param} < 0 THEN {never} ELSE least({NOW} + {param}, {never} - 1) END"
    )
}

/// How long it is until a moment.
pub(crate) fn left_until(now: i64, at: i64) -> Duration {
    left(nat(now), nat(at))
}
