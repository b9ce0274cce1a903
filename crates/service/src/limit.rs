//! Calls of ports, with a time limit and with protection against panics.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;

use crate::port::PortError;

/// Waits for a port, at most for `limit`. A panic is an error of the port.
pub(crate) async fn within<T>(
    port: &'static str,
    limit: Duration,
    call: impl Future<Output = Result<T, PortError>>,
) -> Result<T, PortError> {
    let call = AssertUnwindSafe(call).catch_unwind();
    match tokio::time::timeout(limit, call).await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => Err(PortError::Panicked { port, reason: message(panic.as_ref()) }),
        Err(_) => {
            let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            Err(PortError::TimedOut { port, limit_ms })
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}
