//! The store's clock, which is the server's, in statements.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use runstate_runtime::clock::Clock;
use runstate_store::{left, moment};

use crate::text::{int, nat};

/// The placeholder in statements for the time at which they began.
pub(crate) const NOW: &str = "{now}";

/// The server's own clock, in milliseconds. No clock of a client is used.
const SERVER: &str = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/// The clock for the placeholder in statements.
#[derive(Clone, Default)]
pub(crate) enum Ticking {
    #[default]
    Server,
    /// The clock of a test.
    Set(Arc<dyn Clock>),
}

impl Ticking {
    /// Returns the statement with the time in it.
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

/// Converts a duration into a parameter. `Duration::MAX` becomes a negative one.
pub(crate) fn span(time: Duration) -> i64 {
    if time == Duration::MAX { -1 } else { int(moment(0, time)) }
}

/// Returns the SQL of the time after such a duration.
pub(crate) fn after(param: &str) -> String {
    let never = moment(0, Duration::MAX);
    // Without the first case a missing duration would mean "never": `least` ignores NULL.
    format!(
        "CASE WHEN {param} IS NULL THEN NULL WHEN {param} < 0 THEN {never} ELSE least({NOW} + {param}, {never} - 1) END"
    )
}

/// Returns the duration until a time.
pub(crate) fn left_until(now: i64, at: i64) -> Duration {
    left(nat(now), nat(at))
}
