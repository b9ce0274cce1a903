//! The serialized form of a commit, for databases and stores in other processes.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::commit::Commit;
use super::error::StoreError;

/// The version of the serialized form.
const FORMAT: u64 = 1;

#[derive(Serialize)]
struct Written<'c> {
    format: u64,
    #[serde(flatten)]
    commit: &'c Commit,
}

impl Commit {
    /// Returns the commit as one line of JSON. The field `format` has the version of the form.
    ///
    /// ```
    /// use runstate_store::Commit;
    /// # use runstate_store_conformance::Played;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// # let played = Played::new("r1", &[]).await;
    /// # let commit = played.commits().next().unwrap();
    /// let line = commit.to_json()?;
    /// assert!(line.starts_with(r#"{"format":1,"version":1,"#), "{line}");
    /// assert_eq!(Commit::from_json(&line)?, *commit);
    ///
    /// let later = line.replacen(r#""format":1"#, r#""format":2"#, 1);
    /// let refused = Commit::from_json(&later).unwrap_err();
    /// assert!(refused.to_string().contains("the commit has format 2, and this program reads format 1"), "{refused}");
    /// # Ok::<(), runstate_store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreError::Failed`] if a part has no JSON form.
    pub fn to_json(&self) -> Result<String, StoreError> {
        serde_json::to_string(&Written { format: FORMAT, commit: self }).map_err(StoreError::failed)
    }

    /// Parses a commit that [`to_json`](Self::to_json) wrote. The store checks that its rows are consistent.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] for a text of another form, of a later format or with unknown fields.
    pub fn from_json(text: &str) -> Result<Commit, StoreError> {
        let unreadable = |why: &dyn fmt::Display| {
            let what = format!("the commit cannot be read: {why}");
            StoreError::unusable(what, "give the text that `Commit::to_json` wrote")
        };
        let mut fields: serde_json::Map<String, Value> =
            runstate::json::from_str(text).map_err(|error| unreadable(&error))?;
        match fields.remove("format").as_ref().map(Value::as_u64) {
            Some(Some(FORMAT)) => {}
            Some(Some(format)) => {
                return Err(StoreError::unusable(
                    format!("the commit has format {format}, and this program reads format {FORMAT}"),
                    "read it with the version of the program that wrote it, or a later one",
                ));
            }
            Some(None) => return Err(unreadable(&"its `format` is no number")),
            None => return Err(unreadable(&"it has no `format`")),
        }
        Commit::deserialize(Value::Object(fields)).map_err(|error| unreadable(&error))
    }
}

/// Deserializes the name of a speaker: one of the three roles of a message.
pub(super) fn role<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = ["user", "assistant", "result"].into_iter().find(|known| *known == name);
    known.ok_or_else(|| {
        serde::de::Error::custom(format!("{name:?} is no role; expected user, assistant or result"))
    })
}
