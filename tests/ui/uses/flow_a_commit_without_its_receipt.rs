use runstate::run_flow::{Commit, CommitUser, RunFlow, SkipReplay};

#[cfg(illegal)]
pub fn with_what_is_due(flow: RunFlow<CommitUser>) {
    let due = flow.due();
    drop(flow.commit(Commit::new(due)));
}

#[cfg(illegal)]
pub fn without(flow: RunFlow<CommitUser>, event: SkipReplay) {
    drop(flow.skip_replay(event));
}

#[cfg(not(illegal))]
pub fn with(flow: RunFlow<CommitUser>, receipt: runstate::checkpoint::Receipt, event: SkipReplay) {
    let flow = flow.commit(Commit::new(receipt)).expect("the receipt is for this commit");
    drop(flow.skip_replay(event));
}
