//! The runtime in which a run is driven here.

use std::future::Future;

use tokio::runtime::{Builder, Runtime};

use crate::failure::Failure;

/// A runtime that is left without waiting for what still waits in it: a question at the terminal may never be answered, and
/// whoever waited for it would keep the process, and with it the run.
#[derive(Debug)]
pub(super) struct Here {
    /// There until this goes.
    runtime: Option<Runtime>,
}

impl Here {
    /// One whose time goes by itself, or is moved on whenever all wait for it.
    ///
    /// # Errors
    /// Those of the operating system.
    pub(super) fn new(real_time: bool) -> Result<Self, Failure> {
        let made = Builder::new_current_thread().enable_all().start_paused(!real_time).build();
        let runtime = made.map_err(|error| Failure::new(format!("cannot make a runtime: {error}")))?;
        Ok(Here { runtime: Some(runtime) })
    }

    /// Does that in it.
    pub(super) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let Some(runtime) = &self.runtime else { unreachable!("it goes with this value alone") };
        runtime.block_on(future)
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
