//! Cases from seeds.

use fastrand::Rng;
use runstate::decision::ResumeMode;
use runstate_agent::stop::StopConditionSpec;
use runstate_agent::{Durability, ExecutionMode, SuspensionPolicy, WhenSuspended};

use super::patterns::{MANY, pattern};
use super::people::{approve, confuse, crowd};
use super::{
    Act, ActPhase, Answer, Ask, Call, Case, ComesTo, Does, Execution, Fault, Gate, Kind, OnAsk, Says, Send,
    Timed, ToolName, Trouble, Writes,
};

const MODES: [ExecutionMode; 3] =
    [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent];
const RESUMES: [ResumeMode; 3] =
    [ResumeMode::ReplayToolCall, ResumeMode::UseDecisionAsToolResult, ResumeMode::PassDecisionToTool];

/// The case of a seed.
pub fn generate(seed: u64) -> Case {
    let mut case = scripted(seed);
    let mut rng = Rng::with_seed(seed ^ 0xa99);
    if rng.u8(..6) == 0 {
        approve(&mut rng, &mut case);
    }
    case
}

/// The case of a seed without tools that people must approve, which a scenario cannot express.
pub fn scripted(seed: u64) -> Case {
    let mut rng = Rng::with_seed(seed);
    let mut case = skeleton(seed, &mut rng);
    if rng.u8(..10) < 4 {
        for _ in 0..=rng.u8(..4) {
            case.timed.push(timed(&mut rng));
        }
    }
    if rng.u8(..20) == 0 {
        behind(&mut rng, &mut case);
    }
    if rng.u8(..8) == 0 {
        case.messages.push(rng.u64(1..120));
    }
    if rng.u8(..5) == 0 {
        case.cancel_ms = Some(rng.u64(0..140));
    }
    if rng.u8(..8) == 0 {
        case.acts.push(misdeed(&mut rng));
    }
    if rng.u8(..4) == 0 {
        case.acts.push(deed(&mut rng));
    }
    if rng.u8(..4) == 0 {
        case.stop.push(condition(&mut rng));
    }
    if rng.u8(..16) == 0
        && let Some(answer) = random(&mut rng, &mut case.answers)
    {
        let faults = [Fault::Error, Fault::Unfinished, Fault::Panic];
        answer.fault = Some(faults[rng.usize(..3)]);
    }
    if rng.u8(..12) == 0 {
        contradict(&mut rng, &mut case);
    }
    if case.committer && rng.u8(..3) == 0 {
        for _ in 0..=rng.u8(..2) {
            case.troubles.push(trouble(&mut rng));
        }
    } else if rng.u8(..8) == 0 {
        case.troubles.push(Trouble::DropAt(rng.u64(0..100)));
    }
    // A separate generator, so that the other values of each seed do not change.
    let mut rng = Rng::with_seed(seed ^ 0xc0de);
    if rng.u8(..12) == 0 {
        let pattern = pattern(rng.usize(..MANY)).to_owned();
        let place = rng.usize(..=case.stop.len());
        case.stop.insert(place, StopConditionSpec::ContentMatch { pattern });
    }
    if rng.u8(..40) == 0 {
        at_loop_top(&mut rng, &mut case);
    }
    let mut rng = Rng::with_seed(seed ^ 0xfa17);
    case.veiled = rng.u8(..3) == 0;
    if rng.u8(..24) == 0 {
        repeat(&mut rng, &mut case);
    }
    if rng.u8(..32) == 0 {
        linger(&mut rng, &mut case);
    }
    let mut rng = Rng::with_seed(seed ^ 0xd157);
    if rng.u8(..4) == 0 {
        crowd(&mut rng, &mut case);
    }
    let mut rng = Rng::with_seed(seed ^ 0x1d5);
    if rng.u8(..6) == 0 {
        confuse(&mut rng, &mut case);
    }
    case
}

/// All questions, of gates and of tools.
pub(super) fn all_asks(case: &mut Case) -> impl Iterator<Item = &mut Ask> {
    let gates = case.gates.iter_mut().filter_map(|gate| match &mut gate.says {
        Says::Suspend(ask) => Some(ask),
        _ => None,
    });
    let calls = case.answers.iter_mut().flat_map(|answer| &mut answer.calls);
    gates.chain(calls.flat_map(|call| &mut call.executions).filter_map(|execution| {
        match &mut execution.comes_to {
            ComesTo::Pending(ask) => Some(ask),
            _ => None,
        }
    }))
}

/// Two consecutive steps make an equal call, for the detection of loops.
fn repeat(rng: &mut Rng, case: &mut Case) {
    for answer in case.answers.iter_mut().take(2) {
        if let Some(call) = random(rng, &mut answer.calls) {
            (call.tool, call.garbled, call.unfit) = (ToolName::Read, false, false);
        }
    }
    case.stop.push(StopConditionSpec::LoopDetection { window: rng.u32(2..6) });
}

/// A tool exceeds the time limit of the run.
fn linger(rng: &mut Rng, case: &mut Case) {
    let long = rng.u64(700..1_400);
    if let Some(answer) = random(rng, &mut case.answers)
        && let Some(call) = random(rng, &mut answer.calls)
        && let Some(execution) = random(rng, &mut call.executions)
    {
        execution.delay_ms += long;
    }
    case.stop.push(StopConditionSpec::Timeout { seconds: 1 });
}

/// A decision that arrives at the end of a step is taken at the top of the loop. Its commit fails there, if it is the
/// failing one.
fn at_loop_top(rng: &mut Rng, case: &mut Case) {
    (case.streamed, case.committer, case.commit_ms) = (false, true, vec![0]);
    case.policy = SuspensionPolicy::ContinueWhenAny;
    case.mode = pick(rng, ExecutionMode::Sequential, ExecutionMode::Parallel);
    let mut first = answer(rng, &mut Vec::new());
    let does = |rng: &mut Rng| Execution {
        progress: 0,
        writes: Writes::Nothing,
        ..execution(rng, Some(ComesTo::Success))
    };
    first.calls = ["c1", "c2"]
        .map(|id| Call {
            id: id.to_owned(),
            tool: ToolName::Read,
            garbled: false,
            unfit: false,
            executions: vec![does(rng)],
        })
        .into();
    let executes_ms = first.calls[1].executions[0].delay_ms;
    case.answers[0] = first;
    case.gates.retain(|gate| gate.step != 1);
    let asks =
        Ask { mode: RESUMES[rng.usize(..3)], lapses_ms: None, schema: false, id: None, distinct: false };
    case.gates.push(Gate { plugin: 0, step: 1, ordinal: 0, life: 0, says: Says::Suspend(asks) });
    case.replies.retain(|reply| reply.step != 1);
    let sends = vec![Send::new(executes_ms + rng.u64(1..10), Kind::Resume)];
    case.replies.push(OnAsk { step: 1, ordinal: 0, life: 1, batch: false, sends });
    case.acts = vec![Act { phase: ActPhase::StepEnd, step: 1, does: Does::Wait(10) }];
    (case.stop, case.timed, case.messages, case.cancel_ms) = (Vec::new(), Vec::new(), Vec::new(), None);
    case.troubles = vec![Trouble::CommitFails(rng.u32(3..6))];
}

/// A case that does not depend on time: its run ends equally wherever its process dies.
pub fn calm(seed: u64) -> Case {
    let mut rng = Rng::with_seed(seed ^ 0x5eed);
    let mut case = skeleton(seed, &mut rng);
    case.committer = true;
    case.doubts_resume = true;
    // One answer to each question, by its name: the winner of several answers depends on time.
    for reply in &mut case.replies {
        let one = reply.sends.iter().find_map(|send| match send.kind {
            Kind::Resume | Kind::ResumeUnnamed => Some(Send { kind: Kind::Resume, ..*send }),
            Kind::Cancel | Kind::CancelUnnamed => Some(Send { kind: Kind::Cancel, ..*send }),
            _ => None,
        });
        reply.sends = one.into_iter().collect();
    }
    // After a block of the run, calls beside it are abandoned or finished, depending on time.
    case.gates.retain(|gate| gate.says != Says::BlockRun);
    let mut asks_nothing = true;
    for ask in all_asks(&mut case) {
        (ask.lapses_ms, ask.id, asks_nothing) = (None, None, false);
    }
    // A condition that holds gives up waiting calls, depending on time.
    if asks_nothing && case.policy == SuspensionPolicy::WaitForAll && rng.bool() {
        case.stop.push(StopConditionSpec::MaxRounds { rounds: rng.u32(1..4) });
    }
    case
}

/// A call after a suspended one asks too: a decision on it may arrive before its turn.
fn behind(rng: &mut Rng, case: &mut Case) {
    case.mode = ExecutionMode::Sequential;
    case.when_suspended = WhenSuspended::WaitInPlace;
    case.commit_ms = (0..3).map(|_| rng.u64(1..6)).collect();
    let mut ids = Vec::new();
    let mut first = answer(rng, &mut ids);
    first.calls = (0..2).map(|_| call(rng, &mut ids)).collect();
    for call in &mut first.calls {
        (call.tool, call.garbled) = (ToolName::Write, false);
        let asks = ComesTo::Pending(ask(rng));
        let asks = execution(rng, Some(asks));
        call.executions.insert(0, asks);
        call.executions[0].delay_ms = rng.u64(5..30);
    }
    let at_ms = first.delay_ms * 2 + rng.u64(0..40);
    let call = first.calls[1].id.clone();
    case.answers[0] = first;
    case.gates.retain(|gate| gate.step != 1);
    case.timed.push(Timed { at_ms, call, resumes: rng.bool(), other_arguments: false });
}

fn skeleton(seed: u64, rng: &mut Rng) -> Case {
    let steps = 1 + rng.usize(..3);
    let mut ids: Vec<String> = Vec::new();
    let answers: Vec<Answer> = (0..steps).map(|_| answer(rng, &mut ids)).collect();
    let mut gates = Vec::new();
    let mut replies = Vec::new();
    for (step, answer) in (1..).zip(&answers) {
        for (ordinal, _) in (0..).zip(&answer.calls) {
            for plugin in 0..2 {
                if rng.u8(..5) == 0 {
                    gates.push(Gate { plugin, step, ordinal, life: 0, says: says(rng) });
                }
                if rng.u8(..8) == 0 {
                    gates.push(Gate { plugin, step, ordinal, life: rng.u32(1..3), says: says(rng) });
                }
            }
            for life in 1..4 {
                if rng.u8(..10) < 8 {
                    replies.push(on_ask(rng, step, ordinal, life));
                }
            }
        }
    }
    Case {
        seed,
        mode: MODES[rng.usize(..3)],
        policy: pick(rng, SuspensionPolicy::WaitForAll, SuspensionPolicy::ContinueWhenAny),
        when_suspended: pick(rng, WhenSuspended::Park, WhenSuspended::WaitInPlace),
        durability: if seed % 4 == 1 { Durability::Step } else { Durability::Commit },
        streamed: rng.bool(),
        committer: rng.u8(..6) > 0,
        commit_ms: (0..3).map(|_| if rng.bool() { 0 } else { rng.u64(..6) }).collect(),
        answers,
        gates,
        acts: Vec::new(),
        stop: Vec::new(),
        replies,
        doubts_resume: rng.bool(),
        timed: Vec::new(),
        messages: Vec::new(),
        cancel_ms: None,
        troubles: Vec::new(),
        approvals: Vec::new(),
        approvers: Vec::new(),
        veiled: false,
    }
}

fn pick<T>(rng: &mut Rng, one: T, other: T) -> T {
    if rng.bool() { one } else { other }
}

pub(super) fn random<'a, T>(rng: &mut Rng, all: &'a mut [T]) -> Option<&'a mut T> {
    if all.is_empty() {
        return None;
    }
    let at = rng.usize(..all.len());
    all.get_mut(at)
}

fn delay(rng: &mut Rng) -> u64 {
    match rng.u8(..6) {
        0 => 0,
        1 | 2 => rng.u64(1..4),
        _ => rng.u64(1..40),
    }
}

fn answer(rng: &mut Rng, ids: &mut Vec<String>) -> Answer {
    let most = if rng.u8(..12) == 0 { 0 } else { rng.usize(1..5) };
    let calls = (0..most).map(|_| call(rng, ids)).collect();
    Answer { delay_ms: delay(rng) / 2, tokens: rng.u64(1..100), calls, fault: None }
}

fn call(rng: &mut Rng, ids: &mut Vec<String>) -> Call {
    // Sometimes an id is used again: within an answer as a twin, in a later answer as a second life.
    let id = if !ids.is_empty() && rng.u8(..7) == 0 {
        ids[rng.usize(..ids.len())].clone()
    } else {
        format!("c{}", ids.len() + 1)
    };
    ids.push(id.clone());
    let tool = match rng.u8(..20) {
        0 => ToolName::Missing,
        1..=3 => ToolName::Strict,
        4..=11 => ToolName::Write,
        _ => ToolName::Read,
    };
    let asks = rng.u8(..10);
    let many = if asks < 4 { 1 + rng.usize(..3) } else { 1 };
    let mut executions = Vec::new();
    for _ in 1..many {
        let asks = ComesTo::Pending(ask(rng));
        executions.push(execution(rng, Some(asks)));
    }
    executions.push(execution(rng, None));
    Call { id, tool, garbled: rng.u8(..30) == 0, unfit: rng.u8(..6) == 0, executions }
}

fn execution(rng: &mut Rng, comes_to: Option<ComesTo>) -> Execution {
    let comes_to = comes_to.unwrap_or_else(|| match rng.u8(..12) {
        0 => ComesTo::Panic,
        1 | 2 => ComesTo::Error,
        3 => ComesTo::Warning,
        _ => ComesTo::Success,
    });
    let writes = match rng.u8(..4) {
        0 => Writes::Own,
        1 => Writes::Step,
        _ => Writes::Nothing,
    };
    let progress = if rng.u8(..6) == 0 { rng.u8(1..3) } else { 0 };
    Execution { delay_ms: delay(rng), progress, writes, comes_to }
}

fn ask(rng: &mut Rng) -> Ask {
    Ask {
        mode: RESUMES[rng.usize(..3)],
        lapses_ms: (rng.u8(..6) == 0).then(|| rng.u64(0..60)),
        schema: rng.u8(..4) == 0,
        id: (rng.u8(..10) == 0).then(|| format!("wanted-{}", rng.u8(..2))),
        distinct: false,
    }
}

fn says(rng: &mut Rng) -> Says {
    match rng.u8(..20) {
        0 => Says::BlockRun,
        1..=4 => Says::Block,
        5..=8 => Says::SetResult,
        _ => Says::Suspend(ask(rng)),
    }
}

fn on_ask(rng: &mut Rng, step: u32, ordinal: u32, life: u32) -> OnAsk {
    use Kind::{
        Again, Cancel, CancelUnnamed, OtherArguments, OtherRun, Resume, ResumeUnnamed, Stale, Unfit,
        UnknownCall,
    };
    let mut sends = Vec::new();
    if rng.u8(..4) == 0 {
        let bad = [Stale, UnknownCall, OtherRun, OtherArguments, Unfit];
        sends.push(Send::new(delay(rng), bad[rng.usize(..bad.len())]));
    }
    let good = match rng.u8(..8) {
        0 => Cancel,
        1 => CancelUnnamed,
        2 | 3 => ResumeUnnamed,
        _ => Resume,
    };
    sends.push(Send::new(delay(rng), good));
    if rng.u8(..3) == 0 {
        let more = [Again, Resume, Cancel, ResumeUnnamed, CancelUnnamed, Stale];
        let after_ms = if rng.bool() { 0 } else { delay(rng) };
        sends.push(Send::new(after_ms, more[rng.usize(..more.len())]));
    }
    OnAsk { step, ordinal, life, batch: rng.u8(..4) == 0, sends }
}

fn timed(rng: &mut Rng) -> Timed {
    Timed {
        at_ms: if rng.bool() { rng.u64(0..20) } else { rng.u64(0..80) },
        call: format!("c{}{}", rng.u8(1..7), if rng.u8(..8) == 0 { "#2" } else { "" }),
        resumes: rng.u8(..4) > 0,
        other_arguments: rng.u8(..6) == 0,
    }
}

const PLACES: [ActPhase; 5] = [
    ActPhase::StepStart,
    ActPhase::BeforeInference,
    ActPhase::AfterInference,
    ActPhase::AfterToolExecute,
    ActPhase::StepEnd,
];

fn misdeed(rng: &mut Rng) -> Act {
    let does = pick(rng, Does::Fail, Does::Panic);
    if rng.u8(..8) == 0 {
        return Act { phase: ActPhase::RunStart, step: rng.u32(..2), does };
    }
    Act { phase: PLACES[rng.usize(..5)], step: rng.u32(1..4), does }
}

fn deed(rng: &mut Rng) -> Act {
    let step = rng.u32(1..4);
    match rng.u8(..5) {
        0 => Act { phase: ActPhase::BeforeInference, step, does: Does::OfferRead },
        1 => Act { phase: PLACES[rng.usize(..5)], step, does: Does::EndRun },
        2 => Act { phase: PLACES[rng.usize(..5)], step, does: Does::Write },
        _ => Act { phase: PLACES[rng.usize(..5)], step, does: Does::Wait(rng.u64(1..20)) },
    }
}

fn condition(rng: &mut Rng) -> StopConditionSpec {
    match rng.u8(..6) {
        0 => StopConditionSpec::MaxRounds { rounds: rng.u32(1..4) },
        1 => StopConditionSpec::Timeout { seconds: 1 },
        2 => StopConditionSpec::TokenBudget { max_total: rng.u64(1..200) },
        3 => StopConditionSpec::ConsecutiveErrors { max: rng.u32(1..4) },
        4 => StopConditionSpec::StopOnTool { tool_name: ["write", "strict"][rng.usize(..2)].to_owned() },
        _ => StopConditionSpec::LoopDetection { window: rng.u32(2..6) },
    }
}

/// Two calls of one step write different values to one key.
fn contradict(rng: &mut Rng, case: &mut Case) {
    if let Some(answer) = random(rng, &mut case.answers) {
        for call in &mut answer.calls {
            if let Some(last) = call.executions.last_mut() {
                last.writes = Writes::Contradiction;
            }
        }
    }
}

fn trouble(rng: &mut Rng) -> Trouble {
    match rng.u8(..6) {
        0 => Trouble::CrashBeforeCommit(rng.u32(1..12)),
        1 | 2 => Trouble::CrashAfterCommit(rng.u32(1..12)),
        3 => Trouble::CrashAt(rng.u64(0..120)),
        4 => Trouble::DropAt(rng.u64(0..120)),
        _ => Trouble::CommitFails(rng.u32(1..12)),
    }
}
