//! Checking values against JSON Schemas.

use serde_json::Value;

/// Checks values against JSON Schemas: a tool's arguments before it executes, a decision's result before it is accepted.
///
/// The library has no validator of its own. The crate `runstate-schema` has one; [`Unchecked`] is for those who want none.
pub trait SchemaCheck: Send + Sync {
    /// Does the value fit the schema?
    ///
    /// # Errors
    /// What does not fit, in words for the model or the person who gave the value; or what is wrong with the schema.
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String>;
}

/// Takes every value: schemas are for the model to read and for nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unchecked;

impl SchemaCheck for Unchecked {
    fn check(&self, _: &Value, _: &Value) -> Result<(), String> {
        Ok(())
    }
}
