//! Panics in the user's code.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the user's code, and returns the panic's message as an error. The panic hook has run by then.
///
/// The code may leave its own data inconsistent. The session keeps no data of its own there.
#[inline]
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| said(&*payload))
}

#[cold]
fn said(payload: &(dyn Any + Send)) -> String {
    let text =
        payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}
