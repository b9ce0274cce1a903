use runstate::governed_run::{Auditing, Complete, Executing, GovernedRun};

#[cfg(illegal)]
pub fn complete(run: GovernedRun<Executing>, complete: Complete) {
    let _ = run.complete(complete);
}

#[cfg(illegal)]
pub type Unused = Auditing;

#[cfg(not(illegal))]
pub fn complete(run: GovernedRun<Auditing>, complete: Complete) -> bool {
    run.complete(complete).is_ok()
}

#[cfg(not(illegal))]
pub type Unused = Executing;
