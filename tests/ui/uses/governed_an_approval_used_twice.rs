use runstate::approval::{Approval, Approved, Execute, Executed};

#[cfg(illegal)]
pub fn twice(approval: Approval<Approved>, first: Execute, second: Execute) {
    let _ = approval.execute(first);
    let _ = approval.execute(second);
}

#[cfg(illegal)]
pub fn again(used: Approval<Executed>, second: Execute) {
    let _ = used.execute(second);
}

#[cfg(not(illegal))]
pub fn once(approval: Approval<Approved>, first: Execute) -> Approval<Executed> {
    approval.execute(first)
}
