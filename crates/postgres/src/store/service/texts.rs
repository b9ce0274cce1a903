//! A change as texts for columns.

use runstate_service::Change;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Stored, failed};

/// The texts of a change. Its events follow from the run.
pub(super) struct Texts {
    pub(super) machine: String,
    pub(super) pass: Option<String>,
    /// By name. None: the artifact is removed.
    pub(super) artifacts: Vec<(String, Option<String>)>,
    pub(super) steps: Vec<String>,
    pub(super) timeline: Vec<String>,
    pub(super) answer: Option<String>,
}

impl Texts {
    /// # Errors
    /// If a value has no JSON form, or a form that could not be read again.
    pub(super) fn of(change: &Change) -> Stored<Texts> {
        let artifact = |(name, value): (&String, &Option<Value>)| -> Stored<(String, Option<String>)> {
            let text = value.as_ref().map(|value| json(value, value, || format!("the artifact {name:?}")));
            Ok((name.clone(), text.transpose()?))
        };
        let steps =
            change.steps.iter().map(|step| json(step, &step.data, || format!("the step {}", step.step)));
        let answer = change.answer.as_ref().map(|kept| &kept.answer);
        Ok(Texts {
            machine: change.machine.to_json(),
            pass: change.pass.as_ref().map(|pass| pass.to_json()),
            artifacts: change.artifacts.iter().map(artifact).collect::<Stored<_>>()?,
            steps: steps.collect::<Stored<_>>()?,
            timeline: change.timeline.iter().map(written).collect::<Stored<_>>()?,
            answer: answer.map(|answer| json(answer, answer, || "the answer".to_owned())).transpose()?,
        })
    }
}

pub(super) fn written(value: &impl Serialize) -> Stored<String> {
    serde_json::to_string(value).map_err(|error| failed(format!("a value has no JSON form: {error}")))
}

/// The number of levels of a value from outside. The reader of JSON ends at 128, and rows have levels of their own.
const MOST_LEVELS: usize = 100;

/// Writes a value with a part from outside. Checks that the text can be read again.
fn json(value: &impl Serialize, part: &Value, what: impl Fn() -> String) -> Stored<String> {
    if runstate::json::nests_deeper(part, MOST_LEVELS) {
        let most = format!("{} nests deeper than {MOST_LEVELS} levels", what());
        return Err(failed(format!("{most}, and could not be read again; nothing was stored")));
    }
    let text = written(value)?;
    runstate::json::from_str::<IgnoredAny>(&text).map_err(|error| {
        failed(format!("{} could not be read again: {error}; nothing was stored", what()))
    })?;
    Ok(text)
}
