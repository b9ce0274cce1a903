use runstate::governed_run::{Execute, GovernedRun, Init, Planning};

#[cfg(illegal)]
pub fn execute(run: GovernedRun<Init>, execute: Execute) {
    let _ = run.execute(execute);
}

#[cfg(illegal)]
pub type Unused = Planning;

#[cfg(not(illegal))]
pub fn execute(run: GovernedRun<Planning>, execute: Execute) -> bool {
    run.execute(execute).is_ok()
}

#[cfg(not(illegal))]
pub type Unused = Init;
