//! Signals that end the command while it works on runs.

use std::sync::Arc;
use std::thread;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::failure::Failure;
use crate::governed::Runs;
use crate::output::complain;
use crate::signals::Signals;

/// Does the work, until a signal. The command then ends after any rollback under way, and names the command that continues.
pub(super) fn until_signal<T>(
    runs: &Runs,
    next: &str,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    runtime()?.block_on(async {
        let mut signals = heard(runs)?;
        tokio::select! {
            biased;
            done = work => done,
            Some(code) = signals.recv() => {
                // The work is dropped by now, and with it the process group of a tool.
                complain(&format!("ended by a signal, with the tool that was executing; `{next}` continues"));
                std::process::exit(code);
            }
        }
    })
}

/// The signals that end the command, by their exit codes. A separate thread receives them: a rollback occupies the thread of
/// the run.
fn heard(runs: &Runs) -> Result<UnboundedReceiver<i32>, Failure> {
    let (runtime, progress, (given, signals)) = (runtime()?, Arc::clone(&runs.progress), unbounded_channel());
    let mut heard = {
        let _within = runtime.enter();
        Signals::new().map_err(|error| Failure::new(format!("cannot hear signals: {error}")))?
    };
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let code = heard.next().await;
                if progress.asked_to_end() {
                    std::process::exit(code);
                }
                // The run may be over.
                given.send(code).ok();
            }
        });
    });
    Ok(signals)
}

/// The runtime of the library's futures: one thread, and its timers.
fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))
}
