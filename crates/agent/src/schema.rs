//! Validation against JSON Schemas.

use serde_json::Value;

/// A validator for JSON Schemas. It checks the arguments of a tool before the tool executes, and the result of a
/// decision before the decision is accepted.
///
/// The library has no validator of its own. The crate `runstate-schema` has one. [`Unchecked`] disables validation.
pub trait SchemaCheck: Send + Sync {
    /// Validates a value against a schema.
    ///
    /// # Errors
    /// The reason why the value does not fit, as a text for the model or the approver; or the defect of the schema.
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String>;
}

/// Validator that accepts every value. Schemas are then only information for the model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unchecked;

impl SchemaCheck for Unchecked {
    fn check(&self, _: &Value, _: &Value) -> Result<(), String> {
        Ok(())
    }
}
