//! The progress of a run while its commands run, line by line on standard error.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runstate::governed_run::RunId;

use crate::clock::unix_ms;
use crate::output::{complain, printable};

/// The interval of reports on a long command.
const OFTEN: Duration = Duration::from_secs(10);

/// Whether progress is reported, and whether a rollback is under way at a signal.
#[derive(Debug)]
pub(crate) struct Progress {
    is_told: bool,
    /// The options for the place of the runs, for a shown command.
    options: String,
    ending: Mutex<Ending>,
}

#[derive(Debug, Default)]
struct Ending {
    is_asked_for: bool,
    /// The command that continues the rollback under way.
    rolls_back: Option<String>,
}

impl Progress {
    pub(super) fn new(is_told: bool, options: &str) -> Self {
        Progress { is_told, options: options.to_owned(), ending: Mutex::default() }
    }

    /// Handles a signal to end. Returns whether the command ends at once: at the second signal in a rollback.
    pub(crate) fn asked_to_end(&self) -> bool {
        let mut ending = self.ending();
        let is_second = std::mem::replace(&mut ending.is_asked_for, true);
        match (is_second, &ending.rolls_back) {
            (true, Some(recover)) => {
                complain(&format!(
                    "a second signal ends this command in its rollback: `{recover}` continues the rollback"
                ));
                true
            }
            _ => {
                ending.tell();
                false
            }
        }
    }

    /// Rolls back. A half-finished rollback is useless, so the first signal does not end it.
    pub(super) fn rolling_back<T>(&self, run: &RunId, work: impl FnOnce() -> T) -> T {
        let of = |rolls_back| {
            let mut ending = self.ending();
            ending.rolls_back = rolls_back;
            ending.tell();
        };
        of(Some(format!("runstate governed recover {run}{}", self.options)));
        let done = work();
        of(None);
        done
    }

    fn ending(&self) -> MutexGuard<'_, Ending> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the work, and reports its start and its end.
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
                Err(_) => complain(&format!("{what}: executing since {} s", lasted() / 1000)),
            }
        };
        let ms = lasted();
        complain(&format!("{what}: {}, after {}.{} s", ended(&done), ms / 1000, ms % 1000 / 100));
        done
    }
}

impl Ending {
    fn tell(&self) {
        if let (true, Some(recover)) = (self.is_asked_for, &self.rolls_back) {
            complain(&format!(
                "a signal ends this command after the current rollback; a second signal ends it immediately, and \
                 `{recover}` continues the rollback",
            ));
        }
    }
}
