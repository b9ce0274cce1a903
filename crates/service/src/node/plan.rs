//! PLAN_TX and REPAIR_PLAN_TX.

use std::collections::BTreeMap;

use runstate::service_pass::{
    AnyServicePass, Ask, Finish, Plan, PlanTx, RepairPlanTx, ServicePass, ServicePassStatus,
};
use serde_json::Value;

use super::{Graph, fatal, sure};
use crate::artifact::{
    Action, MAX_ACTIONS, NeedsInput, PlanAnswer, PlannedBy, PlannerResult, Question, TxPlan, Units,
    WalletSnapshot,
};
use crate::config::{Chain, NATIVE_DECIMALS};
use crate::limit::within;
use crate::phrases::plan_phrase;
use crate::port::{PlannerInput, PortError};
use crate::rows::TimelineStatus;
use crate::slots;
use crate::work::Work;

/// The result of a planning node.
enum Planned {
    Actions,
    Ask(Ask),
    Nothing(String),
}

/// A plan with its origin.
struct Draft {
    answer: PlanAnswer,
    planned_by: PlannedBy,
    fallback: Option<String>,
}

impl Draft {
    /// The plan without actions, which stands for an answer that cannot be used.
    fn without_actions(why: String) -> Self {
        let summary = format!("nothing was planned: {why}");
        let answer = PlanAnswer { actions: Vec::new(), summary };
        Draft { answer, planned_by: PlannedBy::Fallback, fallback: Some(why) }
    }

    /// Reads the answer of a planner.
    fn of_planner(answer: Result<Value, PortError>) -> Self {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return Draft::without_actions(error.to_string()),
        };
        match serde_json::from_value::<PlanAnswer>(answer) {
            Ok(answer) if answer.actions.len() > MAX_ACTIONS => {
                let got = answer.actions.len();
                Draft::without_actions(format!("the plan has {got} actions; expected at most {MAX_ACTIONS}"))
            }
            Ok(answer) => Draft { answer, planned_by: PlannedBy::Planner, fallback: None },
            Err(error) => Draft::without_actions(format!("the answer is no plan: {error}")),
        }
    }
}

/// Takes the transition for the result of planning. PLAN_TX and REPAIR_PLAN_TX have the same ones, as types of their own.
macro_rules! follow {
    ($work:ident, $pass:ident, $planned:expr) => {
        match $planned {
            Ok(Planned::Actions) => $pass.plan(Plan).into(),
            Ok(Planned::Ask(ask)) => sure($pass.ask(ask)).into(),
            Ok(Planned::Nothing(summary)) => sure($pass.finish(Finish::noop(summary))).into(),
            Err(error) => fatal($work, $pass, error),
        }
    };
}

impl Graph {
    pub(super) async fn plan(&self, work: &mut Work, pass: ServicePass<PlanTx>) -> AnyServicePass {
        let planned = match self.ask_planner(work).await {
            Ok(draft) => self.take_plan(work, ServicePassStatus::PlanTx, draft),
            Err(error) => Err(error),
        };
        follow!(work, pass, planned)
    }

    pub(super) async fn plan_again(
        &self,
        work: &mut Work,
        pass: ServicePass<RepairPlanTx>,
    ) -> AnyServicePass {
        let planned = match self.ask_planner(work).await {
            Ok(draft) => self.take_plan(work, ServicePassStatus::RepairPlanTx, draft),
            Err(error) => Err(error),
        };
        follow!(work, pass, planned)
    }

    /// PLAN_TX without a planner port.
    pub(super) fn plan_by_phrase(&self, work: &mut Work, pass: ServicePass<PlanTx>) -> AnyServicePass {
        match self.planner_input(work) {
            Ok(input) => work.artifacts.planner_input = Some(input),
            Err(error) => return fatal(work, pass, error),
        }
        let intent = work.artifacts.normalized_intent.as_deref().unwrap_or_default();
        let draft = Draft { answer: plan_phrase(intent), planned_by: PlannedBy::Phrases, fallback: None };
        let planned = self.take_plan(work, ServicePassStatus::PlanTx, draft);
        follow!(work, pass, planned)
    }

    fn planner_input(&self, work: &Work) -> Result<PlannerInput, PortError> {
        let (chain, wallet) = self.chain_and_wallet(&work.run)?;
        let repair = work.artifacts.repair_context.clone();
        let previous = work.artifacts.tx_plan_history.last().filter(|_| repair.is_some());
        Ok(PlannerInput {
            intent: work.artifacts.normalized_intent.clone().unwrap_or_default(),
            chain_id: chain.id,
            wallet,
            assets: chain.symbols(),
            user_inputs: work.artifacts.user_inputs.clone(),
            previous_plan: previous.cloned(),
            repair,
        })
    }

    /// Asks the planner. A planner that fails gives a plan without actions.
    async fn ask_planner(&self, work: &mut Work) -> Result<Draft, PortError> {
        let input = self.planner_input(work)?;
        let draft = match &self.ports.planner {
            Some(planner) => {
                let call = planner.plan(&input);
                Draft::of_planner(within("the planner", self.config.port_limit, call).await)
            }
            // A pass that began with a planner may be resumed without one.
            None => Draft::without_actions("no planner is configured".to_owned()),
        };
        work.artifacts.planner_input = Some(input);
        Ok(draft)
    }

    /// Writes the plan, and decides the next transition.
    fn take_plan(
        &self,
        work: &mut Work,
        node: ServicePassStatus,
        draft: Draft,
    ) -> Result<Planned, PortError> {
        let (chain, _) = self.chain_and_wallet(&work.run)?;
        let Draft { mut answer, planned_by, fallback } = draft;
        let is_address = |text: &str| self.ports.compiler.is_address(text);
        let unplanned = slots::missing(&answer.actions, chain, is_address);
        slots::fill(&mut answer.actions, &work.artifacts.user_inputs, |slot| match planned_by {
            PlannedBy::Phrases => true,
            PlannedBy::Planner | PlannedBy::Fallback => unplanned.iter().any(|missing| missing.slot == slot),
        });
        let missing = slots::missing(&answer.actions, chain, is_address);
        let names: Vec<String> = missing.iter().map(|missing| missing.slot.clone()).collect();
        let short = match &work.artifacts.wallet_snapshot {
            Some(snapshot) if missing.is_empty() => too_little(&answer, chain, snapshot),
            _ => Vec::new(),
        };
        let warns = fallback.is_some();
        work.artifacts.planner_result =
            Some(PlannerResult { planned_by, planner_fallback: fallback, missing: names.clone() });
        let PlanAnswer { actions, summary } = answer;
        let count = actions.len();
        // The words of the intent and of a planner may say something else than the actions, which answers fill.
        let summary = if actions.is_empty() { summary } else { describe(&actions) };
        work.artifacts.tx_plan = Some(TxPlan { actions, summary: summary.clone(), candidates: Vec::new() });
        if count == 0 {
            let status = if warns { TimelineStatus::Warn } else { TimelineStatus::Ok };
            work.ended(node, status, &summary);
            return Ok(Planned::Nothing(summary));
        }
        if missing.is_empty() && short.is_empty() {
            work.ended(node, TimelineStatus::Ok, &format!("{count} actions: {summary}"));
            return Ok(Planned::Actions);
        }
        let ask = if missing.is_empty() {
            work.ended(node, TimelineStatus::NeedsInput, "the balance is too low");
            Ask::with_questions(short.iter().map(|question| question.text.clone()))
        } else {
            work.ended(node, TimelineStatus::NeedsInput, &format!("missing: {}", names.join(", ")));
            Ask::for_slots(names)
        };
        work.artifacts.needs_input = Some(NeedsInput { missing, questions: short, resume_from: node });
        Ok(Planned::Ask(ask))
    }
}

/// The actions in words.
fn describe(actions: &[Action]) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".to_owned());
    let described = actions.iter().map(|action| match action {
        Action::Send { amount, asset, recipient } => {
            format!("send {} {} to {}", value(amount), value(asset), value(recipient))
        }
        Action::Swap { amount_in, token_in, token_out, .. } => {
            format!("swap {} {} for {}", value(amount_in), value(token_in), value(token_out))
        }
    });
    described.collect::<Vec<_>>().join(", then ")
}

/// A question for each asset of which the wallet has too little.
fn too_little(answer: &PlanAnswer, chain: &Chain, snapshot: &WalletSnapshot) -> Vec<Question> {
    let needed: BTreeMap<String, Units> = slots::needed(&answer.actions, chain);
    let mut questions = Vec::new();
    for (symbol, needed) in needed {
        let (has, decimals) = match chain.token(&symbol) {
            Some((known, token)) => {
                let balance = snapshot.tokens.get(known).map(|token| token.balance);
                (balance.unwrap_or_default(), token.decimals)
            }
            None => (snapshot.native, NATIVE_DECIMALS),
        };
        if has < needed {
            let (has, needed) = (has.decimal(decimals), needed.decimal(decimals));
            let text =
                format!("The wallet has {has} {symbol}, and {needed} are needed. Which amount should it be?");
            questions.push(Question { slot: None, text, options: Vec::new() });
        }
    }
    questions
}
