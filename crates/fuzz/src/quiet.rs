//! Panics of a system under test: they are part of a finding, and print nothing.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Mutex, PoisonError};

type Hook = Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// The number of runs in this process, and the hook that they replaced.
static REPLACED: Mutex<(usize, Option<Hook>)> = Mutex::new((0, None));

thread_local! {
    /// Whether this thread executes the system under test.
    static IS_TRIAL: Cell<bool> = const { Cell::new(false) };
    /// The place of the last panic of a trial.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A run whose trials print no panics. Panics of other threads, and of this thread outside of trials, reach the hook of the
/// process as before. The end of the last run puts that hook back.
pub(crate) struct Quiet(());

impl Quiet {
    pub(crate) fn new() -> Self {
        let mut replaced = REPLACED.lock().unwrap_or_else(PoisonError::into_inner);
        // A thread that panics may not set a hook, so its trials print.
        if replaced.1.is_none() && !std::thread::panicking() {
            let before: Hook = Arc::from(take_hook());
            replaced.1 = Some(Arc::clone(&before));
            set_hook(Box::new(move |info| {
                if !IS_TRIAL.get() {
                    return before(info);
                }
                PLACE.set(info.location().map(ToString::to_string));
            }));
        }
        replaced.0 += 1;
        Quiet(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let mut replaced = REPLACED.lock().unwrap_or_else(PoisonError::into_inner);
        replaced.0 -= 1;
        if replaced.0 == 0
            && !std::thread::panicking()
            && let Some(before) = replaced.1.take()
        {
            set_hook(Box::new(move |info| before(info)));
        }
    }
}

/// Executes a trial.
///
/// # Errors
/// The text of its panic.
pub(crate) fn trial<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    // A suite of tests is a trial, and may have trials of its own.
    let outer = IS_TRIAL.replace(true);
    PLACE.take();
    let result = catch_unwind(AssertUnwindSafe(call));
    IS_TRIAL.set(outer);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("it panicked: {}", text.unwrap_or_else(|| "no text".to_owned()))
    })
}

/// The log of a system, and below it the place in the source where the last trial of this thread panicked.
pub(crate) fn with_place(mut log: String) -> String {
    if let Some(place) = PLACE.take() {
        if !log.is_empty() && !log.ends_with('\n') {
            log.push('\n');
        }
        log.push_str(&format!("panicked at {place}\n"));
    }
    log
}
