//! A model of the reply table for decisions, for tests of doors: the handle of a run, a store, a command, a server.

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::decision::Suspension;
use runstate_agent::{Incoming, PendingCall, SchemaCheck};
use runstate_store::Approval;

/// A question in the list of a door.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The trace name of its call.
    pub call: String,
    /// The displayed digest.
    pub digest: String,
    /// The suspension of the call.
    pub suspension: Suspension,
}

impl From<&PendingCall> for Question {
    fn from(pending: &PendingCall) -> Self {
        let PendingCall { call, digest, suspension, .. } = pending;
        Question { call: call.to_string(), digest: digest.clone(), suspension: suspension.clone() }
    }
}

impl From<&Approval> for Question {
    fn from(approval: &Approval) -> Self {
        let Approval { call, digest, suspension, .. } = approval;
        Question { call: call.clone(), digest: digest.clone(), suspension: suspension.clone() }
    }
}

/// A model of one run's questions and decisions, which gives the required reply to each further decision. A *door* is
/// any interface that lists questions and accepts decisions.
///
/// The model shares no code with the library's doors. Its input is the list of a door and the accepted decisions, and
/// it applies the rows of [`Reply`](runstate_agent::Reply) in their order. A test reports each list and each accepted
/// decision to the model, sends the [probes](Self::probes) to its door, and compares the replies.
///
/// The model is simpler than the library about names. It treats two actors as one when their lower case is equal. It
/// accepts some characters in ids and actors that the library refuses. Its own probes avoid these cases.
///
/// ```
/// use runstate_agent::{Incoming, Unchecked};
/// use runstate::decision::{DecisionAction::Resume, Suspension};
/// use runstate_store_conformance::replies::{Question, Table};
///
/// let question = Question {
///     call: "c".to_owned(),
///     digest: "sha256:1".to_owned(),
///     suspension: Suspension::new("r1/c/1", "approve", "pay?"),
/// };
/// let mut table = Table::of("r1");
/// table.listed([("c", "c")], [question], 0);
///
/// let first = Incoming::new("d1", "c", Resume).on("r1/c/1");
/// assert_eq!(table.reply(&first, 0, &Unchecked), "accepted");
/// table.accepted(&first);
/// assert_eq!(table.reply(&first, 0, &Unchecked), "duplicate");
/// assert_eq!(table.reply(&Incoming::new("d2", "c", Resume), 0, &Unchecked), "conflict");
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    run: String,
    /// The trace names of the calls, and their ids from the model.
    calls: Vec<(String, String)>,
    asked: Vec<Question>,
    open: Vec<String>,
    decided: Vec<Decided>,
    expired: Vec<String>,
    given_up: Vec<String>,
}

/// An accepted decision, and its question.
#[derive(Debug, Clone)]
struct Decided {
    said: Incoming,
    question: Question,
    /// Whether the door's list reflects the decision.
    is_listed: bool,
}

/// The names of all replies. A test that received each of them has covered each row of the table.
pub const NAMES: [&str; 9] = [
    "accepted",
    "duplicate",
    "conflict",
    "stale",
    "ambiguous",
    "expired",
    "unknown",
    "not_distinct",
    "invalid",
];

const WRONG: &str = "sha256:0";

impl Table {
    /// Makes the model of a run without calls.
    pub fn of(run: impl Into<String>) -> Self {
        Table {
            run: run.into(),
            calls: Vec::new(),
            asked: Vec::new(),
            open: Vec::new(),
            decided: Vec::new(),
            expired: Vec::new(),
            given_up: Vec::new(),
        }
    }

    /// Sets the calls of the run, as pairs of trace name and the language model's id, and the listed questions. An
    /// unlisted question without a decision counts as expired by the runtime when its expiry has passed at `now_ms`.
    pub fn listed<'a>(
        &mut self,
        calls: impl IntoIterator<Item = (&'a str, &'a str)>,
        open: impl IntoIterator<Item = Question>,
        now_ms: u64,
    ) {
        self.calls = calls.into_iter().map(|(name, id)| (name.to_owned(), id.to_owned())).collect();
        self.open.clear();
        let mut listed = Vec::new();
        for question in open {
            let id = question.suspension.id.clone();
            if !self.is_decided(&id) {
                self.open.push(id.clone());
            }
            listed.push(id.clone());
            if !self.asked.iter().any(|asked| asked.suspension.id == id) {
                self.asked.push(question);
            }
        }
        for one in &mut self.decided {
            one.is_listed |= !listed.contains(&one.question.suspension.id);
        }
        for asked in &self.asked {
            let id = &asked.suspension.id;
            let is_gone = !self.open.contains(id) && !self.is_decided(id) && !self.expired.contains(id);
            if is_gone && asked.suspension.is_expired(now_ms) {
                self.expired.push(id.clone());
            }
        }
    }

    /// Records a decision that the door accepted and that is durable.
    ///
    /// # Panics
    /// When the decision is on no listed question.
    pub fn accepted(&mut self, incoming: &Incoming) {
        self.decide(incoming, true);
    }

    /// Records a decision that the door accepted while its list still shows the question, until the commit. Until
    /// [`listed`](Self::listed) is called without the question, a refusal that depends only on the list follows the
    /// list.
    ///
    /// # Panics
    /// When the decision is on no listed question.
    pub fn taken(&mut self, incoming: &Incoming) {
        self.decide(incoming, false);
    }

    /// Records that a user message superseded the open questions, while the list still shows them until the commit.
    pub fn given_up(&mut self) {
        self.given_up.clone_from(&self.open);
    }

    fn decide(&mut self, incoming: &Incoming, is_listed: bool) {
        let question = self.question(incoming, |_| true);
        let question =
            question.unwrap_or_else(|reply| panic!("{incoming:?} was accepted and is {reply}")).clone();
        self.open.retain(|open| *open != question.suspension.id);
        self.decided.push(Decided { said: incoming.clone(), question, is_listed });
    }

    /// All questions that were ever listed, in order.
    pub fn asked(&self) -> impl Iterator<Item = &Question> {
        self.asked.iter()
    }

    /// The open questions.
    pub fn open(&self) -> impl Iterator<Item = &Question> {
        self.asked.iter().filter(|asked| self.open.contains(&asked.suspension.id))
    }

    /// The actors of the accepted approvals of a call, given by its trace name, in order.
    pub fn approved_by(&self, call: &str) -> impl Iterator<Item = Option<&str>> {
        let approved = move |one: &&Decided| one.question.call == call && one.said.action == Resume;
        self.decided.iter().filter(approved).map(|one| one.said.actor.as_deref())
    }

    /// Computes the name of the required reply to a decision at that time.
    pub fn reply(&self, incoming: &Incoming, now_ms: u64, schemas: &dyn SchemaCheck) -> &'static str {
        let by_list = self.question(incoming, |one| one.is_listed);
        let question = match by_list.and_then(|_| self.question(incoming, |_| true)) {
            Ok(question) => question,
            Err(reply) => return reply,
        };
        if self.given_up.contains(&question.suspension.id) {
            return "stale";
        }
        let Suspension { distinct_actors, response_schema, .. } = &question.suspension;
        if question.suspension.is_expired(now_ms) {
            return "expired";
        }
        if incoming.action == Cancel {
            return "accepted";
        }
        if *distinct_actors {
            let Some(actor) = &incoming.actor else { return "not_distinct" };
            let of_call = self.decided.iter().filter(|one| one.question.call == question.call);
            let mut earlier = of_call.filter_map(|one| one.said.actor.as_ref());
            if earlier.any(|earlier| earlier.to_lowercase() == actor.to_lowercase()) {
                return "not_distinct";
            }
        }
        let fits =
            response_schema.as_ref().is_none_or(|schema| schemas.check(schema, &incoming.result).is_ok());
        if fits { "accepted" } else { "invalid" }
    }

    /// Finds the question of a decision, if it is open under the counted decisions.
    fn question(
        &self,
        incoming: &Incoming,
        counts: impl Fn(&Decided) -> bool + Copy,
    ) -> Result<&Question, &'static str> {
        let decided = || self.decided.iter().filter(move |one| counts(one));
        let is_waiting = |asked| self.is_waiting(asked, counts);
        if is_malformed(incoming) {
            return Err("invalid");
        }
        if incoming.run_id.as_ref().is_some_and(|run| *run != self.run) {
            return Err("unknown");
        }
        if let Some(known) = decided().find(|one| one.said.decision_id == incoming.decision_id) {
            return Err(if self.is_same(known, incoming) { "duplicate" } else { "invalid" });
        }
        let call = &*incoming.call;
        let is_of_call = |asked: &&Question| call.is_empty() || self.id_of(&asked.call) == self.id_of(call);
        let of_call = || self.asked.iter().filter(is_of_call);
        let never = if call.is_empty() || of_call().next().is_none() { "unknown" } else { "stale" };
        let question = match (&incoming.suspension_id, &incoming.digest) {
            (Some(id), _) => {
                let asked = self.asked.iter().find(|asked| asked.suspension.id == *id);
                let Some(asked) = asked else {
                    return Err(if is_runtimes(id) { "unknown" } else { never });
                };
                let is_called = [&asked.call, self.id_of(&asked.call), ""].contains(&call);
                match is_waiting(asked) {
                    Ok(_) | Err("stale") if !is_called => return Err("unknown"),
                    waits => waits?,
                }
            }
            (None, Some(digest)) => {
                let of_digest = || of_call().filter(|asked| asked.digest == *digest);
                let waits = of_digest().find(|asked| is_waiting(asked).is_ok());
                let over =
                    of_digest().find_map(|asked| is_waiting(asked).err().filter(|over| *over != "stale"));
                waits.ok_or_else(|| over.unwrap_or(never))?
            }
            (None, None) => {
                let lives = self.calls.iter().filter(|(_, id)| *id == self.id_of(call)).count();
                let mut asked = of_call();
                match (lives, asked.next(), asked.next()) {
                    (0, ..) | (1, None, _) => return Err("unknown"),
                    (1, Some(asked), None) => is_waiting(asked).map_err(|over| match over {
                        "stale" => "unknown",
                        over => over,
                    })?,
                    _ => return Err("ambiguous"),
                }
            }
        };
        let is_other = incoming.digest.as_ref().is_some_and(|digest| *digest != question.digest);
        if is_other { Err("stale") } else { Ok(question) }
    }

    /// Returns the question, or the reply if it is not open.
    fn is_waiting<'q>(
        &self,
        asked: &'q Question,
        counts: impl Fn(&Decided) -> bool,
    ) -> Result<&'q Question, &'static str> {
        let id = &asked.suspension.id;
        let decided = self.decided.iter().find(|one| one.question.suspension.id == *id);
        match (decided, self.expired.contains(id), self.open.contains(id)) {
            (Some(decided), ..) if counts(decided) => Err("conflict"),
            (Some(_), ..) | (None, false, true) => Ok(asked),
            (None, true, _) => Err("expired"),
            (None, false, false) => Err("stale"),
        }
    }

    fn is_decided(&self, id: &str) -> bool {
        self.decided.iter().any(|one| one.question.suspension.id == *id)
    }

    /// The language model's id of the call with that name; the name itself for an unknown call.
    fn id_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.calls.iter().find(|(known, _)| known == name).map_or(name, |(_, id)| id)
    }

    fn is_same(&self, known: &Decided, incoming: &Incoming) -> bool {
        let Decided { said, question, .. } = known;
        let is_or_none = |text: &Option<String>, of: &str| text.as_ref().is_none_or(|text| *text == *of);
        (said.action, &said.result, &said.reason, &said.actor)
            == (incoming.action, &incoming.result, &incoming.reason, &incoming.actor)
            && [&question.call, self.id_of(&question.call), ""].contains(&&*incoming.call)
            && is_or_none(&incoming.suspension_id, &question.suspension.id)
            && is_or_none(&incoming.digest, &question.digest)
    }

    /// Makes decisions that cover the rows of the table for the current state of the run, with ids of that prefix.
    /// They include decisions that must be accepted. A test that must not change the run skips those, by their
    /// [reply](Self::reply).
    pub fn probes(&self, prefix: &str) -> Vec<Incoming> {
        let mut probes = Vec::new();
        let mut next = 0;
        let mut fresh = |call: &str, action| {
            next += 1;
            Incoming::new(format!("{prefix}{next}"), call, action)
        };
        for (name, id) in self.calls.iter().chain([&("zz".to_owned(), String::new())]) {
            probes.push(fresh(name, Resume).by("zoe"));
            let asked = self.asked.iter().filter(|asked| asked.call == *name).count();
            probes.push(fresh(id, Resume).on(format!("{}/{name}/{}", self.run, asked + 1)));
            probes.push(fresh(name, Resume).on("another"));
            probes.push(fresh(name, Resume).for_question(WRONG));
            probes.push(Incoming { run_id: Some("another".to_owned()), ..fresh(name, Resume) });
        }
        probes.push(fresh("", Resume).for_question(WRONG));
        let names = || self.calls.iter().map(|(name, _)| name);
        for Question { call, digest, suspension } in &self.asked {
            let id = &*suspension.id;
            probes.push(fresh("", Resume).on(id).by("zoe"));
            probes.push(fresh(call, Cancel).on(id).for_question(digest));
            probes.push(fresh(call, Resume).on(id).for_question(WRONG));
            probes.push(fresh("", Resume).for_question(digest));
            probes.push(fresh(call, Resume).for_question(digest).by("zoe").with_result(7));
            probes.extend(names().find(|name| *name != call).map(|other| fresh(other, Resume).on(id)));
            let of_call = self.decided.iter().filter(|one| one.question.call == *call);
            let actors = of_call.filter_map(|one| one.said.actor.as_ref());
            probes.extend(actors.map(|actor| fresh("", Resume).on(id).by(actor.to_uppercase())));
        }
        for Decided { said, question, .. } in &self.decided {
            let action = if said.action == Resume { Cancel } else { Resume };
            probes.push(said.clone());
            probes.push(Incoming { digest: Some(WRONG.to_owned()), ..said.clone() });
            probes.push(Incoming { action, ..said.clone() });
            probes.push(Incoming { call: "zz".to_owned(), ..said.clone() });
            probes.push(said.clone().with_result("other"));
            probes.push(said.clone().by("eve"));
            probes.push(Incoming { call: String::new(), ..said.clone() }.on(&*question.suspension.id));
            // The decision reuses the id of a decision on another question.
            let other = self.open().find(|open| open.suspension.id != question.suspension.id);
            let named = |other: &Question| {
                let said = Incoming { call: String::new(), digest: None, ..said.clone() };
                said.on(&*other.suspension.id)
            };
            probes.extend(other.map(named));
        }
        let call = names().next().map_or("zz", |name| name);
        for id in ["", "d\n1", "expiry:1", &"d".repeat(1025)] {
            probes.push(Incoming::new(id, call, Resume));
        }
        for actor in ["", "runstate", "RunState", "an\u{200b}n", " ann"] {
            probes.push(fresh(call, Resume).by(actor));
        }
        probes.push(fresh("", Resume));
        probes.push(fresh(call, Resume).on(""));
        probes.push(fresh(call, Resume).for_question(""));
        probes
    }
}

/// Returns whether the text has the form of a suspension id of a run.
fn is_runtimes(suspension: &str) -> bool {
    let number = suspension.splitn(3, '/').nth(2).and_then(|rest| rest.split([':', '/']).next());
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn is_malformed(incoming: &Incoming) -> bool {
    let Incoming { decision_id: id, call, suspension_id, digest, actor, .. } = incoming;
    let is_invisible = |char: char| char.is_control() || matches!(char, '\u{200b}'..='\u{200f}');
    let is_bad_actor = |actor: &String| {
        actor.trim() != *actor
            || !actor.chars().any(char::is_alphanumeric)
            || actor.chars().any(is_invisible)
            || actor.to_lowercase() == "runstate"
    };
    let names_nothing = suspension_id.is_none() && digest.is_none() && call.is_empty();
    let is_empty = |text: &Option<String>| text.as_deref() == Some("");
    id.is_empty()
        || id.len() > 1024
        || id.chars().any(char::is_control)
        || id.to_lowercase().starts_with("expiry:")
        || actor.as_ref().is_some_and(is_bad_actor)
        || is_empty(suspension_id)
        || is_empty(digest)
        || names_nothing
}
