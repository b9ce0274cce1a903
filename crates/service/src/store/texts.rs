//! A change as texts for the columns of a database.

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Change, ServiceStoreError};

type Stored<T> = Result<T, ServiceStoreError>;

/// The JSON texts of a change, for a store in a database. Its events follow from the run, so they are no part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeTexts {
    /// The run as a machine.
    pub machine: String,
    /// The pass as a machine.
    pub pass: Option<String>,
    /// The artifacts that changed, by name. None: the artifact is removed.
    pub artifacts: Vec<(String, Option<String>)>,
    /// The new steps.
    pub steps: Vec<String>,
    /// The new timeline entries.
    pub timeline: Vec<String>,
    /// The answer to the request that makes the change.
    pub answer: Option<String>,
}

impl ChangeTexts {
    /// Makes the texts of a change.
    ///
    /// # Errors
    /// [`ServiceStoreError::Failed`] if a value has no JSON form, or a form that no store could read again.
    pub fn of(change: &Change) -> Result<ChangeTexts, ServiceStoreError> {
        let artifact = |(name, value): (&String, &Option<Value>)| -> Stored<(String, Option<String>)> {
            let text = value.as_ref().map(|value| json(value, value, || format!("the artifact {name:?}")));
            Ok((name.clone(), text.transpose()?))
        };
        let steps =
            change.steps.iter().map(|step| json(step, &step.data, || format!("the step {}", step.step)));
        let answer = change.answer.as_ref().map(|kept| &kept.answer);
        Ok(ChangeTexts {
            machine: change.machine.to_json(),
            pass: change.pass.as_ref().map(|pass| pass.to_json()),
            artifacts: change.artifacts.iter().map(artifact).collect::<Stored<_>>()?,
            steps: steps.collect::<Stored<_>>()?,
            timeline: change.timeline.iter().map(Self::written).collect::<Stored<_>>()?,
            answer: answer.map(|answer| json(answer, answer, || "the answer".to_owned())).transpose()?,
        })
    }

    /// The text of a value that this program made.
    ///
    /// # Errors
    /// [`ServiceStoreError::Failed`] if the value has no JSON form.
    pub fn written(value: &impl Serialize) -> Result<String, ServiceStoreError> {
        serde_json::to_string(value).map_err(|error| failed(format!("a value has no JSON form: {error}")))
    }
}

fn failed(reason: String) -> ServiceStoreError {
    ServiceStoreError::Failed(reason.into())
}

/// The number of levels of a value from outside. The reader of JSON ends at 128, and rows have levels of their own.
const MOST_LEVELS: usize = 100;

/// Writes a value with a part from outside. Checks that the text can be read again.
fn json(value: &impl Serialize, part: &Value, what: impl Fn() -> String) -> Stored<String> {
    if runstate::json::nests_deeper(part, MOST_LEVELS) {
        let most = format!("{} nests deeper than {MOST_LEVELS} levels", what());
        return Err(failed(format!("{most}, and could not be read again; nothing was stored")));
    }
    let text = ChangeTexts::written(value)?;
    runstate::json::from_str::<IgnoredAny>(&text).map_err(|error| {
        failed(format!("{} could not be read again: {error}; nothing was stored", what()))
    })?;
    Ok(text)
}
