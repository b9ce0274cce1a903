use runstate::governed_run::{GovernedRun, HaltedUnsafe, RunRecord};
use runstate::kernel::Retired;

#[cfg(illegal)]
pub fn on<E>(run: fn() -> GovernedRun<HaltedUnsafe>, event: fn() -> E) {
    let _ = run().plan(event());
    let _ = run().execute(event());
    let _ = run().await_approval(event());
    let _ = run().approve(event());
    let _ = run().verify(event());
    let _ = run().audit(event());
    let _ = run().complete(event());
    let _ = run().roll_back(event());
    let _ = run().halt(event());
}

/// All that is left is to look at it.
#[cfg(not(illegal))]
pub fn over(run: GovernedRun<HaltedUnsafe>) -> (Retired<RunRecord>, HaltedUnsafe) {
    run.into_parts()
}

#[cfg(illegal)]
pub fn over(_: Retired<RunRecord>) {}
