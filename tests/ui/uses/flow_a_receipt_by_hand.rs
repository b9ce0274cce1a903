use runstate::agent::{CommitError, NoCommitter, commit};
use runstate::checkpoint::{Due, Receipt};

#[cfg(illegal)]
pub fn literal(due: Due) -> Receipt {
    Receipt(due)
}

#[cfg(illegal)]
pub fn made(due: Due) -> Receipt {
    Receipt::for_committed(due)
}

#[cfg(illegal)]
pub fn copied(receipt: &Receipt) -> Receipt {
    receipt.clone()
}

#[cfg(not(illegal))]
pub fn committed(due: Due) -> Result<Receipt, CommitError> {
    commit(&mut NoCommitter, due, "the state")
}
