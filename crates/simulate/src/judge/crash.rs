//! A run that a death interrupted ends like an uninterrupted run.

use runstate_agent::SuspensionPolicy;

use super::Violation;
use crate::play::{Final, Seen};

/// Does the run end as without the death? With a model that continues beside waiting calls nothing is compared: a death
/// takes time, and the content and time of the next model request depend on it.
pub fn same_end(undisturbed: &Seen, disturbed: &Seen) -> Option<Violation> {
    let wrong = |what: String| {
        Some(Violation { rule: "crash".to_owned(), what: format!("{:?}: {what}", disturbed.case.troubles) })
    };
    let (Some(expected), Some(got)) = (&undisturbed.end, &disturbed.end) else {
        return wrong("one of them is never over".to_owned());
    };
    let calls = |end: &Final| -> Vec<_> {
        end.calls.iter().map(|call| (call.name.clone(), call.key, call.status)).collect()
    };
    if undisturbed.case.policy == SuspensionPolicy::ContinueWhenAny {
        return None;
    }
    // A condition that holds gives up calls in doubt.
    let doubts =
        disturbed.trace.iter().any(|event| event.lifecycle == "tool_call" && event.to == "Suspended");
    if doubts && !disturbed.case.stop.is_empty() {
        return None;
    }
    if calls(expected) != calls(got) {
        return wrong(format!("its calls are {:?}, and would be {:?}", calls(got), calls(expected)));
    }
    if expected.history != got.history {
        return wrong(format!("it has {:?}, and would have {:?}", got.history, expected.history));
    }
    if (&expected.status, &expected.reason, expected.steps) != (&got.status, &got.reason, got.steps) {
        return wrong(format!("it ended as {:?}, and would as {:?}", got.reason, expected.reason));
    }
    if expected.values != got.values {
        return wrong(format!("its keys have {:?}, and would have {:?}", got.values, expected.values));
    }
    None
}
