use runstate::governed_run::{AuditPass, Opinion, Reviewers, Verdict};

#[cfg(illegal)]
pub fn pass(_: Reviewers, _: Opinion) -> AuditPass {
    AuditPass(Vec::<Verdict>::new())
}

#[cfg(not(illegal))]
pub fn pass(reviewers: &Reviewers) -> Option<AuditPass> {
    let verdicts = reviewers.names().iter().map(|name| Verdict::new(name, Opinion::Pass, "fine"));
    AuditPass::new(reviewers, verdicts.collect()).ok()
}
