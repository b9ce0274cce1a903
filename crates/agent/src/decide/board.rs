//! The questions of a run, and the reply to a decision on them. All entry points use this one table.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use runstate::actor::{is_name, is_one_actor};
use runstate::decision::{Decision, DecisionAction, EXPIRY, RUNTIME, Suspension};

use super::super::plugin::is_superseded;
use super::super::tool::{parts, path};
use super::resolve::after;
#[cfg(doc)]
use super::resolve::fits;
use super::{Incoming, PendingCall, Reply};

/// An open question.
#[doc(hidden)]
#[derive(Debug)]
pub struct Question {
    pub call: Arc<str>,
    pub suspension: Suspension,
    pub digest: String,
    /// The question as shown to holders of a handle.
    pub(crate) shown: Option<Arc<PendingCall>>,
}

/// The parts of a call that decisions refer to.
#[derive(Debug)]
struct Known {
    /// The id that the model gave the call.
    id: Arc<str>,
    /// Number of questions asked about the call.
    asked: u32,
    /// The open question about the call, if there is one.
    waits: Option<Arc<Question>>,
}

/// The current state of a call.
#[doc(hidden)]
#[derive(Debug)]
pub struct CallNow<'a> {
    /// The position of the call among the calls of the run.
    pub place: usize,
    pub name: &'a Arc<str>,
    pub id: &'a str,
    pub asked: u32,
    pub waits: Option<Question>,
}

/// The questions of a run and the decisions on them.
#[doc(hidden)]
#[derive(Debug)]
pub struct Board {
    run: Arc<str>,
    /// The number of the commit that the board shows.
    commit: u64,
    is_over: bool,
    calls: HashMap<Arc<str>, Known>,
    /// The calls of each id that the model gave, in order. A model may use an id again.
    lives: HashMap<Arc<str>, Vec<Arc<str>>>,
    /// The open questions, in the order of their calls.
    waiting: BTreeMap<usize, Arc<Question>>,
    by_suspension: HashMap<String, usize>,
    decided: HashMap<String, Arc<Decision>>,
    by_id: HashMap<String, Arc<Decision>>,
    /// The decisions on each call, in order.
    by_call: HashMap<String, Vec<Arc<Decision>>>,
}

/// The size limit of an id in bytes.
const MOST_ID: usize = 1024;

impl Board {
    #[doc(hidden)]
    pub fn of(run: Arc<str>) -> Self {
        Board {
            run,
            commit: 0,
            is_over: false,
            calls: HashMap::new(),
            lives: HashMap::new(),
            waiting: BTreeMap::new(),
            by_suspension: HashMap::new(),
            decided: HashMap::new(),
            by_id: HashMap::new(),
            by_call: HashMap::new(),
        }
    }

    /// Returns whether the board shows this commit of this run. The id is compared by pointer: a copy of the id does
    /// not match.
    pub(crate) fn is_of(&self, run: &Arc<str>, commit: u64) -> bool {
        Arc::ptr_eq(&self.run, run) && self.commit == commit
    }

    /// Records the number of the commit that the board shows.
    pub(crate) fn committed(&mut self, commit: u64) {
        self.commit = commit;
    }

    /// Records that the run accepts no more decisions.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Records the current state of a call. Returns whether its open question changed.
    #[doc(hidden)]
    pub fn call(&mut self, now: CallNow<'_>) -> bool {
        let before = self.waiting.get(&now.place).map(|asked| asked.suspension.id.clone());
        let is_other = before.as_ref() != now.waits.as_ref().map(|asked| &asked.suspension.id);
        if let Some(was) = self.waiting.remove(&now.place) {
            self.by_suspension.remove(&was.suspension.id);
        }
        let waits = now.waits.map(Arc::new);
        if let Some(asked) = &waits {
            self.by_suspension.insert(asked.suspension.id.clone(), now.place);
            self.waiting.insert(now.place, Arc::clone(asked));
        }
        if let Some(known) = self.calls.get_mut(now.name) {
            (known.asked, known.waits) = (now.asked, waits);
            return is_other;
        }
        let id: Arc<str> = if **now.name == *now.id { Arc::clone(now.name) } else { now.id.into() };
        self.lives.entry(Arc::clone(&id)).or_default().push(Arc::clone(now.name));
        self.calls.insert(Arc::clone(now.name), Known { id, asked: now.asked, waits });
        is_other
    }

    /// Records an accepted decision.
    #[doc(hidden)]
    pub fn decision(&mut self, decision: &Decision) {
        let place = self.by_suspension.remove(&decision.suspension_id);
        // A question is closed once a store has a decision on it, even before the run has received the decision.
        let asked = place.and_then(|place| self.waiting.remove(&place));
        let mut decision = decision.clone();
        if let Some(asked) = asked {
            if let Some(known) = self.calls.get_mut(&asked.call) {
                known.waits = None;
            }
            decision.digest.get_or_insert_with(|| asked.digest.clone());
        }
        let decision = Arc::new(decision);
        if self.decided.insert(decision.suspension_id.clone(), Arc::clone(&decision)).is_none() {
            self.by_call.entry(decision.call.clone()).or_default().push(Arc::clone(&decision));
        }
        self.by_id.insert(decision.decision_id.clone(), decision);
    }

    /// The open questions, as shown to holders of a handle.
    pub(crate) fn pending(&self) -> Arc<[Arc<PendingCall>]> {
        self.waiting.values().filter_map(|asked| asked.shown.clone()).collect()
    }

    /// Returns the open question that a decision refers to.
    ///
    /// # Errors
    /// The reply to a decision that is on none that waits. The first that matches is the reply, at every door.
    #[doc(hidden)]
    pub fn bind(&self, incoming: &Incoming) -> Result<Arc<Question>, Reply> {
        well_formed(incoming)?;
        if incoming.run_id.as_ref().is_some_and(|run| *run != *self.run) {
            return Err(Reply::Unknown);
        }
        if let Some(known) = self.by_id.get(&incoming.decision_id) {
            return Err(match self.says_the_same(incoming, known) {
                Ok(()) => Reply::Duplicate,
                Err(other) => Reply::Invalid(format!(
                    "the id {:?} is that of a decision with another {other}; give each decision an id of its own",
                    incoming.decision_id
                )),
            });
        }
        let asked = match (&incoming.suspension_id, &incoming.digest) {
            (Some(id), _) => self.on_suspension(id, incoming),
            (None, Some(digest)) => self.on_digest(digest, incoming),
            (None, None) => self.on_call(&incoming.call),
        }?;
        match &incoming.digest {
            Some(digest) if *digest != asked.digest => Err(Reply::Stale),
            _ => Ok(asked),
        }
    }

    /// Checks whether a decision on this question can be accepted now. The check of its [result](fits) is separate: a
    /// schema check is user code and must not run under the lock of the list.
    ///
    /// # Errors
    /// The reply, if the decision cannot be accepted.
    #[doc(hidden)]
    pub fn judge(&self, asked: &Question, incoming: &Incoming, is_expired: bool) -> Result<(), Reply> {
        if is_expired {
            return Err(Reply::Expired);
        }
        // A cancellation needs no distinct actor.
        if asked.suspension.distinct_actors && incoming.action == DecisionAction::Resume {
            let actor = incoming.actor.as_ref().ok_or(Reply::NotDistinct)?;
            let is_of_one = |earlier: &str| is_one_actor(earlier, actor);
            let counts = |earlier: &&Decision| !is_superseded(&earlier.suspension_id, &asked.suspension.id);
            let mut earlier = self.on_calls(&asked.call).filter(counts);
            if earlier.any(|earlier| earlier.actor.as_deref().is_some_and(is_of_one)) {
                return Err(Reply::NotDistinct);
            }
        }
        Ok(())
    }

    /// Compares a repeated decision with the decision accepted under its id. The error names the part that differs.
    fn says_the_same(&self, incoming: &Incoming, known: &Decision) -> Result<(), &'static str> {
        let names = |call: &str| call.is_empty() || self.is_called(&known.call, call);
        let parts = [
            ("action", incoming.action == known.action),
            ("result", incoming.result == known.result),
            ("reason", incoming.reason == known.reason),
            ("actor", incoming.actor == known.actor),
            ("call", names(&incoming.call)),
            ("suspension", incoming.suspension_id.as_ref().is_none_or(|id| *id == known.suspension_id)),
            ("digest", incoming.digest.is_none() || incoming.digest == known.digest),
        ];
        parts.iter().find(|(_, same)| !same).map_or(Ok(()), |(part, _)| Err(*part))
    }

    /// Returns whether `call` refers to the call `name`: by its name in traces, or by the id that the model gave it.
    fn is_called(&self, name: &str, call: &str) -> bool {
        name == call || self.calls.get(name).is_some_and(|known| *known.id == *call)
    }

    fn on_suspension(&self, id: &str, incoming: &Incoming) -> Result<Arc<Question>, Reply> {
        if let Some(decision) = self.decided.get(id) {
            return Err(after(decision));
        }
        let asked = self.by_suspension.get(id).and_then(|place| self.waiting.get(place));
        let is_meant =
            |asked: &&Arc<Question>| incoming.call.is_empty() || self.is_called(&asked.call, &incoming.call);
        asked.filter(is_meant).cloned().ok_or_else(|| self.not_asked(id, &incoming.call))
    }

    /// The reply for a suspension that is not open. It depends on whether the question was ever asked.
    fn not_asked(&self, id: &str, call: &str) -> Reply {
        let Some((run, name, number)) = parts(id) else { return self.not_waiting(call) };
        let is_own = id.strip_prefix(&format!("{}/{number}", path(&run, &name)));
        let is_own = is_own.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']));
        let is_asked = is_own
            && run == *self.run
            && (call.is_empty() || self.is_called(&name, call))
            && self.calls.get(&*name).is_some_and(|known| (1..=known.asked).contains(&number));
        if is_asked { Reply::Stale } else { Reply::Unknown }
    }

    fn on_digest(&self, digest: &str, incoming: &Incoming) -> Result<Arc<Question>, Reply> {
        let call = &*incoming.call;
        let is_it = |asked: &&Arc<Question>| asked.digest == digest;
        let asked = match call {
            "" => self.waiting.values().find(is_it),
            call => {
                self.named(call).iter().filter_map(|name| self.calls.get(name)?.waits.as_ref()).find(is_it)
            }
        };
        if let Some(asked) = asked {
            return Ok(Arc::clone(asked));
        }
        let is_on = |one: &&Decision| one.digest.as_deref() == Some(digest);
        let decided = match call {
            "" => self.decided.values().map(|one| &**one).find(is_on),
            call => self.named(call).iter().flat_map(|name| self.on_calls(name)).find(is_on),
        };
        Err(decided.map_or_else(|| self.not_waiting(call), after))
    }

    /// The decisions on a call, in order.
    fn on_calls(&self, name: &str) -> impl Iterator<Item = &Decision> {
        self.by_call.get(name).into_iter().flatten().map(|one| &**one)
    }

    /// The reply if the named suspension or digest is not open. It depends on whether any question was asked about
    /// the call.
    fn not_waiting(&self, call: &str) -> Reply {
        let asked = |name: &Arc<str>| self.calls.get(name).is_some_and(|known| known.asked > 0);
        if self.named(call).iter().any(asked) { Reply::Stale } else { Reply::Unknown }
    }

    /// The calls that a name refers to: all calls with the same model-given id.
    fn named(&self, call: &str) -> &[Arc<str>] {
        let id = self.calls.get(call).map_or(call, |known| &known.id);
        self.lives.get(id).map_or(&[], Vec::as_slice)
    }

    /// Finds the question for a decision that names its call alone. The call must have asked only once, and its id
    /// must belong to no other call.
    fn on_call(&self, call: &str) -> Result<Arc<Question>, Reply> {
        let calls = self.named(call);
        let known = calls.iter().filter_map(|name| self.calls.get(name));
        let asked: u64 = known.clone().map(|known| u64::from(known.asked)).sum();
        let waiting = || known.clone().filter_map(|known| known.waits.as_ref());
        match (calls.len(), asked) {
            (0, _) | (1, 0) => Err(Reply::Unknown),
            (1, 1) => match waiting().next() {
                Some(asked) => Ok(Arc::clone(asked)),
                None => Err(self.on_calls(&calls[0]).next().map_or(Reply::Unknown, after)),
            },
            _ => Err(Reply::Ambiguous(waiting().map(|asked| asked.suspension.id.clone()).collect())),
        }
    }
}

/// Checks that a decision has well-formed ids and a well-formed actor.
///
/// # Errors
/// The reply to a malformed decision.
#[doc(hidden)]
pub fn well_formed(incoming: &Incoming) -> Result<(), Reply> {
    let invalid = |why: String| Err(Reply::Invalid(why));
    let id = &incoming.decision_id;
    if id.is_empty() {
        return invalid("it has no id of its own; give each decision one".to_owned());
    }
    if id.len() > MOST_ID || id.chars().any(char::is_control) {
        return invalid(format!("its id has control characters or more than {MOST_ID} bytes"));
    }
    let is_runtimes = |actor: &str| is_one_actor(actor, RUNTIME);
    if id.trim().to_lowercase().starts_with(EXPIRY) || incoming.actor.as_deref().is_some_and(is_runtimes) {
        return invalid(format!(
            "ids that begin with {EXPIRY:?} and the actor {RUNTIME:?} are the runtime's; give it others"
        ));
    }
    if let Some(actor) = &incoming.actor
        && !is_name(actor)
    {
        return invalid(format!(
            "the actor {actor:?} is no name: it has no letter or digit, begins or ends with white space, or has characters that cannot be seen"
        ));
    }
    match (&incoming.suspension_id, &incoming.digest) {
        (Some(id), _) if id.is_empty() => invalid("the suspension that it names is empty".to_owned()),
        (_, Some(digest)) if digest.is_empty() => invalid("the digest that it names is empty".to_owned()),
        (None, None) if incoming.call.is_empty() => {
            invalid("it names no suspension, no digest and no call".to_owned())
        }
        _ => Ok(()),
    }
}
