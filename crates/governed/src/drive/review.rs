//! VERIFYING and AUDITING: the verifier, then each reviewer checks the results. Both fail closed.

use runstate::governed_run::{Audit, Auditing, Complete, GovernedRun, Opinion, Verdict, Verifying};

use super::{Governor, OpenRun, Result, Step, went};
use crate::guarded::guarded;
use crate::notes::{Standing, VerifyNote, short, short_texts, shortened};

/// The size limit for the notes of all reviewers together in bytes.
const MOST_NOTES: usize = 256 << 10;

impl Governor {
    pub(super) async fn verifying(
        &self,
        open: &mut OpenRun<'_>,
        run: GovernedRun<Verifying>,
    ) -> Result<Step> {
        if let Standing::RollingBack { why, by } = open.notes.standing.clone() {
            return self.roll_back_reviewed(open, run, &why, by).await;
        }
        let tools = run.state().tools_completed().to_vec();
        let view = open.view(&tools, tools.len());
        let work = self.parts.verifier.verify(&view);
        let Some(verified) = guarded(self.clock.as_ref(), run.deadline(), work).await.in_time() else {
            return Step::on(run);
        };
        let failure = match &verified {
            Ok(evidence) if evidence.iter().any(|shown| !shown.trim().is_empty()) => None,
            Ok(_) => Some("nothing shows that the results hold".to_owned()),
            Err(why) => Some(short(&why.to_string())),
        };
        let evidence = short_texts(verified.unwrap_or_default());
        open.notes.verification = Some(VerifyNote { evidence, failure: failure.clone() });
        if let Some(why) = failure {
            return self.roll_back_reviewed(open, run, &why, None).await;
        }
        went(open, run.audit(Audit::new(self.reviewers.clone(), self.now())))
    }

    pub(super) async fn auditing(&self, open: &mut OpenRun<'_>, run: GovernedRun<Auditing>) -> Result<Step> {
        if let Standing::RollingBack { why, by } = open.notes.standing.clone() {
            return self.roll_back_reviewed(open, run, &why, by).await;
        }
        let tools = run.state().tools_completed().to_vec();
        let mut verdicts = Vec::new();
        // A reviewer that this governor does not have gives no verdict, so the audit does not pass.
        for name in run.state().reviewers().names() {
            let Some(auditor) = self.parts.auditors.iter().find(|auditor| auditor.name() == name) else {
                continue;
            };
            let view = open.view(&tools, tools.len());
            let work = auditor.audit(&view);
            let Some(review) = guarded(self.clock.as_ref(), run.deadline(), work).await.in_time() else {
                return Step::on(run);
            };
            let (opinion, note) = review.unwrap_or_else(|why| (Opinion::Unclear, why.to_string()));
            // The notes of all reviewers together must fit into the state.
            let most = MOST_NOTES / run.state().reviewers().names().len();
            verdicts.push(Verdict::new(name, opinion, shortened(&note, most)));
        }
        open.notes.verdicts.clone_from(&verdicts);
        let pass = match run.pass(verdicts) {
            Ok(pass) => pass,
            Err(against) => {
                let why = short(&against.to_string());
                return self.roll_back_reviewed(open, run, &why, None).await;
            }
        };
        went(open, run.complete(Complete::new(pass, self.now())))
    }
}
