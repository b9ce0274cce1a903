//! A lifecycle as a system under test.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use runstate::kernel::{Event, Machine, Stateful, Status};
use runstate::testing::Subject;
use serde_json::Value;

use crate::map::Map;
use crate::sut::{Broken, Reply, Sut};

/// A lifecycle as a system under test. The payload of an event in a report is the seed with which the
/// [`Subject`]'s strategy draws the event.
///
/// ```
/// use runstate_fuzz::{Fuzz, Lifecycle};
/// use runstate::testing::example::Doors;
///
/// let mut system = Lifecycle::new(Doors);
/// let report = Fuzz::new(system.map()).sequences(20).run(&mut system).unwrap();
/// assert!(report.is_clean(), "{report}");
/// ```
#[derive(Debug)]
pub struct Lifecycle<S: Subject> {
    subject: S,
    machine: Option<S::Machine>,
}

impl<S: Subject> Lifecycle<S> {
    /// Makes the system of a subject.
    pub fn new(subject: S) -> Self {
        Lifecycle { subject, machine: None }
    }

    /// The map of the lifecycle. Each transition may have a guard, so a refusal of a declared event is permitted.
    #[must_use]
    pub fn map(&self) -> Map {
        Map::of_graph(<S::Machine as Stateful>::GRAPH)
    }

    /// The machine; none before the first start, and after a panic.
    pub(crate) fn machine(&self) -> Option<&S::Machine> {
        self.machine.as_ref()
    }

    pub(crate) fn replace(&mut self, machine: S::Machine) {
        self.machine = Some(machine);
    }

    fn current(&self) -> Result<&S::Machine, Broken> {
        self.machine.as_ref().ok_or_else(|| Broken::Crash("the machine was lost in a panic".to_owned()))
    }

    /// Sends an event with a payload that is drawn from this runner.
    pub(crate) fn send(&mut self, event: &str, runner: &mut TestRunner) -> Result<Reply, Broken> {
        let names = <S::Machine as Machine>::Event::NAMES;
        let name = names.iter().find(|name| **name == event);
        let name = name.ok_or_else(|| Broken::Unusable(format!("the lifecycle has no event {event:?}")))?;
        let tree = self.subject.event(self.current()?, name).new_tree(runner);
        let event =
            tree.map_err(|why| Broken::Unusable(format!("no payload for {event:?}: {why}")))?.current();
        let machine =
            self.machine.take().ok_or_else(|| Broken::Unusable("there is no machine".to_owned()))?;
        match machine.apply(event) {
            Ok(machine) => {
                let state = machine.status().name();
                self.machine = Some(machine);
                Ok(Reply::taken(state))
            }
            Err(refused) => {
                let reason = refused.to_string();
                let (machine, _) = refused.into_parts();
                let state = machine.status().name();
                self.machine = Some(machine);
                Ok(Reply::refused(reason, state))
            }
        }
    }
}

/// The random numbers of a seed.
pub(crate) fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

impl<S: Subject> Sut for Lifecycle<S> {
    fn reset(&mut self) -> Result<String, Broken> {
        let machine = S::Machine::create(self.subject.record());
        let state = machine.status().name().to_owned();
        self.machine = Some(machine);
        Ok(state)
    }

    fn state(&mut self) -> Result<String, Broken> {
        Ok(self.current()?.status().name().to_owned())
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        let rng = rng(payload["seed"].as_u64().unwrap_or_default());
        self.send(event, &mut TestRunner::new_with_rng(Config::default(), rng))
    }
}
