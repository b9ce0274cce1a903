//! The beginning of the next page of a list, as a value of `--after`.
//!
//! The value has the complete place, so that it stays valid after the run is removed, and for names with slashes.

use runstate_store::{Approval, RunInfo};

use crate::failure::Failure;

/// The place after this run.
pub(super) fn behind_run(last: &RunInfo) -> String {
    format!("{}/{}", last.created_at_ms, last.id)
}

/// Reads a place of [`behind_run`].
///
/// # Errors
/// Any other text.
pub(super) fn run(word: &str) -> Result<(u64, String), Failure> {
    let place = word.split_once('/').and_then(|(at_ms, id)| Some((at_ms.parse().ok()?, id.to_owned())));
    place.ok_or_else(|| refused("MS/RUN", "runs", word))
}

/// The place after this call. Slashes of the run are escaped.
pub(super) fn behind_call(last: &Approval) -> String {
    format!("{}/{}", last.run.replace('%', "%25").replace('/', "%2F"), last.call)
}

/// Reads a place of [`behind_call`].
///
/// # Errors
/// Any other text.
pub(super) fn call(word: &str) -> Result<(String, String), Failure> {
    let place = word.split_once('/');
    let place = place.map(|(run, call)| (run.replace("%2F", "/").replace("%25", "%"), call.to_owned()));
    place.ok_or_else(|| refused("RUN/CALL", "approvals", word))
}

fn refused(form: &str, command: &str, word: &str) -> Failure {
    Failure::new(format!("--after: expected {form}, got {word:?}")).with_help(format!(
        "the last line of `runstate {command}` has the value for the next page; with --json it is the field `next`"
    ))
}

#[cfg(test)]
mod tests {
    use runstate::decision::Suspension;
    use serde_json::Value;

    use super::*;

    #[test]
    fn page_cursor_reads_back_as_it_was_written() {
        for id in ["done-1", "a/b", "5/a", "%2F", "%252F/%", "/", ""] {
            assert_eq!(run(&behind_run(&RunInfo::new(id, "", 7))).unwrap(), (7, id.to_owned()));
            for name in ["p", "p/q", "%2F", "/", ""] {
                let (tool, suspension) = ("pay".to_owned(), Suspension::new("s", "approve", "go on?"));
                let last = Approval::new(id.to_owned(), name.to_owned(), tool, Value::Null, suspension);
                assert_eq!(call(&behind_call(&last)).unwrap(), (id.to_owned(), name.to_owned()));
            }
        }
        assert!(run("done-1").is_err() && run("x/done-1").is_err() && call("done-1").is_err());
    }
}
