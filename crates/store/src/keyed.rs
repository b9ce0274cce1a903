//! Stores in storage that other programs can write.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use runstate::decision::{Decision, digest};
use runstate::decision::{EXPIRY, RUNTIME};
use runstate::snapshot::{KeyError, Keyring, Snapshot};
use runstate_runtime::clock::{Clock, unix_clock};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::time::Ticking;
use super::{
    Approval, ApprovalFilter, ApprovalQuery, Commit, Lease, LeaseAfter, Loaded, NewRun, Parts,
    PendingSignals, Posted, RunInfo, RunQuery, RunStore, StoreError, Superseded, ThreadPlace, UserMessage,
    Wrapper, left,
};

/// A store whose rows carry tags under a key. A row without a tag is refused.
///
/// The tags protect against writers of the storage without the key. They cover the specification of a run, its state,
/// calls, messages and values, its questions, decisions, a pending cancellation, a pending message and the position
/// on a thread. A tag covers the content of the row, the id of the run and the place of the row. For a row of the
/// state it also covers the number of its commit. A question and a decision include the id of the suspension, which
/// is unique among all runs with that id.
///
/// # Limits
/// The tags do not detect or prevent changes of these kinds:
///
/// - **An older version that is restored**, of a run or of one of its rows, and a deleted row. A program that must
///   detect this stores the numbers of its commits elsewhere.
/// - **A removed run** with a reused id: its rows fit the new run. A store uses no id twice
///   ([`RunData::is_given`](super::RunData::is_given)), unless its note of the removed id was deleted.
/// - **Two stores under one key**: the rows of a run fit a run with the same id in the other store. Each store needs
///   a key of its own.
/// - **Lists and leases**: the holder of a run, and the titles, statuses, numbers and times in
///   [`runs`](super::RunLists::runs) and beside a loaded run. A writer of the storage can stop a run, falsify a list,
///   or have a run claimed early. The rows of a claimed run are checked when it is loaded.
/// - **The time for which a question is open**: a writer of the storage can prolong it. No writer can make a question
///   expire more than one minute early: the expiry under the tag must have passed by the clock of this process, too.
///   Until then the question is open and takes decisions, although it has expired by the clock of the storage.
/// - **Traces and events**. They are evidence for readers and decide nothing.
///
/// A row without its tag is refused by each reader and stays unchanged: [`StoreError::Unusable`] names it.
///
/// ```
/// use std::sync::Arc;
/// use runstate::snapshot::Keyring;
/// use runstate_store::{Keyed, MemoryStore, NewRun, RunData};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let keys: Keyring = format!("k1 {}", "ab".repeat(32)).parse()?;
/// let inside = Arc::new(MemoryStore::default());
/// let store = Keyed::new(inside.clone(), keys);
/// store.create(&NewRun::new("r1", "tidy up".into(), 0)).await?;
/// assert_eq!(store.load("r1").await?.spec, "tidy up");
///
/// // A run that is written without the key is refused, and so is a reader without it.
/// inside.create(&NewRun::new("r2", "drop all tables".into(), 0)).await?;
/// let refused = store.load("r2").await.unwrap_err().to_string();
/// assert!(refused.starts_with("the run \"r2\": its specification: it has no tag"), "{refused}");
/// let refused = inside.load("r1").await.unwrap_err().to_string();
/// assert!(refused.starts_with("the run \"r1\" is stored under the key \"k1\""), "{refused}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Keyed {
    store: Arc<dyn RunStore>,
    keys: Keyring,
    clock: Ticking,
}

/// A row under its tag; `at` is the number of the commit that wrote it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tagged<T> {
    tag: String,
    at: u64,
    of: T,
}

/// Returns the name of the key of a tagged value; none for an untagged one.
pub(super) fn key_of(stored: &Value) -> Option<&str> {
    let fields = stored.as_object().filter(|fields| fields.len() == 3 && fields.contains_key("of"))?;
    let name = key_of_tag(fields.get("tag")?.as_str()?)?;
    fields.get("at")?.as_u64().map(|_| name)
}

/// Returns the name of the key in the text of a tag: `name:` and 64 digits.
fn key_of_tag(tag: &str) -> Option<&str> {
    let (name, digits) = tag.split_once(':')?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (digits.len() == 64 && digits.bytes().all(is_digit)).then_some(name)
}

/// Returns the name of the key of a tagged text; none for an untagged one.
pub(super) fn key_of_text(stored: &str) -> Option<String> {
    stored
        .starts_with("{\"tag\":")
        .then(|| runstate::json::from_str::<Tagged<&RawValue>>(stored).ok())?
        .and_then(|tagged| key_of_tag(&tagged.tag).map(str::to_owned))
}

/// Creates the error of a store without a key for a run that is stored under one.
pub(super) fn wants_key(run: &str, key: &str) -> StoreError {
    StoreError::unusable(
        format_args!("the run {run:?} is stored under the key {key:?}"),
        "open the store with that key: `runstate_store::Keyed`, or --key-file and RUNSTATE_KEY of the command",
    )
}

/// The place of a row: its run, its kind, its name.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    run: &'a str,
    what: &'a str,
    /// The name among several rows of that kind.
    name: &'a str,
    /// Further parts of the tag.
    with: &'a [&'a str],
}

/// Returns the place of the specification of a run.
fn created<'a>(run: &'a str, with: &'a [&'a str]) -> Place<'a> {
    Place { run, what: "its specification", with, ..Place::default() }
}

impl Place<'_> {
    fn refuses(&self, why: &KeyError) -> StoreError {
        let Place { run, what, name, .. } = self;
        let name = if name.is_empty() { String::new() } else { format!(" {name:?}") };
        StoreError::unusable(
            format_args!("the run {run:?}: {what}{name}: {why}"),
            "nothing was changed; restore the run from a backup that was made with the key, or remove it",
        )
    }

    fn all<'b>(&'b self, at: &'b str) -> Vec<&'b str> {
        [self.what, self.run, self.name, at].into_iter().chain(self.with.iter().copied()).collect()
    }
}

/// Returns the place of the message with which a run continues.
fn of_message<'a>(run: &'a str, message: &'a UserMessage) -> Place<'a> {
    Place { run, what: "the message of the user", name: &message.id, with: &[] }
}

/// Returns the texts that the tag of a specification covers in addition. Without a position on a thread they are
/// those of earlier versions.
fn with<'a>(title: &'a str, place: Option<&'a ThreadPlace>) -> Vec<&'a str> {
    let mut with = vec![title];
    if let Some(ThreadPlace { thread, after }) = place {
        with.push(thread);
        with.extend(after.as_deref());
    }
    with
}

/// Returns the canonical text of a value for its tag. White space and the order of keys do not matter.
fn content<T: Serialize>(value: &T) -> Result<String, StoreError> {
    Ok(digest(&serde_json::to_value(value).map_err(StoreError::failed)?))
}

/// The tolerated difference between the clocks of two machines, in milliseconds. With a larger difference a question
/// stays open for longer than by the store's clock.
const DIFFERENCE_MS: u64 = 60_000;

impl Keyed {
    /// Wraps a store, with these keys.
    pub fn new(store: Arc<dyn RunStore>, keys: Keyring) -> Self {
        Keyed { store, keys, clock: Ticking::of(unix_clock()) }
    }

    /// Sets another clock than the machine's. For tests. A question expires only once the expiry under its tag has
    /// passed by this clock.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock + 'static) -> Self {
        Keyed { clock: Ticking::of(clock), ..self }
    }

    /// Returns JSON under a tag. The text of the JSON stays unchanged.
    fn tagged(&self, place: &Place<'_>, at: u64, json: &str) -> String {
        let tag = self.keys.tag(&place.all(&at.to_string()), json.as_bytes());
        format!("{{\"tag\":\"{tag}\",\"at\":{at},\"of\":{json}}}")
    }

    /// Checks the tag and returns the JSON. The row must belong to one of those commits.
    fn untagged(
        &self,
        place: &Place<'_>,
        at: std::ops::RangeInclusive<u64>,
        text: &str,
    ) -> Result<String, StoreError> {
        let refuses = |why| place.refuses(&why);
        let row: Tagged<&RawValue> =
            runstate::json::from_str(text).map_err(|_| refuses(KeyError::Untagged))?;
        let json = row.of.get();
        self.keys.check(&place.all(&row.at.to_string()), json.as_bytes(), &row.tag).map_err(refuses)?;
        // The tag is valid for another number: the row belongs to no commit of this state of the run.
        if at.contains(&row.at) { Ok(json.to_owned()) } else { Err(refuses(KeyError::Changed)) }
    }

    /// Returns a value under a tag. A store may change its white space and the order of its keys.
    fn tagged_value(&self, place: &Place<'_>, value: &Value) -> Value {
        let tag = self.keys.tag(&place.all("0"), digest(value).as_bytes());
        serde_json::json!({ "tag": tag, "at": 0, "of": value })
    }

    fn untagged_value(&self, place: &Place<'_>, value: Value) -> Result<Value, StoreError> {
        let row: Tagged<Value> =
            serde_json::from_value(value).map_err(|_| place.refuses(&KeyError::Untagged))?;
        let at = row.at.to_string();
        self.keys
            .check(&place.all(&at), digest(&row.of).as_bytes(), &row.tag)
            .map_err(|why| place.refuses(&why))?;
        Ok(row.of)
    }

    fn tagged_decision(&self, run: &str, decision: &Decision) -> Result<Decision, StoreError> {
        let mut decision = Decision { run_id: run.to_owned(), tag: None, ..decision.clone() };
        let content = content(&decision)?;
        let place = Place { run, what: "the decision", name: &decision.decision_id, with: &[] };
        decision.tag = Some(self.keys.tag(&place.all("0"), content.as_bytes()).into());
        Ok(decision)
    }

    fn untagged_decision(&self, run: &str, mut decision: Decision) -> Result<Decision, StoreError> {
        let tag = decision.tag.take();
        let content = content(&decision)?;
        let place = Place { run, what: "the decision", name: &decision.decision_id, with: &[] };
        let tag = tag.ok_or_else(|| place.refuses(&KeyError::Untagged))?;
        self.keys.check(&place.all("0"), content.as_bytes(), &tag).map_err(|why| place.refuses(&why))?;
        Ok(decision)
    }

    /// Checks the tag and returns the reason of a pending cancellation.
    fn untagged_reason(&self, run: &str, reason: &str) -> Result<String, StoreError> {
        let place = Place { run, what: "the pending cancellation", ..Place::default() };
        let json = self.untagged(&place, 0..=0, reason)?;
        runstate::json::from_str(&json).map_err(|_| place.refuses(&KeyError::Changed))
    }

    fn untagged_message(&self, run: &str, mut message: UserMessage) -> Result<UserMessage, StoreError> {
        let tag = message.tag.take();
        let place = of_message(run, &message);
        let tag = tag.ok_or_else(|| place.refuses(&KeyError::Untagged))?;
        self.keys
            .check(&place.all("0"), content(&message)?.as_bytes(), &tag)
            .map_err(|why| place.refuses(&why))?;
        Ok(message)
    }

    /// Checks the tag of a stored question and returns the question as it is displayed.
    fn question(&self, approval: Approval) -> Result<Approval, StoreError> {
        let Approval { run, call, tool, arguments, suspension, left, .. } = approval;
        let place =
            Place { run: &run, what: "the question of", name: &call, with: &[&tool, &content(&suspension)?] };
        let arguments = self.untagged_value(&place, arguments)?;
        let left = self.left(left, suspension.expires_at_ms);
        Ok(Approval::new(run, call, tool, arguments, suspension).leaving(left))
    }

    /// Returns the time that is left for a decision: the longer one of the store's and of the tag's. A question is
    /// therefore open for decisions as long as it cannot expire.
    fn left(&self, by_store: Option<Duration>, expires_at_ms: Option<u64>) -> Option<Duration> {
        let now_ms = self.clock.now_ms().saturating_add(DIFFERENCE_MS);
        Some(by_store?.max(left(now_ms, expires_at_ms?)))
    }
}

/// Returns a question that cannot be displayed, with the reason as its message.
fn unshown(approval: Approval, why: &StoreError) -> Approval {
    let Approval { run, call, tool, mut suspension, left, .. } = approval;
    suspension.message = format!("this question cannot be shown: {why}");
    Approval::new(run, call, tool, Value::Null, suspension).leaving(left)
}

#[async_trait]
impl Wrapper for Keyed {
    fn inner(&self) -> &dyn RunStore {
        &*self.store
    }

    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        let spec = self.tagged_value(&created(&run.id, &with(&run.title, run.thread.as_ref())), &run.spec);
        self.store.create(&NewRun { spec, ..run.clone() }).await
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        let mut parts = self.store.parts(run).await?;
        if parts.info.id != run {
            let what = format!("the run {run:?}: its row is that of {:?}", parts.info.id);
            return Err(StoreError::unusable(what, "nothing was changed: put the row of the run back"));
        }
        let version = parts.info.version;
        parts.spec = self.untagged_spec(run, &mut parts)?;
        if let Some(reason) = &mut parts.info.cancel {
            *reason = self.untagged_reason(run, reason)?;
        }
        if let Some((snapshot, core)) = &mut parts.run {
            for (what, text) in [("its machine", snapshot), ("its state", core)] {
                *text = self.untagged(&Place { run, what, ..Place::default() }, version..=version, text)?;
            }
        }
        let written = 1..=version;
        for (name, executions, snapshot) in &mut parts.calls {
            let executions = executions.to_string();
            let place = Place { run, what: "the call", name, with: &[&executions] };
            *snapshot = self.untagged(&place, written.clone(), snapshot)?;
        }
        for (message, seq) in parts.messages.iter_mut().zip(1_u64..) {
            let seq = seq.to_string();
            *message = self.untagged(
                &Place { run, what: "the message", name: &seq, with: &[] },
                written.clone(),
                message,
            )?;
        }
        for (scope, key, json) in &mut parts.values {
            let scope = scope.to_string();
            let place = Place { run, what: "the value", name: key, with: &[&scope] };
            *json = self.untagged(&place, written.clone(), json)?;
        }
        let decisions = std::mem::take(&mut parts.decisions).into_iter();
        parts.decisions = decisions.map(|one| self.untagged_decision(run, one)).collect::<Result<_, _>>()?;
        Ok(parts)
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        super::thread::load(self, run).await
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        self.is_under_key(run).await?;
        let mut message = UserMessage { tag: None, ..message.clone() };
        message.tag = Some(self.keys.tag(&of_message(run, &message).all("0"), content(&message)?.as_bytes()));
        self.store.supersede(run, &message).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        after.commit(&*self.store, lease, &self.tagged_commit(&lease.run, commit)?).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let gives_up = decision.actor.as_deref() == Some(RUNTIME) && decision.decision_id.starts_with(EXPIRY);
        if gives_up && !self.has_lapsed(decision).await? {
            return self.earlier(decision).await;
        }
        self.store.post(&self.tagged_decision(&decision.run_id, decision)?).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        self.is_under_key(run).await?;
        let place = Place { run, what: "the pending cancellation", ..Place::default() };
        let reason = self.tagged(&place, 0, &Value::from(reason).to_string());
        self.store.cancel(run, &reason).await
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        let mut mail = self.store.pending_signals(run).await?;
        let decisions = mail.decisions.into_iter();
        mail.decisions = decisions.map(|one| self.untagged_decision(run, one)).collect::<Result<_, _>>()?;
        mail.cancel = mail.cancel.map(|reason| self.untagged_reason(run, &reason)).transpose()?;
        mail.message = mail.message.map(|message| self.untagged_message(run, message)).transpose()?;
        Ok(mail)
    }

    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let mut runs = self.store.runs(query).await?;
        for info in &mut runs {
            let Some(reason) = &mut info.cancel else { continue };
            // The list shows the error instead of the reason. A load of the run is refused.
            *reason = self.untagged_reason(&info.id, reason).unwrap_or_else(|error| error.to_string());
        }
        Ok(runs)
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let found = self.store.approvals(query).await?;
        if matches!(query.about, ApprovalFilter::All) {
            // The list shows the error instead of the question: one question without a valid tag hides no other.
            let shown = |one: Approval| self.question(one.clone()).unwrap_or_else(|why| unshown(one, &why));
            return Ok(found.into_iter().map(shown).collect());
        }
        let found = found.into_iter().map(|approval| self.question(approval));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        for approval in &found {
            // The index by which a question is found has no tag.
            let is_it = match &query.about {
                ApprovalFilter::All => true,
                ApprovalFilter::Run(run) => approval.run == *run,
                ApprovalFilter::Suspension(id) => approval.suspension.id == *id,
                ApprovalFilter::Call(name) => {
                    approval.call == *name || self.is_called(approval, name).await?
                }
            };
            if !is_it {
                let Approval { run, call, .. } = approval;
                let place = Place { run, what: "the id of the call", name: call, with: &[] };
                return Err(place.refuses(&KeyError::Changed));
            }
        }
        Ok(found)
    }
}

impl Keyed {
    fn untagged_spec(&self, run: &str, parts: &mut Parts) -> Result<Value, StoreError> {
        let spec = std::mem::take(&mut parts.spec);
        self.untagged_value(&created(run, &with(&parts.info.title, parts.thread.as_ref())), spec)
    }

    /// Returns the commit with a tag on each of its rows.
    fn tagged_commit(&self, run: &str, commit: &Commit) -> Result<Commit, StoreError> {
        let at = commit.version;
        let mut commit = commit.clone();
        for (what, text) in [("its machine", &mut commit.run.snapshot), ("its state", &mut commit.run.core)] {
            *text = self.tagged(&Place { run, what, ..Place::default() }, at, text);
        }
        for call in &mut commit.calls {
            let passes = call.passes.to_string();
            let place = Place { run, what: "the call", name: &call.name, with: &[&passes] };
            call.snapshot = self.tagged(&place, at, &call.snapshot);
            if let Some(waits) = &mut call.waits {
                let with = [&*call.tool, &content(&waits.suspension)?];
                let place = Place { run, what: "the question of", name: &call.name, with: &with };
                let arguments: Value =
                    runstate::json::from_str(&waits.arguments).map_err(StoreError::failed)?;
                waits.arguments = self.tagged_value(&place, &arguments).to_string();
            }
        }
        for message in &mut commit.messages {
            let seq = message.seq.to_string();
            message.json =
                self.tagged(&Place { run, what: "the message", name: &seq, with: &[] }, at, &message.json);
        }
        for value in &mut commit.values {
            let scope = value.scope.to_string();
            let place = Place { run, what: "the value", name: &value.key, with: &[&scope] };
            value.json = value.json.as_ref().map(|json| self.tagged(&place, at, json));
        }
        for decision in &mut commit.decisions {
            // A decision that this process made may not name the run.
            *decision = self.tagged_decision(run, decision)?;
        }
        Ok(commit)
    }

    /// Checks the key of a run: a tag by another key would make the run unreadable. A corrupt run passes the check,
    /// so that it can be cancelled.
    async fn is_under_key(&self, run: &str) -> Result<(), StoreError> {
        match self.store.parts(run).await {
            Ok(mut parts) => self.untagged_spec(run, &mut parts).map(drop),
            Err(_) => Ok(()),
        }
    }

    /// Returns whether the model gave that id to the call. The snapshot of the call has the id under a tag.
    async fn is_called(&self, approval: &Approval, id: &str) -> Result<bool, StoreError> {
        let parts = Wrapper::parts(self, &approval.run).await?;
        let call = parts.calls.iter().find(|(name, ..)| *name == approval.call);
        let call = call.and_then(|(_, _, snapshot)| Snapshot::from_json(snapshot.as_bytes()).ok());
        Ok(call.is_some_and(|call| call.record().get("id").and_then(Value::as_str) == Some(id)))
    }

    /// Returns the result for a question that does not wait.
    async fn earlier(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let run = &decision.run_id;
        // Read before the run: a decision that is taken between the two reads is then in both.
        let posted = Wrapper::pending_signals(self, run).await?.decisions;
        let taken = Wrapper::parts(self, run).await?.decisions;
        let mut known = posted.iter().chain(&taken);
        if known.clone().any(|one| one.decision_id == decision.decision_id) {
            return Ok(Posted::Duplicate);
        }
        let is_decided = known.any(|one| one.suspension_id == decision.suspension_id);
        Ok(if is_decided { Posted::Conflict } else { Posted::NotWaiting })
    }

    /// Returns whether the question of an expiry waits and has expired. The list of timers has no tag, but the
    /// question has. The rule is that of [`left`](Self::left).
    ///
    /// # Errors
    /// If the time of the question is not over.
    async fn has_lapsed(&self, expiry: &Decision) -> Result<bool, StoreError> {
        let mut query = ApprovalQuery::new(ApprovalFilter::Suspension(expiry.suspension_id.clone()), 100);
        loop {
            let page = Wrapper::approvals(self, &query).await?;
            let is_it = |open: &&Approval| open.run == expiry.run_id && open.call == expiry.call;
            if let Some(open) = page.iter().find(is_it) {
                if open.is_expired() {
                    return Ok(true);
                }
                let left =
                    open.left.map_or_else(|| "for ever".to_owned(), |left| format!("for {left:?} more"));
                return Err(StoreError::unusable(
                    format_args!(
                        "the question of {:?} of the run {:?} is open {left} by its tag, the clock here and the store",
                        expiry.call, expiry.run_id
                    ),
                    "nothing was changed, and the question takes decisions; correct the clock of this machine if it is behind",
                ));
            }
            match page.last() {
                Some(last) if page.len() == query.limit => query = query.after(last),
                _ => return Ok(false),
            }
        }
    }
}
