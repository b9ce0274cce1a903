use runstate::governed_run::{GovernedRun, Init, Plan, Verifying};

#[cfg(illegal)]
pub fn plan(run: GovernedRun<Verifying>, plan: Plan) {
    let _ = run.plan(plan);
}

#[cfg(illegal)]
pub type Unused = Init;

#[cfg(not(illegal))]
pub fn plan(run: GovernedRun<Init>, plan: Plan) -> bool {
    run.plan(plan).is_ok()
}

#[cfg(not(illegal))]
pub type Unused = Verifying;
