use runstate::checkpoint::{Due, Receipt, commit, without_committer};

#[cfg(illegal)]
pub fn literal(due: Due) -> Receipt {
    Receipt(due)
}

#[cfg(illegal)]
pub fn without_a_write(due: Due) -> Result<Receipt, &'static str> {
    commit(due)
}

#[cfg(illegal)]
pub fn copied(receipt: &Receipt) -> Receipt {
    receipt.clone()
}

#[cfg(not(illegal))]
pub fn committed(due: Due, disk: bool) -> Result<Receipt, &'static str> {
    if disk { commit(due, |_| Err("no disk")) } else { Ok(without_committer(due)) }
}
