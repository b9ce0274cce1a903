//! Misbehaving systems, on which a suite of tests shows whether it bites.

use std::collections::BTreeSet;
use std::fmt;

use proptest::prelude::RngExt;
use runstate::testing::Subject;
use serde_json::{Value, json};

use crate::map::Map;
use crate::quiet::{self, Quiet};
use crate::subject::{Lifecycle, rng};
use crate::sut::{Broken, Reply, Sut};

/// The payloads that are tried for a transition on the way to a state.
const PAYLOADS: usize = 256;

/// The fault of a mutant, in one state and for one event.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    /// The event is refused.
    Dropped,
    /// The event leads to another state.
    Retargeted(usize),
    /// An event that the state must refuse is taken.
    Added(usize),
    /// The guard lets each event through.
    AlwaysOpen(usize),
    /// The event is refused, and the machine changes its state.
    Moves(usize),
}

/// A lifecycle with a fault.
struct Mutant<'a, S: Subject> {
    inner: Lifecycle<S>,
    plan: &'a Plan,
    state: usize,
    event: usize,
    fault: &'a Fault,
}

/// The states of a lifecycle, and a way to each of them.
struct Plan {
    map: Map,
    /// The events with their payloads that lead to a state; none for a state that no random payload reached.
    ways: Vec<Option<Vec<(usize, Value)>>>,
    /// The events of each state that a guard refused.
    guarded: BTreeSet<(usize, usize)>,
}

impl Plan {
    fn of<S: Subject>(subject: S) -> Result<Self, String> {
        let mut system = Lifecycle::new(subject);
        let map = system.map();
        let broken = |broken: Broken| format!("the lifecycle itself fails: {broken:?}");
        let start = system.reset().map_err(broken)?;
        let start = map.state(&start).ok_or_else(|| format!("the diagram has no state {start}"))?;
        let mut plan = Plan { ways: vec![None; map.states.len()], guarded: BTreeSet::new(), map };
        plan.ways[start] = Some(Vec::new());
        let (mut queue, mut rng) = (vec![start], rng(0));
        let mut at = 0;
        while let Some(&state) = queue.get(at) {
            at += 1;
            let way = plan.ways[state].clone().unwrap_or_default();
            for event in plan.map.legal(state) {
                for _ in 0..PAYLOADS {
                    plan.follow(&mut system, &way).map_err(broken)?;
                    let payload = json!({ "seed": rng.random::<u64>() });
                    let reply = system.apply(&plan.map.events[event], &payload).map_err(broken)?;
                    let Some(to) = plan.map.state(&reply.state) else { break };
                    if reply.refused.is_some() {
                        plan.guarded.insert((state, event));
                        continue;
                    }
                    if plan.ways[to].is_none() {
                        let mut longer = way.clone();
                        longer.push((event, payload));
                        plan.ways[to] = Some(longer);
                        queue.push(to);
                    }
                    // A guard may refuse others, and an event may have several targets.
                    if plan.map.of(state, event).all(|edge| plan.ways[plan.map.edges[edge].to].is_some())
                        && rng.random_range(0..8) == 0
                    {
                        break;
                    }
                }
            }
        }
        Ok(plan)
    }

    /// Starts a system anew, and sends it on a way.
    fn follow<S: Subject>(
        &self,
        system: &mut Lifecycle<S>,
        way: &[(usize, Value)],
    ) -> Result<String, Broken> {
        let mut state = system.reset()?;
        for (event, payload) in way {
            state = system.apply(&self.map.events[*event], payload)?.state;
        }
        Ok(state)
    }

    /// A state other than this one that can be entered, if there is any.
    fn other(&self, than: &[usize]) -> Option<usize> {
        (0..self.ways.len()).find(|state| self.ways[*state].is_some() && !than.contains(state))
    }

    /// The states that no random payload reached.
    fn unreached(&self) -> Vec<String> {
        let states = self.map.states.iter().zip(&self.ways);
        states.filter(|(_, way)| way.is_none()).map(|(state, _)| state.clone()).collect()
    }

    fn mutants(&self) -> Vec<(usize, usize, Fault)> {
        let mut all = Vec::new();
        let map = &self.map;
        for state in (0..map.states.len()).filter(|state| self.ways[*state].is_some()) {
            let mut moves = false;
            for event in 0..map.events.len() {
                let targets: Vec<usize> = map.of(state, event).map(|edge| map.edges[edge].to).collect();
                let mut fault = |fault| all.push((state, event, fault));
                if targets.is_empty() {
                    fault(Fault::Added(self.other(&[state]).unwrap_or(state)));
                    if let Some(to) = self.other(&[state]).filter(|_| !moves) {
                        moves = true;
                        fault(Fault::Moves(to));
                    }
                    continue;
                }
                // A transition that is never taken shows no fault: its target is named as unreached.
                let Some(reached) = targets.iter().find(|target| self.ways[**target].is_some()) else {
                    continue;
                };
                fault(Fault::Dropped);
                if let Some(to) = self.other(&targets) {
                    fault(Fault::Retargeted(to));
                }
                if self.guarded.contains(&(state, event)) {
                    fault(Fault::AlwaysOpen(*reached));
                }
            }
        }
        all
    }

    /// The fault in words.
    fn told(&self, state: usize, event: usize, fault: &Fault) -> String {
        let (of, event) = (&self.map.states[state], &self.map.events[event]);
        let name = |state: &usize| &self.map.states[*state];
        match fault {
            Fault::Dropped => format!("{of} refuses each `{event}`"),
            Fault::Retargeted(to) => format!("{of} takes `{event}` and becomes {}", name(to)),
            Fault::Added(to) => {
                format!("{of} takes `{event}`, which it must refuse, and becomes {}", name(to))
            }
            Fault::AlwaysOpen(to) => {
                format!("{of} takes each `{event}` and becomes {}, also where a guard refuses", name(to))
            }
            Fault::Moves(to) => format!("{of} refuses `{event}` and becomes {}", name(to)),
        }
    }
}

impl<S: Subject> Mutant<'_, S> {
    /// Moves the machine to a state.
    fn enter(&mut self, state: usize) -> Result<String, Broken> {
        let way = self.plan.ways[state].clone().unwrap_or_default();
        self.plan.follow(&mut self.inner, &way)
    }
}

impl<S: Subject> Sut for Mutant<'_, S> {
    fn reset(&mut self) -> Result<String, Broken> {
        self.inner.reset()
    }

    fn state(&mut self) -> Result<String, Broken> {
        self.inner.state()
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        let map = &self.plan.map;
        let is_here = map.state(&self.inner.state()?) == Some(self.state) && map.events[self.event] == event;
        if !is_here {
            return self.inner.apply(event, payload);
        }
        match self.fault {
            Fault::Dropped => Ok(Reply::refused("not now", self.inner.state()?)),
            Fault::Added(to) => Ok(Reply::taken(self.enter(*to)?)),
            Fault::Moves(to) => Ok(Reply::refused("not now", self.enter(*to)?)),
            Fault::Retargeted(to) => {
                let reply = self.inner.apply(event, payload)?;
                if reply.refused.is_some() { Ok(reply) } else { Ok(Reply::taken(self.enter(*to)?)) }
            }
            Fault::AlwaysOpen(to) => {
                let reply = self.inner.apply(event, payload)?;
                if reply.refused.is_none() { Ok(reply) } else { Ok(Reply::taken(self.enter(*to)?)) }
            }
        }
    }
}

/// Runs a suite of tests on misbehaving copies of a lifecycle, and returns the number of copies. The suite speaks to each of
/// them as a [`Sut`]. It notices a fault with an `Err` or with a panic.
///
/// The copies have one fault each: a transition that is refused, one that leads to another state, one too many, a guard that
/// lets each event through, and a refusal that changes the state. The diagram of the suite stays as it is. A payload is the
/// seed with which the [`Subject`] draws an event, as for [`Lifecycle`].
///
/// ```
/// use runstate::testing::example::Doors;
/// use runstate_fuzz::{Fuzz, Lifecycle, Sut, detects_mutants};
/// use serde_json::json;
///
/// let map = Lifecycle::new(Doors).map();
/// let fuzzes = |sut: &mut dyn Sut| {
///     let report = Fuzz::new(map.clone()).run(sut).map_err(|unusable| unusable.to_string())?;
///     if report.is_clean() { Ok(()) } else { Err(report.to_string()) }
/// };
/// // The diagram does not say which keys fit, so fuzzing alone cannot notice that each of them does.
/// let error = detects_mutants(|| Doors, fuzzes).unwrap_err().to_string();
/// assert!(error.ends_with("  Locked takes each `unlock` and becomes Shut, also where a guard refuses"), "{error}");
///
/// let whole = |sut: &mut dyn Sut| {
///     fuzzes(sut)?;
///     let refuses = (0..64).any(|seed| {
///         sut.reset().unwrap();
///         for event in ["close", "lock"] {
///             sut.apply(event, &json!({ "seed": 0 })).unwrap();
///         }
///         sut.apply("unlock", &json!({ "seed": seed })).unwrap().refused.is_some()
///     });
///     if refuses { Ok(()) } else { Err("each key fits".to_owned()) }
/// };
/// assert!(detects_mutants(|| Doors, whole).unwrap() > 20);
///
/// // A suite that only closes a door misses nearly all of them.
/// let closes = |sut: &mut dyn Sut| {
///     sut.reset().unwrap();
///     let reply = sut.apply("close", &serde_json::Value::Null).unwrap();
///     if reply.state == "Shut" { Ok(()) } else { Err(reply.state) }
/// };
/// let error = detects_mutants(|| Doors, closes).unwrap_err().to_string();
/// assert!(error.contains("Shut refuses each `lock`"), "{error}");
/// ```
///
/// # Errors
/// [`Survivors`]: the faults that the suite does not notice, the states that no payload leads to, or the reason for which the
/// suite fails on the lifecycle itself.
pub fn detects_mutants<S: Subject>(
    subject: impl Fn() -> S,
    suite: impl Fn(&mut dyn Sut) -> Result<(), String>,
) -> Result<usize, Survivors> {
    let _quiet = Quiet::new();
    let fails = |sut: &mut dyn Sut| match quiet::trial(|| suite(sut)) {
        Ok(Ok(())) => None,
        Ok(Err(why)) => Some(why),
        Err(panic) => Some(quiet::with_place(panic)),
    };
    if let Some(why) = fails(&mut Lifecycle::new(subject())) {
        return Err(Survivors::Fails(why));
    }
    let plan = Plan::of(subject()).map_err(Survivors::Fails)?;
    let all = plan.mutants();
    let survives = |(state, event, fault): &&(usize, usize, Fault)| {
        let (inner, plan) = (Lifecycle::new(subject()), &plan);
        let mut mutant = Mutant { inner, plan, state: *state, event: *event, fault };
        fails(&mut mutant).is_none()
    };
    let survivors: Vec<String> =
        all.iter().filter(survives).map(|(state, event, fault)| plan.told(*state, *event, fault)).collect();
    let states = plan.unreached();
    match (survivors.is_empty(), states.is_empty()) {
        (false, _) => Err(Survivors::Unnoticed { of: all.len(), survivors }),
        (true, false) => Err(Survivors::Unreached { of: all.len(), states }),
        (true, true) => Ok(all.len()),
    }
}

/// The result of a suite that does not bite.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Survivors {
    /// The suite fails on the lifecycle itself.
    Fails(String),
    /// The suite does not notice these faults.
    #[non_exhaustive]
    Unnoticed {
        /// The number of misbehaving systems.
        of: usize,
        /// The faults, in words.
        survivors: Vec<String>,
    },
    /// No payload of the subject leads to these states, so the faults of each state could not be tried. The suite notices all
    /// others.
    #[non_exhaustive]
    Unreached {
        /// The number of misbehaving systems that were tried.
        of: usize,
        /// The names of the states.
        states: Vec<String>,
    },
}

impl fmt::Display for Survivors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Survivors::Fails(why) => write!(f, "the suite fails on the lifecycle itself: {why}"),
            Survivors::Unnoticed { of, survivors } => {
                write!(f, "the suite does not notice {} of {of} misbehaving systems:", survivors.len())?;
                survivors.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
            Survivors::Unreached { of, states } => write!(
                f,
                "the suite notices {of} misbehaving systems, but the faults of {} were not tried: no payload of the subject leads there; expected a strategy with payloads that pass each guard",
                states.join(", ")
            ),
        }
    }
}

impl std::error::Error for Survivors {}

/// Asserts that a suite of tests notices each misbehaving copy of a lifecycle: [`detects_mutants`].
///
/// ```
/// use runstate::testing::example::Doors;
/// use runstate_fuzz::{Lifecycle, Sut, assert_detects_mutants};
/// use serde_json::json;
///
/// /// Compares a system with the lifecycle, on some sequences.
/// fn suite(sut: &mut dyn Sut) -> Result<(), String> {
///     let mut doors = Lifecycle::new(Doors);
///     for seed in 0..4_000_u64 {
///         let events = ["close", "lock", "unlock", "reopen", "remove"];
///         (sut.reset().unwrap(), doors.reset().unwrap());
///         for step in 0..5 {
///             let event = events[(seed / 5_u64.pow(step) % 5) as usize];
///             let payload = json!({ "seed": seed });
///             let (one, other) = (sut.apply(event, &payload).unwrap(), doors.apply(event, &payload).unwrap());
///             if (&one.state, one.refused.is_some()) != (&other.state, other.refused.is_some()) {
///                 return Err(format!("{one:?}, and not {other:?}"));
///             }
///         }
///     }
///     Ok(())
/// }
///
/// assert_detects_mutants!(Doors, suite);
/// ```
///
/// # Panics
/// The suite does not notice a fault, or fails on the lifecycle itself.
#[macro_export]
macro_rules! assert_detects_mutants {
    ($subject:expr, $suite:expr $(,)?) => {
        if let Err(survivors) = $crate::detects_mutants(|| $subject, $suite) {
            panic!("{survivors}");
        }
    };
}
