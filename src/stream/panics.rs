//! Code of the user that panics.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of the user; what it says when it panics. The panic hook has told of it by then.
///
/// What the code left half done is its own: a session keeps nothing of its own in there.
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
