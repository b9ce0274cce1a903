//! The progress of a run while its commands run, line by line on standard error.

use std::future::Future;
use std::io::{self, IsTerminal};
use std::time::Duration;

use crate::clock::unix_ms;
use crate::output::{complain, printable};

/// How often a command that runs for long is told of.
const OFTEN: Duration = Duration::from_secs(10);

/// Whether it is told.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    is_told: bool,
}

impl Progress {
    /// Told where a person asks for it or standard error is a terminal.
    pub(crate) fn new(is_asked_for: bool) -> Self {
        Progress { is_told: is_asked_for || io::stderr().is_terminal() }
    }

    /// Does the work, and tells that it is under way and how it ended.
    pub(super) async fn during<T>(
        &self,
        what: &str,
        work: impl Future<Output = T>,
        ended: impl FnOnce(&T) -> &'static str,
    ) -> T {
        if !self.is_told {
            return work.await;
        }
        let (what, began) = (printable(what), unix_ms());
        let lasted = || unix_ms().saturating_sub(began);
        complain(&format!("{what}: runs"));
        let mut work = std::pin::pin!(work);
        let done = loop {
            match tokio::time::timeout(OFTEN, &mut work).await {
                Ok(done) => break done,
                Err(_) => complain(&format!("{what}: still runs, after {} s", lasted() / 1000)),
            }
        };
        let ms = lasted();
        complain(&format!("{what}: {}, after {}.{} s", ended(&done), ms / 1000, ms % 1000 / 100));
        done
    }
}
