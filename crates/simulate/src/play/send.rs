//! Deciders.

use std::sync::Arc;
use std::time::Duration;

use runstate::decision::{DecisionAction, Suspension};
use runstate::tool_call::CallKey;
use runstate_agent::{Incoming, Reply};
use serde_json::json;

use super::log::What;
use super::world::World;
use crate::case::{Kind, Send, Timed};

/// The number of repetitions of a decision to a run that was gone.
const AGAIN: u8 = 4;

/// Sends the decisions of the case for a question of a call; without any, a decision to resume.
pub(super) fn on_ask(
    world: &Arc<World>,
    call: &str,
    key: CallKey,
    life: u32,
    suspension: &Suspension,
    digest: Option<&str>,
) {
    let planned = world
        .case
        .replies
        .iter()
        .find(|reply| (reply.step, reply.ordinal, reply.life) == (key.step, key.ordinal, life));
    let resume = [Send::new(5, Kind::Resume)];
    let sends = planned.map_or(&resume[..], |reply| &reply.sends);
    let batch = planned.is_some_and(|reply| reply.batch);
    give(world, call, suspension, digest, sends, batch);
}

/// Sends the decisions of the case for a question of the library, before a tool that people must approve.
pub(super) fn on_approval(world: &Arc<World>, call: &str, suspension: &Suspension, digest: Option<&str>) {
    let resume = [Send::new(5, Kind::Resume)];
    let approvers = &world.case.approvers;
    let sends = if approvers.is_empty() { &resume[..] } else { &approvers[..] };
    give(world, call, suspension, digest, sends, false);
}

fn give(
    world: &Arc<World>,
    call: &str,
    suspension: &Suspension,
    digest: Option<&str>,
    sends: &[Send],
    batch: bool,
) {
    let before = world.asked_before(call, suspension);
    let mut prepared: Vec<(u64, Incoming)> = Vec::new();
    for (place, send) in sends.iter().enumerate() {
        let last = prepared.last().map(|(_, incoming)| incoming.clone());
        let id = format!("{}:{place}", suspension.id);
        let incoming = match (send.kind, last) {
            (Kind::Again, Some(last)) => last,
            (Kind::Reused, Some(last)) => Incoming { action: turned(last.action), ..last },
            (kind, _) => {
                let actor = send.actor(&suspension.id);
                Incoming { actor, ..incoming(kind, id, call, suspension, before.as_deref(), digest) }
            }
        };
        prepared.push((send.after_ms, incoming));
    }
    let world = Arc::clone(world);
    tokio::spawn(async move {
        if batch {
            let after: u64 = prepared.iter().map(|(after, _)| after).sum();
            tokio::time::sleep(Duration::from_millis(after)).await;
            deliver(&world, prepared.into_iter().map(|(_, incoming)| incoming).collect()).await;
            return;
        }
        for (after, incoming) in prepared {
            tokio::time::sleep(Duration::from_millis(after)).await;
            deliver(&world, vec![incoming]).await;
        }
    });
}

fn incoming(
    kind: Kind,
    id: String,
    call: &str,
    suspension: &Suspension,
    before: Option<&str>,
    digest: Option<&str>,
) -> Incoming {
    let action = match kind {
        Kind::Cancel | Kind::CancelUnnamed => DecisionAction::Cancel,
        _ => DecisionAction::Resume,
    };
    let good = json!({ "ok": true, "n": 7 });
    let decision = Incoming::new(id, call, action).with_result(good);
    let named = decision.clone().on(&suspension.id);
    match kind {
        Kind::Resume | Kind::Cancel | Kind::Again => match digest {
            Some(digest) => named.for_question(digest),
            None => named,
        },
        Kind::ResumeUnnamed | Kind::CancelUnnamed => decision,
        Kind::Stale => decision.on(before.unwrap_or("never-asked")),
        Kind::UnknownCall => Incoming { call: "nobody".to_owned(), ..named },
        Kind::OtherRun => Incoming { run_id: Some("r2".to_owned()), ..named },
        Kind::OtherArguments => named.for_question("0"),
        Kind::Unfit => named.with_result("unfit"),
        Kind::Reused => Incoming { decision_id: format!("{}:0", before.unwrap_or("never-asked")), ..named },
        Kind::Empty => Incoming { decision_id: String::new(), ..named },
    }
}

fn turned(action: DecisionAction) -> DecisionAction {
    match action {
        DecisionAction::Resume => DecisionAction::Cancel,
        DecisionAction::Cancel => DecisionAction::Resume,
    }
}

/// Decides on a call in doubt.
pub(super) fn on_doubt(world: &Arc<World>, call: &str, suspension: &Suspension) {
    let resumes = world.case.doubts_resume;
    let action = if resumes { DecisionAction::Resume } else { DecisionAction::Cancel };
    let decision = Incoming::new(format!("doubt/{}", suspension.id), call, action).on(&suspension.id);
    let world = Arc::clone(world);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(3)).await;
        deliver(&world, vec![decision]).await;
    });
}

/// Sends a decision at its time, independent of the call.
pub(super) fn at_time(world: &Arc<World>, place: usize, timed: &Timed) {
    let action = if timed.resumes { DecisionAction::Resume } else { DecisionAction::Cancel };
    let decision = Incoming::new(format!("timed/{place}"), &timed.call, action)
        .with_result(json!({ "ok": true, "n": 8 }));
    let decision = if timed.other_arguments { decision.for_question("0") } else { decision };
    let (world, at_ms) = (Arc::clone(world), timed.at_ms);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(at_ms)).await;
        deliver(&world, vec![decision]).await;
    });
}

/// Gives decisions to the run, while there is one, and records the replies.
async fn deliver(world: &Arc<World>, batch: Vec<Incoming>) {
    for _ in 0..AGAIN {
        let Some(handle) = world.handle() else { return };
        let shown = world.looks(&handle);
        let first = world.next_number();
        for (place, incoming) in batch.iter().enumerate() {
            let number = if place == 0 { first } else { world.next_number() };
            world.note(What::Sent { number, incoming: incoming.clone(), shown: Arc::clone(&shown) });
        }
        world.sent.notify_one();
        world.asks(1);
        let replies = match batch.as_slice() {
            [one] => handle.decide(one.clone()).await.map(|reply| vec![reply]),
            _ => handle.decide_all(batch.clone()).await,
        };
        world.asks(-1);
        drop(handle);
        let gone = replies.is_err();
        let replies: Vec<Option<Reply>> = match replies {
            Ok(replies) => replies.into_iter().map(Some).collect(),
            Err(_) => vec![None; batch.len()],
        };
        for ((place, reply), incoming) in replies.into_iter().enumerate().zip(&batch) {
            let kept = world.durable();
            let durable = !kept.kept || kept.decisions.contains(&incoming.decision_id);
            world.note(What::Replied { number: first + place, reply, durable });
        }
        if !gone {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
