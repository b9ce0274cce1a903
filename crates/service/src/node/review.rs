//! POLICY_EVAL, SECURITY_EVAL, JUDGE_AGENT and REPAIR_ROUTER.

use runstate::service_pass::{
    Accept, AnyServicePass, Decide, Judge, JudgeAgent, PolicyEval, Repair, RepairRouter, Secure,
    SecurityEval, ServicePass, ServicePassStatus,
};
use runstate::service_run::{AgentStatus, JudgeVerdict};

use super::{Graph, sure};
use crate::artifact::{AgentResult, CheckStatus, DecisionAction, JudgeAnswer, RepairContext};
use crate::limit::within;
use crate::policy::{PolicyInput, decide, evaluate_policy};
use crate::port::{JudgeInput, PortError};
use crate::rows::TimelineStatus;
use crate::work::Work;

impl Graph {
    pub(super) fn policy(&self, work: &mut Work, pass: ServicePass<PolicyEval>) -> AnyServicePass {
        let candidates = work.artifacts.tx_plan.as_ref().map_or(&[][..], |plan| &plan.candidates);
        let decoded: Option<Vec<_>> = self
            .ports
            .decoder
            .as_ref()
            .map(|decoder| candidates.iter().map(|candidate| decoder.decode(&candidate.tx)).collect());
        let chain_and_wallet = self.chain_and_wallet(&work.run).ok();
        let input = PolicyInput {
            decoded: decoded.as_deref(),
            chain: chain_and_wallet.as_ref().map(|(chain, _)| *chain),
            wallet: chain_and_wallet.as_ref().map(|(_, wallet)| wallet.as_str()),
            plan: work.artifacts.tx_plan.as_ref(),
            requests: work.artifacts.tx_requests.as_deref(),
            simulation: work.artifacts.simulation.as_ref(),
        };
        let result = evaluate_policy(&self.config.policy, &input);
        let decision = decide(&result);
        let blocks = decision.action == DecisionAction::Block;
        let status = match (blocks, decision.risk_score) {
            (true, _) => TimelineStatus::Blocked,
            (false, 0) => TimelineStatus::Ok,
            (false, _) => TimelineStatus::Warn,
        };
        work.ended(ServicePassStatus::PolicyEval, status, &decision.summary);
        work.artifacts.policy_result = Some(result);
        work.artifacts.decision = Some(decision);
        pass.decide(Decide::new(blocks)).into()
    }

    pub(super) fn security(&self, work: &mut Work, pass: ServicePass<SecurityEval>) -> AnyServicePass {
        let checks = work.artifacts.policy_result.as_ref().map_or(&[][..], |result| &result.checks);
        let has = |status| checks.iter().any(|check| check.status == status);
        let (status, mark) = if has(CheckStatus::Fail) {
            (AgentStatus::Blocked, TimelineStatus::Blocked)
        } else if has(CheckStatus::Warn) {
            (AgentStatus::Warn, TimelineStatus::Warn)
        } else {
            (AgentStatus::Ok, TimelineStatus::Ok)
        };
        let decision = work.artifacts.decision.as_ref();
        let result = AgentResult {
            agent: "security".into(),
            status,
            verdict: None,
            summary: decision.map(|decision| decision.summary.clone()).unwrap_or_default(),
            issues: decision.map(|decision| decision.reasons.clone()).unwrap_or_default(),
            error: None,
        };
        work.ended(ServicePassStatus::SecurityEval, mark, &result.summary);
        work.artifacts.security_result = Some(result);
        pass.secure(Secure::new(status == AgentStatus::Blocked)).into()
    }

    /// JUDGE_AGENT without a judge port: the policy alone decides.
    pub(super) fn without_judge(&self, work: &mut Work, pass: ServicePass<JudgeAgent>) -> AnyServicePass {
        let summary = "no judge is configured".to_owned();
        let answer = JudgeAnswer { verdict: JudgeVerdict::Pass, summary, issues: Vec::new() };
        judged(work, pass, answer, None)
    }

    pub(super) async fn judge(&self, work: &mut Work, pass: ServicePass<JudgeAgent>) -> AnyServicePass {
        let answer = self.ask_judge(work, pass.record().attempt()).await;
        let read = answer.map_err(|error| error.to_string()).and_then(|answer| {
            serde_json::from_value(answer).map_err(|error| format!("the answer is no verdict: {error}"))
        });
        match read {
            Ok(answer) => judged(work, pass, answer, None),
            Err(error) => {
                // Without issues there is no repair: the run continues to a person.
                let summary = "the judge failed; a person must review the plan".to_owned();
                let verdict = JudgeVerdict::NeedsRework;
                judged(work, pass, JudgeAnswer { verdict, summary, issues: Vec::new() }, Some(error))
            }
        }
    }

    async fn ask_judge(&self, work: &Work, attempt: u32) -> Result<serde_json::Value, PortError> {
        let artifacts = &work.artifacts;
        let (Some(judge), Some(tx_plan), Some(simulation), Some(policy_result), Some(decision)) = (
            &self.ports.judge,
            &artifacts.tx_plan,
            &artifacts.simulation,
            &artifacts.policy_result,
            &artifacts.decision,
        ) else {
            let reason = "there is no judge, or nothing to judge".to_owned();
            return Err(PortError::Refused { port: "the judge", reason });
        };
        let input = JudgeInput {
            intent: artifacts.normalized_intent.as_deref().unwrap_or_default(),
            tx_plan,
            tx_requests: artifacts.tx_requests.as_deref().unwrap_or_default(),
            simulation,
            policy_result,
            decision,
            user_inputs: &artifacts.user_inputs,
            attempt,
        };
        within("the judge", self.config.port_limit, judge.judge(&input)).await
    }

    pub(super) fn route(&self, work: &mut Work, pass: ServicePass<RepairRouter>) -> AnyServicePass {
        let node = ServicePassStatus::RepairRouter;
        match pass.repair(Repair) {
            Ok(pass) => {
                let issues = pass.state().issues().to_vec();
                work.ended(node, TimelineStatus::Warn, &format!("a repair is due: {}", issues.join(", ")));
                work.artifacts.begin_attempt(RepairContext { attempt: pass.record().attempt(), issues });
                pass.into()
            }
            Err(back) => {
                work.ended(node, TimelineStatus::Ok, &back.error.to_string());
                sure(back.machine.accept(Accept)).into()
            }
        }
    }
}

fn judged(
    work: &mut Work,
    pass: ServicePass<JudgeAgent>,
    answer: JudgeAnswer,
    error: Option<String>,
) -> AnyServicePass {
    let JudgeAnswer { verdict, summary, issues } = answer;
    let status = verdict.agent_status();
    let mark = match status {
        AgentStatus::Ok => TimelineStatus::Ok,
        AgentStatus::Warn => TimelineStatus::Warn,
        AgentStatus::Blocked => TimelineStatus::Blocked,
    };
    work.ended(ServicePassStatus::JudgeAgent, mark, &summary);
    let event = Judge::new(verdict, issues.clone());
    work.artifacts.judge_result =
        Some(AgentResult { agent: "judge".into(), status, verdict: Some(verdict), summary, issues, error });
    pass.judge(event).into()
}
