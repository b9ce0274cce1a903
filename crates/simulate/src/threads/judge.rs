//! The judge of conversations: it knows the documented behaviour and the observations, and nothing of the store.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use runstate::run::RunStatus;
use runstate::tool_call::{AnyToolCall, CancelCause};
use runstate::trace::{Event, Rulebook, Verdict, check};
use runstate_agent::{Message, Reply, RunState};
use runstate_store::Sent;

use super::case::Talk;
use super::play::{Entry, Seen, What, play};
use crate::judge::Violation;

static RULES: LazyLock<Rulebook> = LazyLock::new(runstate::rulebook);

/// The broken promises of a conversation.
pub fn broken(talk: &Talk) -> Vec<Violation> {
    judge(&play(talk))
}

/// Compares the observations with the documented behaviour.
pub fn judge(seen: &Seen) -> Vec<Violation> {
    let mut judge = Judge { seen, at_ms: 0, found: Vec::new(), now: Now::default() };
    for entry in &seen.entries {
        judge.at_ms = entry.at_ms;
        judge.entry(entry);
    }
    let states = judge.restored();
    for (run, (_, trace)) in &seen.runs {
        judge.trace(run, trace.iter().map(|row| row.json.as_str()));
        judge.end(run, &states);
    }
    let lost: Vec<String> = judge.now.runs.keys().cloned().collect();
    for run in lost {
        judge.wrong("lost", format!("the run {run} began, and the store does not have it"));
    }
    judge.found
}

/// A run so far.
#[derive(Debug, Default)]
struct Run {
    post: usize,
    after: Option<String>,
    status: Option<RunStatus>,
    /// Statuses since the last sending of each message, as far as they matter: with the place of their entry.
    statuses: Vec<(usize, RunStatus)>,
    is_cancelled: bool,
    /// A decision is accepted that no commit has followed.
    is_decided: bool,
    /// A message that no commit has taken.
    message: Option<usize>,
    /// The messages that superseded questions, with the calls that waited.
    superseded: Vec<(usize, Vec<String>)>,
    reads: Vec<Vec<Message>>,
}

/// The state of all threads so far.
#[derive(Debug, Default)]
struct Now {
    place: usize,
    runs: HashMap<String, Run>,
    /// The runs of each thread, in order.
    threads: HashMap<String, Vec<String>>,
    /// The message that has used an id.
    used: HashMap<String, usize>,
    /// The place of the last sending of each message.
    sending: HashMap<usize, usize>,
    /// The accepted messages since their last sending.
    accepted: BTreeSet<usize>,
}

struct Judge<'s> {
    seen: &'s Seen,
    at_ms: u64,
    found: Vec<Violation>,
    now: Now,
}

impl Judge<'_> {
    fn wrong(&mut self, rule: &str, what: impl std::fmt::Display) {
        let what = format!("at {} ms, {what}", self.at_ms);
        self.found.push(Violation { rule: rule.to_owned(), what });
    }

    fn entry(&mut self, entry: &Entry) {
        self.now.place += 1;
        match &entry.what {
            What::Sending { post } => {
                self.now.sending.insert(*post, self.now.place);
                self.now.accepted.remove(post);
            }
            What::Replied { post, sent } => self.replied(*post, sent.as_ref()),
            What::Began { post, run, thread, after } => self.began(*post, run, thread, after.as_deref()),
            What::Superseded { post, run, open, status } => self.superseded(*post, run, open, *status),
            What::Committed { run, status, takes } => self.committed(run, *status, takes.as_deref()),
            What::Read { run, history } => self.read(run, history),
            What::Decided { run, reply } => self.decided(run, reply),
            What::Cancelled { run } => {
                if let Some(run) = self.now.runs.get_mut(run) {
                    run.is_cancelled = true;
                }
            }
            What::Died { .. } => {}
            What::Wrong(what) => {
                let (rule, what) = what.split_once(": ").unwrap_or(("wrong", what));
                self.wrong(rule, what);
            }
        }
    }

    /// Of two messages with one id the first is accepted.
    fn accept(&mut self, post: usize) {
        let id = &self.seen.talk.posts[post].id;
        if let Some(first) = self.now.used.insert(id.clone(), post) {
            self.wrong("once", format!("the id {id} of message {post} was used by message {first}"));
        }
        self.now.accepted.insert(post);
    }

    /// A run follows the last run of its thread, which is over.
    fn began(&mut self, post: usize, run: &str, thread: &str, after: Option<&str>) {
        self.accept(post);
        let last = self.now.threads.get(thread).and_then(|runs| runs.last()).cloned();
        let status = last.as_ref().and_then(|last| self.now.runs[last].status);
        if last.as_deref() != after || last.is_some() && status != Some(RunStatus::Done) {
            let what = format!("{run} begins after {after:?}, and the last run is {last:?}, {status:?}");
            self.wrong("thread", what);
        }
        if thread != self.seen.talk.posts[post].thread {
            self.wrong("thread", format!("message {post} begins {run} on the thread {thread}"));
        }
        self.now.threads.entry(thread.to_owned()).or_default().push(run.to_owned());
        let (status, place) = (RunStatus::Running, self.now.place);
        let run_now = Run {
            post,
            after: after.map(str::to_owned),
            status: Some(status),
            statuses: vec![(place, status)],
            ..Run::default()
        };
        self.now.runs.insert(run.to_owned(), run_now);
    }

    /// Only a waiting run without a pending decision, message or cancellation takes a message, on request.
    fn superseded(&mut self, post: usize, run: &str, open: &[String], status: RunStatus) {
        self.accept(post);
        if !self.seen.talk.posts[post].supersedes {
            self.wrong("busy", format!("message {post} supersedes, and did not ask for it"));
        }
        let last = self.now.threads.get(&self.seen.talk.posts[post].thread).and_then(|runs| runs.last());
        if last.map(String::as_str) != Some(run) {
            self.wrong("thread", format!("message {post} is for {run}, and the last run is {last:?}"));
        }
        let Some(now) = self.now.runs.get_mut(run) else { return };
        let has_input = now.is_decided || now.is_cancelled || now.message.is_some();
        now.message = Some(post);
        now.superseded.push((post, open.to_vec()));
        if status != RunStatus::Waiting || has_input {
            self.wrong(
                "busy",
                format!("{run} takes message {post}: {status}, with other input: {has_input}"),
            );
        }
    }

    fn committed(&mut self, run: &str, status: RunStatus, takes: Option<&str>) {
        let place = self.now.place;
        let posts = &self.seen.talk.posts;
        let Some(now) = self.now.runs.get_mut(run) else { return };
        now.status = Some(status);
        now.statuses.push((place, status));
        now.is_decided = false;
        let expected = now.message.map(|post| &*posts[post].id);
        let what = match (takes, expected) {
            (Some(took), Some(expected)) if took == expected => {
                now.message = None;
                return;
            }
            (None, None) => return,
            _ => format!("{run} takes {takes:?}, expected {expected:?}"),
        };
        self.wrong("message", what);
    }

    /// The model reads the messages of the thread, then those of the run, and each accepted message.
    fn read(&mut self, run: &str, history: &[Message]) {
        let posts = &self.seen.talk.posts;
        let Some(now) = self.now.runs.get_mut(run) else { return };
        now.reads.push(history.to_vec());
        let users = texts(history);
        let missing = now.superseded.iter().find(|(post, _)| !users.contains(&&*posts[*post].text));
        let missing =
            missing.map(|(post, _)| *post).or((!users.contains(&&*posts[now.post].text)).then_some(now.post));
        if let Some(post) = missing {
            self.wrong("message", format!("the model of {run} does not read message {post}"));
        }
    }

    fn decided(&mut self, run: &str, reply: &Reply) {
        if *reply != Reply::Accepted {
            return;
        }
        let Some(now) = self.now.runs.get_mut(run) else { return };
        now.is_decided = true;
        if let Some(post) = now.message {
            self.wrong(
                "superseded",
                format!("{run} accepts a decision, and message {post} has superseded it"),
            );
        }
    }

    fn replied(&mut self, post: usize, sent: Option<&Sent>) {
        let Some(sent) = sent else { return };
        let posts = &self.seen.talk.posts;
        let (id, is_new) = (&posts[post].id, self.now.accepted.contains(&post));
        let what = match sent {
            Sent::Began { .. } | Sent::Superseded { .. } if is_new => return,
            Sent::Duplicate if self.now.used.contains_key(id) && !is_new => return,
            Sent::Busy { run, status } if !is_new => match self.why_not_busy(post, run, *status) {
                None => return,
                Some(why) => why,
            },
            sent => {
                format!("{sent:?}, and it was accepted now: {is_new}, or before: {:?}", self.now.used.get(id))
            }
        };
        self.wrong("reply", format!("message {post} gets {what}"));
    }

    /// The reason for which a busy thread should have accepted a message.
    fn why_not_busy(&self, post: usize, run: &str, status: RunStatus) -> Option<String> {
        let since = self.now.sending.get(&post).copied().unwrap_or(0);
        let runs = self.now.threads.get(&self.seen.talk.posts[post].thread)?;
        let now = self.now.runs.get(run).filter(|_| runs.iter().any(|other| other == run));
        let Some(now) = now else { return Some(format!("busy for {run}, which is not of its thread")) };
        let (before, during): (Vec<_>, Vec<_>) = now.statuses.iter().partition(|(place, _)| *place < since);
        let mut were = before.last().into_iter().chain(&during).map(|(_, status)| *status);
        if status == RunStatus::Done || !were.any(|was| was == status) {
            return Some(format!("busy for {run}, which was not {status}"));
        }
        let has_input = now.is_decided || now.is_cancelled || now.message.is_some();
        let was_still = during.is_empty() && !has_input;
        let supersedes = self.seen.talk.posts[post].supersedes;
        (supersedes && status == RunStatus::Waiting && was_still)
            .then(|| format!("busy for {run}, which waits and has no other input"))
    }

    fn restored(&mut self) -> BTreeMap<String, RunState> {
        let mut states = BTreeMap::new();
        for (run, (loaded, _)) in &self.seen.runs {
            match loaded.stored.as_ref().map(|stored| stored.restore()) {
                Some(Ok(state)) => drop(states.insert(run.clone(), state)),
                Some(Err(error)) => self.wrong("unreadable", format!("{run}: {error}")),
                None => self.wrong("unreadable", format!("{run} has no commit")),
            }
        }
        states
    }

    fn trace<'l>(&mut self, run: &str, lines: impl Iterator<Item = &'l str>) {
        let events: Result<Vec<Event<'_>>, _> = lines.map(Event::from_json).collect();
        match events {
            Err(error) => self.wrong("trace", format!("{run}: {error}")),
            Ok(events) => {
                let report = check(&events, &RULES);
                if report.verdict != Verdict::Conforms {
                    self.wrong("trace", format!("{run}: {}", report.summary()));
                }
            }
        }
    }

    /// A run begins with the messages of its thread, and has each accepted message once, and no other.
    fn end(&mut self, id: &str, states: &BTreeMap<String, RunState>) {
        let Some(run) = self.now.runs.remove(id) else {
            return self.wrong("invented", format!("the store has the run {id}, which did not begin"));
        };
        // A run that cannot be restored was reported.
        let Some(state) = states.get(id) else { return };
        let before = run.after.as_ref().and_then(|after| states.get(after));
        let before: &[Message] = before.map_or(&[], |before| before.history());
        let history: &[Message] = state.history();
        if !history.starts_with(before) {
            self.wrong("history", format!("{id} does not begin with the messages of {:?}", run.after));
        }
        for read in &run.reads {
            let closed = read.iter().take_while(|message| !matches!(message, Message::Open(_)));
            if !closed.zip(history).all(|(read, kept)| read == kept) || !read.starts_with(before) {
                self.wrong("history", format!("the model of {id} read other messages than it has"));
                break;
            }
        }
        let posts = &self.seen.talk.posts;
        let own = texts(history.get(before.len()..).unwrap_or_default());
        let is_cancelled = run.is_cancelled && run.message.is_some();
        let taken = run.superseded.iter().map(|(post, _)| *post);
        let taken = taken.filter(|post| !is_cancelled || run.message != Some(*post));
        let expected: Vec<&str> =
            [run.post].into_iter().chain(taken).map(|post| &*posts[post].text).collect();
        if own != expected {
            self.wrong("message", format!("{id} has the messages {own:?}, expected {expected:?}"));
        }
        for (post, open) in &run.superseded {
            for call in open {
                let outcome = state.calls().find(|(name, _)| name == call).map(|(_, call)| call);
                let is_superseded = match outcome {
                    Some(AnyToolCall::Cancelled(call)) => {
                        call.cause() == CancelCause::Superseded || run.is_cancelled
                    }
                    _ => false,
                };
                if !is_superseded {
                    let status = outcome.map(AnyToolCall::status);
                    self.wrong("superseded", format!("{call} of {id} is {status:?} after message {post}"));
                }
            }
        }
        let reason = self.seen.runs.get(id).and_then(|(loaded, _)| loaded.info.reason.clone());
        let is_expected = match reason.as_deref() {
            Some("natural_end") => true,
            Some("cancelled") => run.is_cancelled,
            _ => false,
        };
        if !is_expected {
            self.wrong("end", format!("{id} ended as {reason:?}"));
        }
    }
}

/// The messages of the user.
fn texts(history: &[Message]) -> Vec<&str> {
    history
        .iter()
        .filter_map(|message| match message {
            Message::User(text) => Some(&**text),
            _ => None,
        })
        .collect()
}
