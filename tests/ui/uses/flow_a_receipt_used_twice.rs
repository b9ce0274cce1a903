use runstate::checkpoint::Receipt;
use runstate::run_flow::{Commit, CommitTool, CommitUser, RunFlow};

pub fn go_on(user: RunFlow<CommitUser>, tool: RunFlow<CommitTool>, first: Receipt, second: Receipt) {
    drop(user.commit(Commit::new(first)));
    #[cfg(illegal)]
    drop(tool.commit(Commit::new(first)));
    #[cfg(not(illegal))]
    drop(tool.commit(Commit::new(second)));
    #[cfg(illegal)]
    drop(second);
}
