//! The record of a pass.

use std::num::NonZeroU32;

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::super::record::of_its_own;
use super::{AnyServicePass, NoRepair};
use crate::kernel::{Graph, Observer, ReadRecord, Record, Rehydration};
use crate::service_run::JudgeVerdict;

/// The record of a pass: its run, its number, and the limits of its repairs.
#[derive(Debug, PartialEq, Serialize)]
pub struct PassRecord {
    run_id: String,
    pass: NonZeroU32,
    attempt: NonZeroU32,
    max_attempts: NonZeroU32,
    has_model: bool,
    #[serde(skip)]
    observer: Observer,
}

impl PassRecord {
    /// Makes the record of the first pass of a run. Default: two attempts, and a model plans the repair.
    pub fn new(run_id: impl Into<String>) -> Self {
        PassRecord {
            run_id: run_id.into(),
            pass: NonZeroU32::MIN,
            attempt: NonZeroU32::MIN,
            max_attempts: NonZeroU32::MIN.saturating_add(1),
            has_model: true,
            observer: Observer::default(),
        }
    }

    /// Sets the number of the pass, from 1. Default: 1.
    pub fn numbered(mut self, pass: NonZeroU32) -> Self {
        self.pass = pass;
        self
    }

    /// Sets the number of attempts. Default: 2, which is one repair.
    pub fn with_max_attempts(mut self, max_attempts: NonZeroU32) -> Self {
        self.max_attempts = max_attempts;
        self
    }

    /// Sets that no model is there to plan a repair.
    pub fn without_model(mut self) -> Self {
        self.has_model = false;
        self
    }

    /// Sets the observer of all transitions. Default: none.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The id of the run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The number of the pass, from 1. Each resume begins another pass.
    pub fn pass(&self) -> u32 {
        self.pass.get()
    }

    /// The number of the attempt, from 1. Each repair begins another attempt.
    pub fn attempt(&self) -> u32 {
        self.attempt.get()
    }

    /// The number of attempts that the pass may have.
    pub fn max_attempts(&self) -> u32 {
        self.max_attempts.get()
    }

    /// Returns whether a model is there to plan a repair.
    pub fn has_model(&self) -> bool {
        self.has_model
    }

    /// Checks that the plan may be repaired after this verdict.
    pub(super) fn check_repair(&self, verdict: JudgeVerdict, issues: &[String]) -> Result<(), NoRepair> {
        if verdict != JudgeVerdict::NeedsRework {
            Err(NoRepair::Verdict(verdict))
        } else if issues.is_empty() {
            Err(NoRepair::NoIssues)
        } else if self.attempt >= self.max_attempts {
            Err(NoRepair::AttemptsUsed { attempts: self.attempt() })
        } else if !self.has_model {
            Err(NoRepair::NoModel)
        } else {
            Ok(())
        }
    }

    pub(super) fn begin_attempt(&mut self) {
        self.attempt = self.attempt.saturating_add(1);
    }
}

impl Record for PassRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }

    /// A new pass is in its first attempt.
    fn created(&mut self, _: &'static Graph) {
        self.attempt = NonZeroU32::MIN;
    }
}

impl ReadRecord for PassRecord {
    fn read_record<'de, D: Deserializer<'de>>(
        permit: Rehydration<Self>,
        deserializer: D,
    ) -> Result<Self, D::Error> {
        of_its_own::<AnyServicePass, Self, D::Error>(&permit)?;
        let Stored { run_id, pass, attempt, max_attempts, has_model } = Stored::deserialize(deserializer)?;
        if attempt > max_attempts {
            return Err(D::Error::custom(format_args!("attempt {attempt} of {max_attempts}")));
        }
        Ok(PassRecord { run_id, pass, attempt, max_attempts, has_model, observer: Observer::default() })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    run_id: String,
    pass: NonZeroU32,
    attempt: NonZeroU32,
    max_attempts: NonZeroU32,
    has_model: bool,
}
