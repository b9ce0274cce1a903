//! Random deciders: several people, and repeated ids.

use fastrand::Rng;

use super::generate::{all_asks, random};
use super::{Case, Gate, Kind, Needs, Says, Send, ToolName};

/// Used ids return with other content, and some decisions have none.
pub(super) fn confuse(rng: &mut Rng, case: &mut Case) {
    for reply in &mut case.replies {
        if rng.u8(..3) > 0 {
            let kind = if rng.u8(..4) == 0 { Kind::Empty } else { Kind::Reused };
            let place = rng.usize(..=reply.sends.len());
            reply.sends.insert(place, Send::new(rng.u64(..6), kind));
        }
    }
}

/// Calls need several people. Some decide twice, and some give no name. At the end there is always one more person.
pub(super) fn crowd(rng: &mut Rng, case: &mut Case) {
    if let Some(gate) = random(rng, &mut case.gates)
        && let (0, Says::Suspend(first)) = (gate.life, &gate.says)
    {
        let again = (1..3).map(|life| Gate { life, says: Says::Suspend(first.clone()), ..gate.clone() });
        let again: Vec<Gate> = again.collect();
        case.gates.extend(again);
    }
    for ask in all_asks(case) {
        ask.distinct = rng.u8(..3) > 0;
    }
    for reply in &mut case.replies {
        for send in &mut reply.sends {
            send.actor = (rng.u8(..4) > 0).then(|| rng.u8(..3));
        }
        reply.sends.push(Send::new(5, Kind::Resume));
    }
}

/// People must approve the calls of some tools. Some of them decide twice; at the end there is always one more person.
pub(super) fn approve(rng: &mut Rng, case: &mut Case) {
    for tool in ToolName::THERE {
        if rng.bool() {
            let (people, odd, by_plugin) = (rng.u32(1..4), rng.u8(..3) == 0, rng.bool());
            case.approvals.push(Needs { tool, people, odd, by_plugin });
        }
    }
    let kinds = [Kind::Resume, Kind::Resume, Kind::ResumeUnnamed, Kind::Again, Kind::Stale, Kind::Cancel];
    for _ in 0..rng.u8(..3) {
        let kind = kinds[rng.usize(..kinds.len())];
        let actor = (rng.u8(..4) > 0).then(|| rng.u8(..3));
        case.approvers.push(Send { actor, ..Send::new(rng.u64(..6), kind) });
    }
    case.approvers.push(Send::new(5, Kind::Resume));
}
