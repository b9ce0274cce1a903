//! The policy: eight checks in a fixed order, and the decision that follows from them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::artifact::{
    Candidate, Check, CheckStatus, Decision, DecisionAction, DecodedCall, PolicyResult, Severity, Simulation,
    SimulationStatus, TxCall, TxPlan, TxRequest, Units,
};
use crate::config::{Chain, PolicyRules};
use crate::meaning;

/// The artifacts that the policy examines.
#[derive(Debug, Clone, Copy, Default)]
pub struct PolicyInput<'a> {
    /// The plan.
    pub plan: Option<&'a TxPlan>,
    /// The transactions.
    pub requests: Option<&'a [TxRequest]>,
    /// The simulation.
    pub simulation: Option<&'a Simulation>,
    /// The call data of the transactions as a decoder reads it, one for each. None: no decoder is configured, and the
    /// policy warns.
    pub decoded: Option<&'a [Option<DecodedCall>]>,
    /// The chain of the run.
    pub chain: Option<&'a Chain>,
    /// The address of the wallet.
    pub wallet: Option<&'a str>,
}

impl<'a> PolicyInput<'a> {
    fn candidates(&self) -> &'a [Candidate] {
        self.plan.map_or(&[], |plan| &plan.candidates)
    }
}

/// The points of a warning.
const WARN_SCORE: u32 = 15;

type Found = (CheckStatus, String, Vec<(&'static str, Value)>);

fn pass(reason: impl Into<String>) -> Found {
    (CheckStatus::Pass, reason.into(), Vec::new())
}

/// Applies the eight checks, in their order.
///
/// ```
/// use runstate_service::{CheckStatus, PolicyInput, PolicyRules, evaluate_policy};
///
/// let result = evaluate_policy(&PolicyRules::default(), &PolicyInput::default());
/// assert_eq!(result.checks.len(), 8);
/// assert_eq!((result.checks[0].id.as_str(), result.checks[0].status), ("required_artifacts", CheckStatus::Fail));
/// ```
pub fn evaluate_policy(rules: &PolicyRules, input: &PolicyInput<'_>) -> PolicyResult {
    let checks: [(&str, &str, Found); 8] = [
        ("required_artifacts", "Plan, transactions and simulation are there", required(input)),
        ("nothing_broadcast", "No transaction was sent", nothing_sent(input)),
        ("target_allowlist", "Each called contract is allowed", targets(rules, input)),
        ("protocol_allowlist", "Each protocol is allowed", protocols(rules, input)),
        ("approval_amounts", "Allowances are no larger than needed", approvals(input)),
        ("slippage_bounds", "The slippage is within its bounds", slippage(rules, input)),
        ("minimum_out", "Each swap has a least result", minimum_out(rules, input)),
        ("simulation", "The simulation succeeded", simulation(rules, input)),
    ];
    let check = |(id, title, (status, reason, metadata)): (&str, &str, Found)| Check {
        id: id.into(),
        title: title.into(),
        status,
        reason,
        metadata: metadata
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect::<BTreeMap<_, _>>(),
    };
    PolicyResult { checks: checks.into_iter().map(check).collect() }
}

/// Decides by the checks: a failed one blocks; otherwise a person must approve, and each warning adds to the score.
///
/// ```
/// use runstate_service::{Check, CheckStatus, DecisionAction, PolicyResult, Severity, decide};
///
/// let check = |status| Check {
///     id: "x".into(), title: "x".into(), status, reason: "x".into(), metadata: Default::default(),
/// };
/// let warned = decide(&PolicyResult { checks: vec![check(CheckStatus::Warn), check(CheckStatus::Warn)] });
/// assert_eq!((warned.action, warned.risk_score), (DecisionAction::NeedsApproval, 30));
/// assert_eq!(warned.severity, Severity::Med);
/// let failed = decide(&PolicyResult { checks: vec![check(CheckStatus::Fail)] });
/// assert_eq!((failed.action, failed.risk_score), (DecisionAction::Block, 100));
/// ```
pub fn decide(result: &PolicyResult) -> Decision {
    let of = |status: CheckStatus| result.checks.iter().filter(move |check| check.status == status);
    let failed = of(CheckStatus::Fail).count();
    let warned = u32::try_from(of(CheckStatus::Warn).count()).unwrap_or(u32::MAX);
    let reasons = of(CheckStatus::Fail).chain(of(CheckStatus::Warn));
    let reasons = reasons.map(|check| format!("{}: {}", check.id, check.reason)).collect();
    let (action, risk_score) = match failed {
        0 => (DecisionAction::NeedsApproval, warned.saturating_mul(WARN_SCORE).min(100)),
        _ => (DecisionAction::Block, 100),
    };
    let severity = match risk_score {
        60.. => Severity::High,
        25..=59 => Severity::Med,
        _ => Severity::Low,
    };
    let summary = match (failed, warned) {
        (0, 0) => "all checks passed; a person must approve".to_owned(),
        (0, warned) => format!("{warned} of {} checks warn; a person must approve", result.checks.len()),
        (failed, _) => format!("{failed} of {} checks failed", result.checks.len()),
    };
    Decision { action, risk_score, severity, summary, reasons }
}

fn required(input: &PolicyInput<'_>) -> Found {
    let fail = |reason: &str| (CheckStatus::Fail, reason.to_owned(), Vec::new());
    let requests = input.requests.unwrap_or_default();
    let actions = input.plan.map_or(&[][..], |plan| &plan.actions);
    if actions.is_empty() {
        fail("there is no plan with actions")
    } else if requests.is_empty() {
        fail("there are no transactions")
    } else if input.simulation.is_none() {
        fail("there is no simulation")
    } else if !requests.iter().eq(input.candidates().iter().map(|candidate| &candidate.tx)) {
        fail("the transactions are not those of the plan")
    } else if let (Some(chain), Some(wallet)) = (input.chain, input.wallet) {
        match meaning::check(actions, input.candidates(), chain, wallet, input.decoded) {
            Ok(()) if input.decoded.is_none() && input.candidates().iter().any(is_call) => {
                let reason =
                    "no decoder reads the call data: it may do something else than the plan".to_owned();
                (CheckStatus::Warn, reason, Vec::new())
            }
            Ok(()) => pass(format!("{} transactions", requests.len())),
            Err(reason) => (CheckStatus::Fail, reason, Vec::new()),
        }
    } else {
        fail("the chain or the wallet is unknown")
    }
}

fn is_call(candidate: &Candidate) -> bool {
    !matches!(candidate.call, TxCall::TransferNative { .. })
}

fn nothing_sent(input: &PolicyInput<'_>) -> Found {
    let built = input.candidates().iter().filter_map(|candidate| candidate.tx_hash.as_ref());
    let simulated = input.simulation.into_iter().flat_map(|simulation| &simulation.results);
    let simulated = simulated.filter_map(|result| result.tx_hash.as_ref());
    let sent: Vec<_> = built.chain(simulated).collect();
    match sent.len() {
        0 => pass("no hash is known"),
        n => (CheckStatus::Fail, format!("{n} transactions were sent"), vec![("hashes", json!(sent))]),
    }
}

/// The contract that a transaction calls; none for a transaction without call data.
fn target(candidate: &Candidate) -> Option<&str> {
    let tx = &candidate.tx;
    match &candidate.call {
        TxCall::TransferNative { .. } if tx.data == "0x" => None,
        _ => Some(&tx.to),
    }
}

fn targets(rules: &PolicyRules, input: &PolicyInput<'_>) -> Found {
    let allowed = |address: &str| rules.targets.iter().any(|known| known.eq_ignore_ascii_case(address));
    // An allowance is as dangerous as a call of its spender.
    let spender = |candidate: &Candidate| match &candidate.call {
        TxCall::Approve { spender, .. } => Some(spender.clone()),
        _ => None,
    };
    let named = input
        .candidates()
        .iter()
        .flat_map(|candidate| target(candidate).map(str::to_owned).into_iter().chain(spender(candidate)));
    let other: Vec<String> = named.filter(|address| !allowed(address)).collect();
    match other.first() {
        None => pass("each one is on the list"),
        Some(first) => {
            (CheckStatus::Fail, format!("{first} is not on the list"), vec![("targets", json!(other))])
        }
    }
}

fn protocols(rules: &PolicyRules, input: &PolicyInput<'_>) -> Found {
    let other = input.candidates().iter().map(|candidate| &candidate.protocol);
    let other: Vec<_> = other.filter(|protocol| !rules.protocols.contains(*protocol)).collect();
    match other.first() {
        None => pass("each one is on the list"),
        Some(first) => {
            (CheckStatus::Fail, format!("{first:?} is not on the list"), vec![("protocols", json!(other))])
        }
    }
}

fn approvals(input: &PolicyInput<'_>) -> Found {
    let mut worst = pass("no allowance is larger than needed");
    for candidate in input.candidates() {
        let TxCall::Approve { token, amount, spender } = &candidate.call else { continue };
        let needed = meaning::taken(input.candidates(), token, spender);
        let metadata =
            vec![("amount", json!(amount)), ("needed", json!(needed)), ("spender", json!(spender))];
        if needed == Units(0) {
            let reason = format!("no exchange uses the allowance for {spender}");
            return (CheckStatus::Fail, reason, metadata);
        }
        if *amount == Units::MAX || *amount == Units(0) {
            let what = if *amount == Units(0) { "is zero" } else { "has no limit" };
            return (CheckStatus::Fail, format!("the allowance for {spender} {what}"), metadata);
        }
        if *amount > needed {
            let reason = format!("the allowance for {spender} is {amount}, needed is {needed}");
            worst = (CheckStatus::Warn, reason, metadata);
        }
    }
    worst
}

fn slippage(rules: &PolicyRules, input: &PolicyInput<'_>) -> Found {
    let of_swap = |candidate: &Candidate| match candidate.call {
        TxCall::Swap { slippage_bps, .. } => Some(slippage_bps),
        _ => None,
    };
    let Some(largest) = input.candidates().iter().filter_map(of_swap).max() else {
        return pass("no swap");
    };
    let metadata = vec![
        ("slippage_bps", json!(largest)),
        ("warn_slippage_bps", json!(rules.warn_slippage_bps)),
        ("max_slippage_bps", json!(rules.max_slippage_bps)),
    ];
    if largest > rules.max_slippage_bps {
        let reason = format!("{largest} hundredths of a percent, at most {}", rules.max_slippage_bps);
        (CheckStatus::Fail, reason, metadata)
    } else if largest > rules.warn_slippage_bps {
        (CheckStatus::Warn, format!("{largest} hundredths of a percent"), metadata)
    } else {
        (CheckStatus::Pass, format!("{largest} hundredths of a percent"), metadata)
    }
}

/// The least result that the slippage permits.
pub(crate) fn least_out(quoted: Units, slippage_bps: u32) -> Units {
    let kept = u128::from(10_000_u32.saturating_sub(slippage_bps));
    // The product of large amounts does not fit: divide first then, which errs to the smaller side.
    Units(quoted.0.checked_mul(kept).map_or(quoted.0 / 10_000 * kept, |product| product / 10_000))
}

fn minimum_out(rules: &PolicyRules, input: &PolicyInput<'_>) -> Found {
    let (mut swaps, mut unseen, mut moved) = (0, 0, None);
    for (place, candidate) in input.candidates().iter().enumerate() {
        let TxCall::Swap { min_out, quoted_out, slippage_bps, .. } = candidate.call else { continue };
        let least = least_out(quoted_out, slippage_bps);
        if min_out == Units(0) || min_out < least {
            let reason = format!("a swap accepts {min_out}, expected at least {least}");
            return (CheckStatus::Fail, reason, vec![("min_out", json!(min_out)), ("least", json!(least))]);
        }
        swaps += 1;
        let result = input.simulation.and_then(|simulation| simulation.results.get(place));
        let Some(out) = result.and_then(|result| result.out) else {
            unseen += 1;
            continue;
        };
        // The price moves between the quote and the simulation. A swap with the largest slippage has no room for it in its
        // least result, so only the quote itself blocks.
        let least = least_out(out, rules.max_slippage_bps);
        let found = |status, name: &'static str, amount: Units| {
            let reason = format!(
                "the {name} of a swap is {amount}; it gives {out} in the simulation, so expected at least {least}"
            );
            let metadata = [(name, amount), ("simulated_out", out), ("least", least)];
            (status, reason, metadata.map(|(name, units)| (name, json!(units))).into())
        };
        if quoted_out < least {
            return found(CheckStatus::Fail, "quoted_out", quoted_out);
        }
        if min_out < least {
            moved = Some(found(CheckStatus::Warn, "min_out", min_out));
        }
    }
    match (swaps, unseen, moved) {
        (0, ..) => pass("no swap"),
        (_, 0, None) => pass(format!("swaps with a least result: {swaps}")),
        (_, _, Some(moved)) => moved,
        _ => {
            let reason = format!("swaps without a simulated result: {unseen}; the quote may be wrong");
            (CheckStatus::Warn, reason, Vec::new())
        }
    }
}

fn simulation(rules: &PolicyRules, input: &PolicyInput<'_>) -> Found {
    let Some(simulation) = input.simulation else {
        return (CheckStatus::Fail, "there is no simulation".into(), Vec::new());
    };
    if simulation.status == SimulationStatus::Failed {
        return (CheckStatus::Fail, simulation.summary.clone(), Vec::new());
    }
    let assumed: Vec<_> =
        (0..simulation.results.len()).filter(|place| simulation.results[*place].assumed).collect();
    if !assumed.is_empty() {
        let reason = "the simulator could not apply the effects of the earlier transactions".to_owned();
        return (CheckStatus::Warn, reason, vec![("transactions", json!(assumed))]);
    }
    if !simulation.assumed_allowances.is_empty() && !rules.accept_assumed_allowances {
        let reason = "a transaction uses an allowance that an earlier one grants".to_owned();
        return (CheckStatus::Warn, reason, vec![("transactions", json!(simulation.assumed_allowances))]);
    }
    pass(simulation.summary.clone())
}
