//! The settings of a fuzzing run, and its phases.

use std::fmt;
use std::time::Duration;

use crate::engine::{Engine, Stop};
use crate::finding::Report;
use crate::map::Map;
use crate::quiet::Quiet;
use crate::regression::Regression;
use crate::sut::Sut;

/// A fuzzing run of a system against a diagram.
///
/// It replays stored regressions, then takes each transition with the fewest sequences that the diagram allows, then sends
/// each event in each state that must refuse it, then sends random sequences: least-taken transitions first, and 30 % events that the state refuses. A sequence continues after a
/// refusal, since damage may show later. Each difference is replayed three times from a fresh start and shrunk.
///
/// [`Sut`] has an example.
pub struct Fuzz {
    pub(crate) map: Map,
    pub(crate) seed: u64,
    pub(crate) sequences: Option<u64>,
    pub(crate) depth: usize,
    pub(crate) limit: Option<Duration>,
    pub(crate) now: Box<dyn Fn() -> Duration>,
    pub(crate) is_stopped: Box<dyn Fn() -> bool>,
    pub(crate) regressions: Vec<Regression>,
}

impl Fuzz {
    /// Makes a run with the seed 0, 100 random sequences and a depth of 50.
    #[must_use]
    pub fn new(map: Map) -> Self {
        Fuzz {
            map,
            seed: 0,
            sequences: None,
            depth: 50,
            limit: None,
            now: Box::new(|| Duration::ZERO),
            is_stopped: Box::new(|| false),
            regressions: Vec::new(),
        }
    }

    /// Sets the seed. Default: 0. The same seed gives the same requests to a deterministic system.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of random sequences. Default: 100, or no limit with [`time_limit`](Self::time_limit).
    #[must_use]
    pub fn sequences(mut self, sequences: u64) -> Self {
        self.sequences = Some(sequences);
        self
    }

    /// Sets the maximum length of a random sequence, at least 1. Default: 50.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth.max(1);
        self
    }

    /// Sets the clock, as the time since any fixed moment. Default: none, so no limit of time applies.
    ///
    /// With a clock the shrinking of one difference ends after 60 s; without one it ends after 200 replays alone.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Duration + 'static) -> Self {
        self.now = Box::new(now);
        self
    }

    /// Sets the duration of the random phase, by the [`clock`](Self::clock). Default: no limit.
    ///
    /// The run ends between two requests, also within a sequence, a replay or the shrinking of a difference. After a difference
    /// in an earlier phase the limit counts from the start of the run and ends that phase, too: a system that hangs takes longer
    /// than the limit by the time of one reply.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets a condition that ends the run between two requests. Default: none.
    #[must_use]
    pub fn stop_when(mut self, is_stopped: impl Fn() -> bool + 'static) -> Self {
        self.is_stopped = Box::new(is_stopped);
        self
    }

    /// Sets the regressions to replay first. Default: none.
    #[must_use]
    pub fn regressions(mut self, regressions: Vec<Regression>) -> Self {
        self.regressions = regressions;
        self
    }

    /// Fuzzes a system. If the system cannot be tested any more after the first sequence, the report has the part before
    /// that, and the reason in [`Report::stopped`].
    ///
    /// # Errors
    /// [`Unusable`]: the system cannot be tested.
    ///
    /// # Panics
    /// Never: a panic of the system is a finding, with its place in the source. It prints nothing: the run replaces the panic hook of
    /// the process, which still gets all panics of other threads, and puts it back.
    pub fn run(&self, sut: &mut dyn Sut) -> Result<Report, Unusable> {
        let _quiet = Quiet::new();
        let mut engine = Engine::new(self, sut);
        let mut regressions = (Vec::new(), Vec::new());
        let mut done = engine.replay_all(&self.regressions, &mut regressions);
        done =
            done.and_then(|()| engine.cover()).and_then(|()| engine.refuse()).and_then(|()| engine.explore());
        let stopped = match done {
            Err(Stop::Unusable(why)) if engine.has_started() => (Some(why), None),
            Err(Stop::Unusable(why)) => return Err(Unusable(why)),
            Err(Stop::Over(why)) => (None, Some(why)),
            Err(Stop::Late) => {
                (None, Some("the time limit passed in the phases before the random one".to_owned()))
            }
            Err(Stop::Wrong(..)) | Ok(()) => (None, None),
        };
        Ok(engine.report(regressions, stopped))
    }
}

impl fmt::Debug for Fuzz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fuzz").field("map", &self.map.name).field("seed", &self.seed).finish_non_exhaustive()
    }
}

/// A system that cannot be tested, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);
