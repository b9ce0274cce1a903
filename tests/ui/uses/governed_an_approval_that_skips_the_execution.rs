use runstate::governed_run::{AwaitingApproval, Executing, GovernedRun, Verify};

#[cfg(illegal)]
pub fn verify(run: GovernedRun<AwaitingApproval>, verify: Verify) {
    let _ = run.verify(verify);
}

#[cfg(illegal)]
pub type Unused = Executing;

#[cfg(not(illegal))]
pub fn verify(run: GovernedRun<Executing>, verify: Verify) -> bool {
    run.verify(verify).is_ok()
}

#[cfg(not(illegal))]
pub type Unused = AwaitingApproval;
