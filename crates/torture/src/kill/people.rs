//! Deciders, in a process that drives nothing.

use std::collections::HashMap;
use std::time::Duration;

use fastrand::Rng;
use runstate::decision::DecisionAction::{self, Cancel, Resume};
use runstate_agent::{Incoming, Reply, Unchecked};
use runstate_runtime::clock::Clock;
use runstate_store::{Approval, ApprovalFilter, ApprovalQuery, StoreError, decide};
use serde_json::json;
use tokio::sync::watch;

use super::{Parent, failed};
use crate::fault::OTHER_QUESTION;
use crate::judge::{IN_DOUBT, Violation};
use crate::ledger::{Entry, Sent, digest_of_decision};

/// The demand on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// They answer some questions, some of them late, and some never.
    Busy,
    /// They answer all questions but doubts.
    NoDoubts,
    /// They answer all questions.
    All,
}

/// The observed replies.
#[derive(Debug, Default)]
pub(super) struct Met {
    pub(super) violations: Vec<Violation>,
}

struct People {
    parent: Parent,
    rng: Rng,
    sent: u64,
    /// The answers of each call, the last one last.
    answered: HashMap<(String, String), Vec<String>>,
}

pub(super) async fn people(parent: Parent, demand: watch::Receiver<Demand>, rng: Rng) -> Met {
    let stop = parent.stop.clone();
    let mut people = People { parent, rng, sent: 0, answered: HashMap::new() };
    let mut met = Met::default();
    while !stop.is_cancelled() && met.violations.len() < 10 {
        let demand = *demand.borrow();
        if let Err(error) = people.round(demand).await
            && !matches!(error, StoreError::Unavailable(_))
        {
            met.violations.push(failed("requests", error));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    met
}

impl People {
    async fn round(&mut self, demand: Demand) -> Result<(), StoreError> {
        for approval in self.parent.store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 200)).await? {
            if self.is_answered_now(&approval, demand) {
                self.answer(&approval).await?;
            }
        }
        Ok(())
    }

    fn is_answered_now(&mut self, approval: &Approval, demand: Demand) -> bool {
        let is_doubt = approval.suspension.action == IN_DOUBT;
        let has_lapsed = approval.is_expired();
        let in_100 = match demand {
            // A late decision gives the question up: at the end there is none, so that the question expires by itself.
            Demand::NoDoubts | Demand::All if has_lapsed => 0,
            Demand::Busy if is_doubt => 4,
            // Some questions must expire.
            _ if approval.suspension.expires_at_ms.is_some() => 2,
            Demand::Busy => 15,
            Demand::NoDoubts if is_doubt => 0,
            Demand::NoDoubts | Demand::All => 60,
        };
        self.rng.u8(..100) < in_100
    }

    async fn answer(&mut self, approval: &Approval) -> Result<(), StoreError> {
        let action = if self.rng.u8(..4) == 0 { Cancel } else { Resume };
        let first = self.incoming("d", approval, action);
        match self.rng.u8(..10) {
            0 => {
                let shown = Incoming { digest: Some(OTHER_QUESTION.to_owned()), ..first.clone() };
                let other = Incoming { decision_id: format!("other-{}", self.sent), ..shown };
                self.send(approval, &other).await?;
                self.send(approval, &first).await?;
            }
            1 => {
                self.send(approval, &first).await?;
                self.send(approval, &first).await?;
            }
            2 | 3 => {
                let turned = if action == Resume { Cancel } else { Resume };
                let second = self.incoming("d", approval, turned);
                // Together: the store decides their order.
                let (a, b) = tokio::join!(self.send(approval, &first), self.send(approval, &second));
                a.and(b)?;
            }
            4 => {
                let key = (approval.run.clone(), approval.call.clone());
                // An answer that was refused, since it came from the same person, is answered again.
                let is_other = |id: &&String| **id != approval.suspension.id;
                let old = self.answered.get(&key).and_then(|old| old.iter().rev().find(is_other).cloned());
                let id = old.unwrap_or_else(|| format!("{}/{}/never", approval.run, approval.call));
                let mut stale = self.incoming("stale", approval, Resume);
                stale.suspension_id = Some(id);
                self.send(approval, &stale).await?;
                self.send(approval, &first).await?;
            }
            _ => drop(self.send(approval, &first).await?),
        }
        let key = (approval.run.clone(), approval.call.clone());
        self.answered.entry(key).or_default().push(approval.suspension.id.clone());
        Ok(())
    }

    fn incoming(&mut self, kind: &str, approval: &Approval, action: DecisionAction) -> Incoming {
        self.sent += 1;
        let mut incoming = Incoming::new(format!("{kind}-{}", self.sent), &*approval.call, action)
            .on(&*approval.suspension.id)
            .for_question(&*approval.digest);
        // An answer to a doubt with a result supplies the result of the call; most people do not know it.
        if approval.suspension.action != IN_DOUBT || self.rng.u8(..4) == 0 {
            incoming = incoming.with_result(json!({ "decided_as": self.sent }));
        }
        incoming.run_id = Some(approval.run.clone());
        let people = if approval.suspension.distinct_actors { 8 } else { 1 };
        incoming.actor = match self.rng.u8(..people) {
            0 if people > 1 => None,
            person => Some(format!("p{person}")),
        };
        incoming
    }

    /// Sends it until the store replies.
    async fn send(&self, approval: &Approval, incoming: &Incoming) -> Result<Reply, StoreError> {
        let sent = Sent {
            decision: incoming.decision_id.clone(),
            run: incoming.run_id.clone().unwrap_or_default(),
            call: incoming.call.clone(),
            suspension: incoming.suspension_id.clone().unwrap_or_default(),
            action: incoming.action,
            actor: incoming.actor.clone(),
            wants_another: approval.suspension.distinct_actors && incoming.action == Resume,
            said: digest_of_decision(&incoming.result, incoming.actor.as_deref(), incoming.digest.as_deref()),
        };
        let note = |entry: &Entry| self.parent.ledger.note(entry).map_err(StoreError::failed);
        note(&Entry::Sent(sent.clone()))?;
        loop {
            let now_ms = self.parent.clock.now_ms();
            match decide(&*self.parent.store, incoming, now_ms, &Unchecked).await {
                Err(StoreError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
                Err(error) => return Err(error),
                Ok(reply) => {
                    note(&Entry::Replied { sent, reply: reply.name().to_owned() })?;
                    return Ok(reply);
                }
            }
        }
    }
}
