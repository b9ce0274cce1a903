//! Smaller cases that still fail.

use runstate_agent::{Durability, ExecutionMode, SuspensionPolicy, WhenSuspended};

use super::Case;

/// Tries of one shrinking.
const TRIES: usize = 4_000;

/// The smallest found case that still fails: parts are removed, delays and choices simplified, while `fails` holds.
pub fn shrink(case: &Case, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut tries = 0;
    loop {
        let mut smaller = false;
        for candidate in candidates(&best) {
            tries += 1;
            if tries > TRIES {
                return best;
            }
            if candidate != best && fails(&candidate) {
                best = candidate;
                smaller = true;
                break;
            }
        }
        if !smaller {
            return best;
        }
    }
}

fn candidates(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Case)| {
        let mut candidate = case.clone();
        change(&mut candidate);
        all.push(candidate);
    };
    macro_rules! without_each {
        ($($list:ident),+) => { $(
            for at in 0..case.$list.len() {
                with(&|case| { case.$list.remove(at); });
            }
        )+ };
    }
    with(&|case| {
        case.answers.pop();
    });
    without_each!(troubles, timed, messages, acts, stop, gates, replies, approvals, approvers);
    with(&|case| case.cancel_ms = None);
    for step in 0..case.answers.len() {
        for ordinal in (0..case.answers[step].calls.len()).rev() {
            with(&|case| drop_call(case, step, ordinal));
        }
    }
    for (at, reply) in case.replies.iter().enumerate() {
        for send in 0..reply.sends.len() {
            with(&|case| {
                case.replies[at].sends.remove(send);
            });
        }
    }
    with(&|case| case.commit_ms = vec![0]);
    with(&|case| case.streamed = false);
    with(&|case| case.veiled = false);
    with(&|case| case.committer &= case.crashes());
    with(&|case| case.mode = ExecutionMode::Sequential);
    with(&|case| case.policy = SuspensionPolicy::WaitForAll);
    with(&|case| case.when_suspended = WhenSuspended::Park);
    with(&|case| case.durability = Durability::Commit);
    for (step, answer) in case.answers.iter().enumerate() {
        with(&|case| case.answers[step].delay_ms = 0);
        with(&|case| case.answers[step].tokens = 1);
        with(&|case| case.answers[step].fault = None);
        for (ordinal, call) in answer.calls.iter().enumerate() {
            for at in 0..call.executions.len() {
                if call.executions.len() > 1 {
                    with(&|case| {
                        case.answers[step].calls[ordinal].executions.remove(at);
                    });
                }
                with(&|case| case.answers[step].calls[ordinal].executions[at].progress = 0);
                with(&|case| case.answers[step].calls[ordinal].executions[at].delay_ms /= 2);
                with(&|case| {
                    case.answers[step].calls[ordinal].executions[at].writes = super::Writes::Nothing;
                });
            }
        }
    }
    all
}

/// The gates and replies of the later calls move up with them.
fn drop_call(case: &mut Case, step: usize, ordinal: usize) {
    case.answers[step].calls.remove(ordinal);
    let (step, gone) =
        (u32::try_from(step + 1).unwrap_or(u32::MAX), u32::try_from(ordinal).unwrap_or(u32::MAX));
    case.gates.retain(|gate| gate.step != step || gate.ordinal != gone);
    case.replies.retain(|reply| reply.step != step || reply.ordinal != gone);
    for gate in case.gates.iter_mut().filter(|gate| gate.step == step && gate.ordinal > gone) {
        gate.ordinal -= 1;
    }
    for reply in case.replies.iter_mut().filter(|reply| reply.step == step && reply.ordinal > gone) {
        reply.ordinal -= 1;
    }
}
