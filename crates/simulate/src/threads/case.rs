//! A conversation: all its inputs, as plain data. Playing it again gives an equal conversation.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// A conversation on some threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Talk {
    /// The seed.
    pub seed: u64,
    /// The messages, in the order of their times.
    pub posts: Vec<Post>,
    /// Cancellations.
    pub cancels: Vec<Cancel>,
    /// The largest delay of an answer to a question, in milliseconds.
    pub answers_ms: u64,
    /// Deaths, each at a write of the store.
    pub deaths: Vec<Death>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Post {
    /// The time.
    pub at_ms: u64,
    /// The thread.
    pub thread: String,
    /// The id, which another message may have too.
    pub id: String,
    /// The text, which no other message has.
    pub text: String,
    /// Does it supersede the questions of a waiting run?
    pub supersedes: bool,
    /// The number of tries at a busy thread.
    pub tries: u32,
    /// The script of the run that it begins.
    pub script: Script,
}

/// The script of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The answers of the model; afterwards it ends without calls.
    pub steps: Vec<Step>,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its delay.
    pub think_ms: u64,
    /// Its calls: does each of them ask a person?
    pub calls: Vec<bool>,
}

/// A cancellation of the last run of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cancel {
    /// The time.
    pub at_ms: u64,
    /// The thread.
    pub thread: String,
}

/// A death of the process at a write of the store, from 1. Writes are new runs, commits, and messages for waiting runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Death {
    /// The write is lost.
    Before(u32),
    /// The write is durable, and its process does not learn that.
    After(u32),
}

/// The conversation of a seed.
pub fn generate(seed: u64) -> Talk {
    let mut rng = Rng::with_seed(seed ^ 0x7468_7265_6164);
    let mut talk = without_deaths(seed, &mut rng);
    if rng.bool() {
        for _ in 0..rng.usize(1..=3) {
            let write = rng.u32(1..60);
            talk.deaths.push(if rng.bool() { Death::Before(write) } else { Death::After(write) });
        }
    }
    talk
}

/// The conversation of a seed, without deaths.
pub fn calm(seed: u64) -> Talk {
    Talk { deaths: Vec::new(), ..generate(seed) }
}

fn without_deaths(seed: u64, rng: &mut Rng) -> Talk {
    let mut posts: Vec<Post> = Vec::new();
    let threads = rng.u8(1..=2);
    let mut at_ms = 0;
    for number in 1..=rng.usize(3..=9) {
        at_ms += if rng.u8(..4) == 0 { 0 } else { rng.u64(0..250) };
        // A person sends it again, or another one has used its id.
        let id = match posts.is_empty() || rng.u8(..5) > 0 {
            true => format!("m{number}"),
            false => posts[rng.usize(..posts.len())].id.clone(),
        };
        posts.push(Post {
            at_ms,
            thread: format!("thread-{}", rng.u8(..threads)),
            id,
            text: format!("text {number}"),
            supersedes: rng.bool(),
            tries: if rng.bool() { 1 } else { rng.u32(2..20) },
            script: script(rng),
        });
    }
    let mut cancels = Vec::new();
    if rng.u8(..4) == 0 {
        let (at_ms, thread) = (rng.u64(0..=at_ms + 200), format!("thread-{}", rng.u8(..threads)));
        cancels.push(Cancel { at_ms, thread });
    }
    Talk { seed, posts, cancels, answers_ms: rng.u64(1..600), deaths: Vec::new() }
}

fn script(rng: &mut Rng) -> Script {
    let call = |rng: &mut Rng| rng.u8(..5) < 3;
    let step = |rng: &mut Rng| Step {
        think_ms: rng.u64(0..40),
        calls: (0..rng.usize(1..=3)).map(|_| call(rng)).collect(),
    };
    Script { steps: (0..rng.usize(0..=3)).map(|_| step(rng)).collect() }
}

/// A small conversation that still fails.
pub fn shrink(talk: &Talk, fails: impl Fn(&Talk) -> bool) -> Talk {
    let mut small = talk.clone();
    loop {
        let smaller = candidates(&small).into_iter().find(|talk| fails(talk));
        match smaller {
            Some(smaller) => small = smaller,
            None => return small,
        }
    }
}

fn candidates(talk: &Talk) -> Vec<Talk> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Talk)| {
        let mut smaller = talk.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    for place in 0..talk.posts.len() {
        with(&|talk| drop(talk.posts.remove(place)));
        if !talk.posts[place].script.steps.is_empty() {
            with(&|talk| drop(talk.posts[place].script.steps.pop()));
        }
    }
    for place in 0..talk.deaths.len() {
        with(&|talk| {
            talk.deaths.remove(place);
        });
    }
    for place in 0..talk.cancels.len() {
        with(&|talk| drop(talk.cancels.remove(place)));
    }
    all
}
