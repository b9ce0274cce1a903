//! The persons: they make, start, approve and send runs, in the processes that are killed.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use fastrand::Rng;
use runstate::service_run::ServiceRunStatus::{self, *};
use runstate_service::sim::SimChain;
use runstate_service::{
    Answers, Caller, ListQuery, NewServiceRun, Request, RunInfo, RunView, Service, ServiceError,
    ServiceStoreError, SubmittedBy,
};
use serde_json::json;

use super::entry::{Asked, Deed, Entry, Reply};
use super::world::World;
use crate::ledger::{Entries, Ledger};

/// The maximum of unfinished runs.
const OPEN: usize = 14;

/// The statuses of unfinished runs.
pub(super) const UNFINISHED: [ServiceRunStatus; 6] =
    [Created, Running, Paused, AwaitingApproval, ApprovedReady, Submitted];

/// A digest that no transactions have.
pub(super) const OTHER_TRANSACTIONS: &str = "sha256:0";

/// The access of persons to the service, the chain and the ledger.
#[derive(Debug, Clone)]
pub struct Access {
    /// The service.
    pub service: Service,
    /// The chain.
    pub chain: SimChain,
    /// The ledger.
    pub ledger: Ledger,
}

impl Access {
    /// Makes a request, and notes its reply. None: the result is unknown, because the store cannot be reached.
    ///
    /// # Errors
    /// Errors of the ledger.
    pub async fn perform(&self, asked: &Asked) -> std::io::Result<Option<Reply>> {
        let reply = match self.result(asked).await {
            Ok(()) => Reply::Done,
            Err(ServiceError::Store(ServiceStoreError::KeyTaken { .. })) => Reply::Repeated,
            Err(ServiceError::Store(ServiceStoreError::Unavailable(_)) | ServiceError::Port(_)) => {
                return Ok(None);
            }
            Err(
                error @ (ServiceError::Unusable { .. } | ServiceError::Store(ServiceStoreError::Failed(_))),
            ) => {
                // A violation already. A repetition would fail again, for ever.
                let (run, error) = (asked.run.clone(), error.to_string());
                self.ledger.note(&Entry::Broken { run, error: error.clone() })?;
                Reply::Refused(error)
            }
            Err(error) => Reply::Refused(error.to_string()),
        };
        let request = asked.request.clone();
        self.ledger.note(&Entry::Answered { request, reply: reply.clone() })?;
        Ok(Some(reply))
    }

    async fn result(&self, asked: &Asked) -> Result<(), ServiceError> {
        let Asked { request, run, actor, version, deed } = asked;
        let caller = Caller {
            actor: actor.clone(),
            on_behalf_of: Some(request.clone()),
            version: *version,
            request: Some(Request { key: request.clone(), digest: request.clone() }),
        };
        let service = &self.service;
        match deed {
            Deed::Create { world, wallet } => {
                let new = NewServiceRun {
                    id: run.clone(),
                    intent: json!(world).to_string(),
                    wallet: wallet.clone(),
                    chain_id: Some(self.chain.id()),
                };
                service.create(new, caller).await.map(drop)
            }
            Deed::Start => service.start(run, caller).await.map(drop),
            Deed::Resume { answers, world } => {
                let intent = world.as_ref().map(|world| json!(world).to_string());
                let answers = Answers { answers: answers.clone(), intent, ..Answers::default() };
                service.resume(run, &answers, caller).await.map(drop)
            }
            Deed::Approve { digest } => service.approve(run, Some(digest), "", caller).await.map(drop),
            Deed::Reject => service.reject(run, "no", caller).await.map(drop),
            Deed::Execute => service.execute(run, caller).await.map(drop),
            Deed::Submit { hashes } => {
                service.tx_submitted(run, hashes, SubmittedBy::Manual, caller).await.map(drop)
            }
            Deed::Poll => service.poll_tx(run, caller).await.map(drop),
        }
    }

    /// Repeats requests without a noted reply, as their authors do after a crash. The newest `limit` ones are repeated.
    ///
    /// # Errors
    /// Errors of the ledger.
    pub async fn repeat(&self, entries: &Entries<Entry>, limit: usize) -> std::io::Result<()> {
        let answered: HashSet<&str> = entries.all.iter().filter_map(Entry::answered).collect();
        let unsure = entries.all.iter().rev().filter_map(|entry| match entry {
            Entry::Asked(asked) if !answered.contains(&*asked.request) => Some(asked),
            _ => None,
        });
        for asked in unsure.take(limit) {
            while self.perform(asked).await?.is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Ok(())
    }

    /// The unfinished runs.
    pub(super) async fn open(&self) -> Result<Vec<RunInfo>, ServiceError> {
        let query = ListQuery { statuses: UNFINISHED.into(), ..ListQuery::first(200) };
        Ok(self.service.list(&query).await?.runs)
    }
}

impl Entry {
    /// The request of a noted reply.
    fn answered(&self) -> Option<&str> {
        match self {
            Entry::Answered { request, .. } => Some(request),
            _ => None,
        }
    }
}

/// A person.
#[derive(Debug)]
pub struct Person {
    access: Access,
    name: String,
    rng: Rng,
    asked: u64,
    /// The person makes new runs, and wrong requests.
    is_busy: bool,
}

impl Person {
    /// A person with a unique name. A busy one makes new runs, and wrong requests.
    pub fn new(access: Access, name: String, rng: Rng, is_busy: bool) -> Self {
        Person { access, name, rng, asked: 0, is_busy }
    }

    /// Does one thing.
    ///
    /// # Errors
    /// Errors of the ledger and of the service.
    pub async fn round(&mut self) -> Result<(), ServiceError> {
        let open = self.access.open().await?;
        if self.is_busy && open.len() < OPEN {
            let world = World::draw(&mut self.rng);
            let wallet = World::draw_wallet(&mut self.rng);
            let run = format!("r-{}-{}", self.name, self.asked + 1);
            self.ask(&run, "requester", None, Deed::Create { world, wallet }).await?;
        }
        let Some(run) = self.rng.choice(&open) else { return Ok(()) };
        let view = match self.access.service.get(&run.id).await {
            Ok(view) => view,
            Err(error @ ServiceError::Unusable { .. }) => {
                let entry = Entry::Broken { run: run.id.clone(), error: error.to_string() };
                return self.access.ledger.note(&entry).map_err(failed);
            }
            Err(error) => return Err(error),
        };
        if self.is_busy && self.rng.u8(..8) == 0 {
            return self.ask_wrongly(&view).await;
        }
        self.advance(&view).await
    }

    /// The right request of the run's status.
    async fn advance(&mut self, view: &RunView) -> Result<(), ServiceError> {
        let run = &*view.run_id;
        match view.status {
            Created => self.ask(run, "requester", None, Deed::Start).await?,
            Paused => {
                let deed = self.answers(view);
                self.ask(run, "requester", None, deed).await?;
            }
            AwaitingApproval => self.decide(view).await?,
            ApprovedReady => {
                self.ask(run, "requester", None, Deed::Execute).await?;
                self.pay(view).await?;
            }
            Submitted => {
                let count = view.artifacts.tx_requests.as_ref().map_or(0, Vec::len);
                if view.tx_hashes.len() < count {
                    return self.pay(view).await;
                }
                if self.rng.bool() {
                    self.access.chain.try_mine().map_err(failed)?;
                }
                self.ask(run, "requester", None, Deed::Poll).await?;
            }
            Running | Confirmed | Reverted | Blocked | Failed | Rejected => {}
        }
        Ok(())
    }

    fn answers(&mut self, view: &RunView) -> Deed {
        let Some(needs) = &view.artifacts.needs_input else {
            let world = World::draw_with_transfers(&mut self.rng);
            return Deed::Resume { answers: BTreeMap::new(), world: Some(world) };
        };
        let world: Option<World> = serde_json::from_str(&view.intent).ok();
        let mut answers = BTreeMap::from([("note".to_owned(), json!(self.name))]);
        for slot in needs.missing.iter().map(|missing| &*missing.slot) {
            let wallet = World::draw_wallet(&mut self.rng).unwrap_or(SimChain::WALLET.to_owned());
            let answer = match slot {
                "wallet_address" => json!(wallet),
                _ => json!(world.as_ref().map(World::recipient)),
            };
            answers.insert(slot.to_owned(), answer);
        }
        Deed::Resume { answers, world: None }
    }

    async fn decide(&mut self, view: &RunView) -> Result<(), ServiceError> {
        let run = &*view.run_id;
        let approve = Deed::Approve { digest: view.digest.clone().unwrap_or_default() };
        match self.rng.u8(..8) {
            0 | 1 => {
                // Together: the store decides their order.
                let approve = self.request(run, "approver", None, approve)?;
                let reject = self.request(run, "approver", None, Deed::Reject)?;
                let access = &self.access;
                let (a, b) = tokio::join!(access.perform(&approve), access.perform(&reject));
                a.and(b).map_err(failed)?;
            }
            2 => self.ask(run, "approver", None, Deed::Reject).await?,
            _ => self.ask(run, "approver", None, approve).await?,
        }
        Ok(())
    }

    /// Sends the next transactions, and notes their hashes.
    async fn pay(&mut self, view: &RunView) -> Result<(), ServiceError> {
        let run = &*view.run_id;
        let view = self.access.service.get(run).await?;
        if !matches!(view.status, ApprovedReady | Submitted) {
            return Ok(());
        }
        let txs = view.artifacts.tx_requests.unwrap_or_default();
        let rest = &txs[view.tx_hashes.len().min(txs.len())..];
        if rest.is_empty() {
            return Ok(());
        }
        let mut hashes = Vec::new();
        for tx in &rest[..self.rng.usize(1..=rest.len())] {
            let hash = self.access.chain.try_send(tx).map_err(failed)?;
            self.access
                .ledger
                .note(&Entry::Paid { run: run.to_owned(), hash: hash.clone() })
                .map_err(failed)?;
            hashes.push(hash);
        }
        // Of two wallets that pay at once, one alone is noted: the version is that before the payment.
        self.ask(run, "requester", Some(view.version), Deed::Submit { hashes }).await
    }

    /// A request that most runs refuse.
    async fn ask_wrongly(&mut self, view: &RunView) -> Result<(), ServiceError> {
        let (role, deed) = match self.rng.u8(..9) {
            0 => ("requester", Deed::Start),
            1 => ("requester", Deed::Resume { answers: BTreeMap::new(), world: None }),
            2 | 3 => ("approver", Deed::Approve { digest: OTHER_TRANSACTIONS.to_owned() }),
            4 | 5 => {
                ("requester", Deed::Approve { digest: view.digest.clone().unwrap_or("sha256:1".to_owned()) })
            }
            6 => ("requester", Deed::Execute),
            7 => ("requester", Deed::Submit { hashes: Vec::new() }),
            _ => ("requester", Deed::Poll),
        };
        self.ask(&view.run_id, role, None, deed).await
    }

    /// A request with a key of its own, noted before it is made.
    fn request(
        &mut self,
        run: &str,
        role: &str,
        version: Option<u64>,
        deed: Deed,
    ) -> Result<Asked, ServiceError> {
        self.asked += 1;
        let asked = Asked {
            request: format!("{}-{}", self.name, self.asked),
            run: run.to_owned(),
            actor: format!("{role} {}", self.rng.u8(1..=2)),
            version,
            deed,
        };
        self.access.ledger.note(&Entry::Asked(asked.clone())).map_err(failed)?;
        Ok(asked)
    }

    /// Makes a request, and now and then twice: one after the other, or both at once.
    async fn ask(
        &mut self,
        run: &str,
        role: &str,
        version: Option<u64>,
        deed: Deed,
    ) -> Result<(), ServiceError> {
        let asked = self.request(run, role, version, deed)?;
        let again = self.rng.u8(..10);
        let access = &self.access;
        let made = match again {
            0 => {
                let (a, b) = tokio::join!(access.perform(&asked), access.perform(&asked));
                a.and(b)
            }
            1 => match access.perform(&asked).await {
                Ok(_) => access.perform(&asked).await,
                error => error,
            },
            _ => access.perform(&asked).await,
        };
        made.map_err(failed)?;
        Ok(())
    }
}

/// An error of the ledger or of the chain's journal.
fn failed(error: std::io::Error) -> ServiceError {
    ServiceStoreError::Failed(error.into()).into()
}
