//! Whether a whole output is the value that was asked for.

use std::any::{Any, TypeId};

use serde::de::DeserializeOwned;

use super::{Structured, StructuredError, read};
use crate::stream::guardrail::Violation;

/// The rule's name in events and violations.
pub(in crate::stream) const RULE: &str = "structured";

/// Holds an attempt's output against a type that is not named here.
pub(in crate::stream) trait Fit: Send {
    /// Reads the output, and keeps what came of it. What is wrong, if it does not fit.
    fn check(&mut self, content: &str) -> Option<Violation>;
    /// An attempt begins.
    fn forget(&mut self);
    /// What it reads.
    fn type_id(&self) -> TypeId;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

type Accept<T> = Box<dyn FnMut(&Structured<T>) -> Result<(), String> + Send>;

/// Holds it against `T`, and then against a condition.
pub(in crate::stream) struct Fitting<T> {
    accept: Accept<T>,
    /// What came of the last output.
    pub(in crate::stream) last: Option<Result<Structured<T>, StructuredError>>,
}

impl<T: DeserializeOwned + Send + 'static> Fitting<T> {
    pub(in crate::stream) fn new<E: ToString>(
        mut accept: impl FnMut(&Structured<T>) -> Result<(), E> + Send + 'static,
    ) -> Self {
        Fitting {
            accept: Box::new(move |read| accept(read).map_err(|reason| reason.to_string())),
            last: None,
        }
    }

    /// Reads an output.
    ///
    /// # Errors
    /// Why it does not fit.
    pub(in crate::stream) fn read(&mut self, content: &str) -> Result<Structured<T>, StructuredError> {
        let read = read::<T>(content)?;
        match (self.accept)(&read) {
            Ok(()) => Ok(read),
            Err(reason) => Err(StructuredError::Refused { reason, json: read.json, repairs: read.repairs }),
        }
    }
}

impl<T: DeserializeOwned + Send + 'static> Fit for Fitting<T> {
    fn check(&mut self, content: &str) -> Option<Violation> {
        // Should reading panic, nothing was read.
        self.last = None;
        let read = self.read(content);
        let violation = read.as_ref().err().map(|misfit| Violation::error(RULE, misfit.to_string()));
        self.last = Some(read);
        violation
    }

    fn forget(&mut self) {
        self.last = None;
    }

    fn type_id(&self) -> TypeId {
        TypeId::of::<T>()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
