//! The eight checks, each one alone, and the scores.

use runstate_service::{
    Action, Candidate, Chain, CheckStatus, DecisionAction, DecodedCall, PolicyInput, PolicyRules, Severity,
    Simulation, SimulationMode, SimulationStatus, Token, TxCall, TxKind, TxPlan, TxRequest, TxResult, Units,
    decide, evaluate_policy,
};

const IDS: [&str; 8] = [
    "required_artifacts",
    "nothing_broadcast",
    "target_allowlist",
    "protocol_allowlist",
    "approval_amounts",
    "slippage_bounds",
    "minimum_out",
    "simulation",
];

/// The artifacts of an allowance and a swap without a finding.
#[derive(Clone)]
struct Case {
    rules: PolicyRules,
    plan: TxPlan,
    requests: Vec<TxRequest>,
    simulation: Simulation,
    decoded: Decoded,
}

/// The reading of a decoder.
#[derive(Clone)]
enum Decoded {
    /// The described calls.
    Honest,
    /// These calls.
    Other(Vec<Option<DecodedCall>>),
    /// There is no decoder.
    None,
}

fn honest(call: &TxCall) -> Option<DecodedCall> {
    Some(match call.clone() {
        TxCall::TransferNative { .. } => return None,
        TxCall::TransferToken { recipient, amount, .. } => DecodedCall::Transfer { recipient, amount },
        TxCall::Approve { spender, amount, .. } => DecodedCall::Approve { spender, amount },
        TxCall::Swap { token_in, token_out, amount_in, min_out, .. } => {
            DecodedCall::Swap { token_in, token_out, amount_in, min_out }
        }
    })
}

fn tx(kind: TxKind, to: &str) -> TxRequest {
    let (from, data) = ("0xa".to_owned(), "0x".to_owned());
    TxRequest { kind, chain_id: 1, from, to: to.into(), value: Units(0), data }
}

fn chain() -> Chain {
    let token = |address: &str| Token { address: address.into(), decimals: 0 };
    let tokens = [("IN".to_owned(), token("0x1")), ("OUT".to_owned(), token("0x3"))];
    Chain { id: 1, name: "one".into(), native: "ETH".into(), tokens: tokens.into() }
}

fn clean() -> Case {
    let (token, router) = ("0x1".to_owned(), "0x2".to_owned());
    let approve = TxCall::Approve { token: token.clone(), spender: router.clone(), amount: Units(100) };
    let swap = TxCall::Swap {
        router,
        token_in: token,
        token_out: "0x3".into(),
        amount_in: Units(100),
        quoted_out: Units(1_000),
        min_out: Units(995),
        slippage_bps: 50,
    };
    let candidate =
        |protocol: &str, call, tx| Candidate { protocol: protocol.into(), call, tx, tx_hash: None };
    let candidates = vec![
        candidate("token", approve, tx(TxKind::Approve, "0x1")),
        candidate("pool", swap, tx(TxKind::Swap, "0x2")),
    ];
    let some = |text: &str| Some(text.to_owned());
    let action = Action::Swap {
        amount_in: some("100"),
        token_in: some("IN"),
        token_out: some("OUT"),
        slippage_bps: None,
    };
    Case {
        rules: PolicyRules {
            targets: ["0x1", "0x2"].map(str::to_owned).into(),
            protocols: ["token", "pool"].map(str::to_owned).into(),
            ..PolicyRules::default()
        },
        requests: candidates.iter().map(|candidate| candidate.tx.clone()).collect(),
        plan: TxPlan { actions: vec![action], summary: "swap".into(), candidates },
        decoded: Decoded::Honest,
        simulation: Simulation {
            status: SimulationStatus::Ok,
            mode: SimulationMode::Sequential,
            results: vec![TxResult::ok(), TxResult::ok().with_out(Some(Units(1_001)))],
            assumed_allowances: Vec::new(),
            summary: "2 transactions succeed".into(),
        },
    }
}

fn swap_of(case: &mut Case) -> &mut TxCall {
    &mut case.plan.candidates[1].call
}

/// The checks that did not pass, after an edit of the clean case.
fn found(edit: impl FnOnce(&mut Case)) -> Vec<(&'static str, CheckStatus)> {
    let mut case = clean();
    edit(&mut case);
    let decoded: Option<Vec<_>> = match case.decoded.clone() {
        Decoded::Honest => Some(case.plan.candidates.iter().map(|it| honest(&it.call)).collect()),
        Decoded::Other(calls) => Some(calls),
        Decoded::None => None,
    };
    let input = PolicyInput {
        plan: Some(&case.plan),
        requests: Some(&case.requests),
        simulation: Some(&case.simulation),
        decoded: decoded.as_deref(),
        chain: Some(&chain()),
        wallet: Some("0xA"),
    };
    let checks = evaluate_policy(&case.rules, &input).checks;
    assert!(checks.iter().map(|check| check.id.as_str()).eq(IDS), "the order is fixed");
    let for_programmers = checks.iter().find(|check| check.reason.contains(['{', '(']));
    assert_eq!(for_programmers, None, "a reason is for a person");
    let found = IDS.into_iter().zip(checks.iter().map(|check| check.status));
    found.filter(|(_, status)| *status != CheckStatus::Pass).collect()
}

#[test]
fn clean_swap_passes_each_check() {
    assert_eq!(found(|_| {}), []);
}

#[test]
fn missing_or_other_artifacts_fail() {
    let fails = [("required_artifacts", CheckStatus::Fail)];
    assert_eq!(found(|case| case.plan.actions.clear()), fails);
    assert_eq!(found(|case| case.requests.reverse()), fails);
    assert_eq!(found(|case| case.requests[0].data = "0xbad".into()), fails);
    assert_eq!(found(|case| drop(case.requests.pop())), fails);
    let checks = evaluate_policy(&clean().rules, &PolicyInput::default()).checks;
    let failed = checks.iter().filter(|check| check.status == CheckStatus::Fail).count();
    assert_eq!(failed, 2, "the artifacts and the simulation");
}

#[test]
fn sent_transaction_fails() {
    let fails = [("nothing_broadcast", CheckStatus::Fail)];
    assert_eq!(found(|case| case.plan.candidates[0].tx_hash = Some("0x9".into())), fails);
    assert_eq!(found(|case| case.simulation.results[1].tx_hash = Some("0x9".into())), fails);
}

#[test]
fn contracts_and_protocols_need_their_lists() {
    let targets = [("target_allowlist", CheckStatus::Fail)];
    assert_eq!(found(|case| case.rules.targets.retain(|target| target != "0x1")), targets);
    assert_eq!(found(|case| case.rules.targets.retain(|target| target != "0x2")), targets, "a spender too");
    assert_eq!(found(|case| case.rules.targets.clear()), targets, "an empty list allows nothing");
    let protocols = [("protocol_allowlist", CheckStatus::Fail)];
    assert_eq!(found(|case| case.rules.protocols.clear()), protocols);
    assert_eq!(found(|case| case.plan.candidates[1].protocol = "other".into()), protocols);
}

#[test]
fn plain_transfer_calls_no_contract() {
    let transfer = |case: &mut Case| {
        case.rules.targets.clear();
        case.plan.candidates.truncate(1);
        let amount = Some("0.000000000000000001".to_owned());
        let (asset, recipient) = (Some("ETH".to_owned()), Some("0xbeef".to_owned()));
        case.plan.actions = vec![Action::Send { amount, asset, recipient }];
        case.plan.candidates[0].tx.kind = TxKind::Transfer;
        case.plan.candidates[0].call =
            TxCall::TransferNative { recipient: "0xbeef".into(), amount: Units(1) };
        (case.plan.candidates[0].tx.to, case.plan.candidates[0].tx.value) = ("0xBEEF".into(), Units(1));
        case.requests = vec![case.plan.candidates[0].tx.clone()];
    };
    assert_eq!(found(transfer), []);
    // Another transaction that is described as a transfer fails, also one of an allowed contract.
    let others: [fn(&mut TxRequest); 4] = [
        |tx| tx.data = "0xdeadbeef".into(),
        |tx| tx.to = "0xbad".into(),
        |tx| tx.to = "0x1".into(),
        |tx| tx.value = Units(2),
    ];
    for other in others {
        let disguised = |case: &mut Case| {
            let rules = case.rules.clone();
            transfer(case);
            case.rules = rules;
            case.rules.targets.insert("0xbeef".into());
            other(&mut case.plan.candidates[0].tx);
            case.requests = vec![case.plan.candidates[0].tx.clone()];
        };
        assert_eq!(found(disguised)[0], ("required_artifacts", CheckStatus::Fail));
    }
}

#[test]
fn transactions_do_what_the_actions_ask_for() {
    let fails = [("required_artifacts", CheckStatus::Fail)];
    fn with_tx(case: &mut Case, edit: impl FnOnce(&mut TxRequest)) {
        edit(&mut case.plan.candidates[1].tx);
        case.requests[1] = case.plan.candidates[1].tx.clone();
    }
    assert_eq!(found(|case| with_tx(case, |tx| tx.from = "0xb".into())), fails);
    assert_eq!(found(|case| with_tx(case, |tx| tx.chain_id = 2)), fails);
    assert_eq!(found(|case| with_tx(case, |tx| tx.to = "0x1".into())), fails);
    assert_eq!(found(|case| with_tx(case, |tx| tx.value = Units(1))), fails);
    assert_eq!(found(|case| with_tx(case, |tx| tx.kind = TxKind::Transfer)), fails);
    let acts = |edit: fn(&mut Case)| found(edit);
    assert_eq!(acts(|case| case.plan.actions.push(case.plan.actions[0].clone())), fails);
    for (slot, other) in [("amount_in", "99"), ("token_in", "OUT"), ("token_out", "IN"), ("amount_in", "x")] {
        let other = |case: &mut Case| *case.plan.actions[0].slot_mut(slot).unwrap() = Some(other.into());
        assert_eq!(found(other), fails, "{slot}");
    }
    let stricter = |case: &mut Case| {
        let Action::Swap { slippage_bps, .. } = &mut case.plan.actions[0] else { unreachable!() };
        *slippage_bps = Some(49);
    };
    assert_eq!(found(stricter), fails);
    let sends = |case: &mut Case| {
        let some = |text: &str| Some(text.to_owned());
        let (amount, asset, recipient) = (some("100"), some("IN"), some("0x2"));
        case.plan.actions = vec![Action::Send { amount, asset, recipient }];
    };
    assert_eq!(found(sends), fails, "an exchange is no transfer");
}

#[test]
fn call_data_is_that_of_the_described_call() {
    let fails = [("required_artifacts", CheckStatus::Fail)];
    let reads = |place: usize, call: Option<DecodedCall>| {
        found(move |case| {
            let mut calls: Vec<_> = case.plan.candidates.iter().map(|it| honest(&it.call)).collect();
            calls[place] = call;
            case.decoded = Decoded::Other(calls);
        })
    };
    let approve =
        |spender: &str, amount| Some(DecodedCall::Approve { spender: spender.into(), amount: Units(amount) });
    let swap = |sold: &str, bought: &str, amount_in, min_out| {
        let (token_in, token_out) = (sold.to_owned(), bought.to_owned());
        Some(DecodedCall::Swap { token_in, token_out, amount_in: Units(amount_in), min_out: Units(min_out) })
    };
    assert_eq!(reads(0, approve("0x2", 100)), []);
    assert_eq!(reads(1, swap("0x1", "0x3", 100, 995)), []);
    for other in [approve("0xbad", 100), approve("0x2", 101), None, swap("0x1", "0x3", 100, 995)] {
        assert_eq!(reads(0, other.clone()), fails, "{other:?}");
    }
    let others = [
        swap("0x3", "0x3", 100, 995),
        swap("0x1", "0x1", 100, 995),
        swap("0x1", "0x3", 101, 995),
        swap("0x1", "0x3", 100, 0),
        approve("0x2", 100),
        None,
    ];
    for other in others {
        assert_eq!(reads(1, other.clone()), fails, "{other:?}");
    }
    assert_eq!(found(|case| case.decoded = Decoded::Other(Vec::new())), fails);
    let unread = found(|case| case.decoded = Decoded::None);
    assert_eq!(unread, [("required_artifacts", CheckStatus::Warn)], "a person must know it");
}

#[test]
fn allowance_that_no_exchange_uses_fails() {
    let other = |case: &mut Case| {
        let TxCall::Approve { spender, .. } = &mut case.plan.candidates[0].call else { unreachable!() };
        *spender = "0x1".into();
    };
    assert_eq!(found(other), [("approval_amounts", CheckStatus::Fail)]);
}

#[test]
fn allowances_are_no_larger_than_needed() {
    let allows = |granted: Units| {
        move |case: &mut Case| {
            let TxCall::Approve { amount, .. } = &mut case.plan.candidates[0].call else { unreachable!() };
            *amount = granted;
        }
    };
    assert_eq!(found(allows(Units(101))), [("approval_amounts", CheckStatus::Warn)]);
    assert_eq!(found(allows(Units::MAX)), [("approval_amounts", CheckStatus::Fail)]);
    assert_eq!(found(allows(Units(0))), [("approval_amounts", CheckStatus::Fail)]);
    assert_eq!(found(allows(Units(99))), []);
}

#[test]
fn slippage_has_two_bounds() {
    let slips = |bps: u32| {
        move |case: &mut Case| {
            let TxCall::Swap { slippage_bps, min_out, .. } = swap_of(case) else { unreachable!() };
            (*slippage_bps, *min_out) = (bps, Units(1_000));
        }
    };
    assert_eq!(found(slips(100)), []);
    assert_eq!(found(slips(101)), [("slippage_bounds", CheckStatus::Warn)]);
    assert_eq!(found(slips(300)), [("slippage_bounds", CheckStatus::Warn)]);
    assert_eq!(found(slips(301)), [("slippage_bounds", CheckStatus::Fail)]);
}

#[test]
fn swap_needs_a_least_result() {
    let least = |least: Units| {
        move |case: &mut Case| {
            let TxCall::Swap { min_out, .. } = swap_of(case) else { unreachable!() };
            *min_out = least;
        }
    };
    assert_eq!(found(least(Units(0))), [("minimum_out", CheckStatus::Fail)]);
    assert_eq!(found(least(Units(994))), [("minimum_out", CheckStatus::Fail)]);
    assert_eq!(found(least(Units(995))), []);
}

#[test]
fn least_result_is_compared_with_the_simulation() {
    let gives = |out: Option<u128>| move |case: &mut Case| case.simulation.results[1].out = out.map(Units);
    let (warns, fails) = ([("minimum_out", CheckStatus::Warn)], [("minimum_out", CheckStatus::Fail)]);
    // The least result 995 is 3 % below 1,026, and the quote 1,000 is 3 % below 1,031.
    assert_eq!(found(gives(Some(1_026))), []);
    assert_eq!(found(gives(Some(1_027))), warns, "a person must know it");
    assert_eq!(found(gives(Some(1_031))), warns);
    assert_eq!(found(gives(Some(1_032))), fails, "the quote was a lie");
    assert_eq!(found(gives(None)), warns, "a person must know it");
    let lost = |case: &mut Case| case.simulation.results.clear();
    assert_eq!(found(lost), warns);
}

#[test]
fn largest_slippage_has_room_for_a_better_price() {
    let found = found(|case| {
        let TxCall::Swap { slippage_bps, min_out, .. } = swap_of(case) else { unreachable!() };
        (*slippage_bps, *min_out) = (300, Units(970));
        case.simulation.results[1].out = Some(Units(1_002));
    });
    assert_eq!(found, ["slippage_bounds", "minimum_out"].map(|id| (id, CheckStatus::Warn)));
}

#[test]
fn simulation_fails_or_warns() {
    let failed = |case: &mut Case| case.simulation.status = SimulationStatus::Failed;
    assert_eq!(found(failed), [("simulation", CheckStatus::Fail)]);
    let assumed = |case: &mut Case| case.simulation.assumed_allowances = vec![1];
    assert_eq!(found(assumed), [("simulation", CheckStatus::Warn)]);
    let accepted = |case: &mut Case| {
        assumed(case);
        case.rules.accept_assumed_allowances = true;
    };
    assert_eq!(found(accepted), []);
    let unseen = |case: &mut Case| {
        case.rules.accept_assumed_allowances = true;
        case.simulation.results[1].assumed = true;
    };
    assert_eq!(found(unseen), [("simulation", CheckStatus::Warn)], "another assumption than an allowance");
}

#[test]
fn scores_grow_by_fifteen_up_to_a_hundred() {
    use runstate_service::{Check, PolicyResult};

    let check = |status| Check {
        id: "x".into(),
        title: "x".into(),
        status,
        reason: "y".into(),
        metadata: Default::default(),
    };
    let warned = |n: usize| decide(&PolicyResult { checks: vec![check(CheckStatus::Warn); n] });
    let rows = [
        (0, 0, Severity::Low),
        (1, 15, Severity::Low),
        (2, 30, Severity::Med),
        (3, 45, Severity::Med),
        (4, 60, Severity::High),
        (6, 90, Severity::High),
        (7, 100, Severity::High),
        (8, 100, Severity::High),
    ];
    for (warnings, score, severity) in rows {
        let decision = warned(warnings);
        assert_eq!((decision.risk_score, decision.severity), (score, severity), "{warnings} warnings");
        assert_eq!(decision.action, DecisionAction::NeedsApproval);
        assert_eq!(decision.reasons.len(), warnings);
    }
    let mut checks = vec![check(CheckStatus::Warn), check(CheckStatus::Fail), check(CheckStatus::Pass)];
    checks[1].id = "z".into();
    let blocked = decide(&PolicyResult { checks });
    assert_eq!((blocked.action, blocked.risk_score), (DecisionAction::Block, 100));
    assert_eq!(blocked.reasons, ["z: y", "x: y"], "failures first");
}
