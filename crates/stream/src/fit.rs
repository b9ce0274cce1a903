//! The check of a whole output against a type.

use std::any::{Any, TypeId};

use runstate_guardrails::Violation;
use runstate_guardrails::structured::{Structured, StructuredError, read};
use serde::de::DeserializeOwned;

/// The rule's name in events and violations.
pub(crate) const RULE: &str = "structured";

/// Check of an attempt's output against a type that is erased here.
pub(crate) trait Fit: Send {
    /// Reads the output, and keeps the result. Returns a violation if the output does not fit.
    fn check(&mut self, content: &str) -> Option<Violation>;
    /// Drops the result, at the start of an attempt.
    fn forget(&mut self);
    /// Returns the type that it reads.
    fn type_id(&self) -> TypeId;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

type Accept<T> = Box<dyn FnMut(&Structured<T>) -> Result<(), String> + Send>;

/// Check of an output against `T`, and then against a condition.
pub(crate) struct Fitting<T> {
    accept: Accept<T>,
    /// The result for the last output.
    pub(crate) last: Option<Result<Structured<T>, StructuredError>>,
}

impl<T: DeserializeOwned + Send + 'static> Fitting<T> {
    pub(crate) fn new<E: ToString>(
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
    /// The reason if the output does not fit.
    pub(crate) fn read(&mut self, content: &str) -> Result<Structured<T>, StructuredError> {
        let read = read::<T>(content)?;
        match (self.accept)(&read) {
            Ok(()) => Ok(read),
            Err(reason) => Err(StructuredError::Refused { reason, json: read.json, repairs: read.repairs }),
        }
    }
}

impl<T: DeserializeOwned + Send + 'static> Fit for Fitting<T> {
    fn check(&mut self, content: &str) -> Option<Violation> {
        // If reading panics, no result must remain.
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
