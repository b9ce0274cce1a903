//! The policy for each reason for which a model stops.

use super::checks::Failed;
use super::{ErrorKind, Failure};
use crate::stream_session::ErrorCode;
use crate::turn::FinishReason;

/// A policy for answers that end for a reason: see [`SessionBuilder::on_finish`](super::SessionBuilder::on_finish).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnFinish {
    /// The answer is whole.
    Accept,
    /// The attempt failed. An answer that came to the limit on its length is not tried again on the same stream, which would cut it
    /// again; one that a filter stopped is, from its beginning.
    Fail,
    /// The attempt failed, and the next one goes on from all that was said. It costs a retry of the model's budget. Where the answer has calls, none
    /// of them is kept, and the next attempt goes on from the checkpoint before them, or begins anew: the last one may be cut. So it does where a
    /// filter stopped the answer: a filter would stop the same text again.
    Continue,
}

/// The reasons that were set, and the defaults of all others.
#[derive(Debug, Default)]
pub(super) struct Finishes(Vec<(FinishReason, OnFinish)>);

impl Finishes {
    pub(super) fn set(&mut self, reason: FinishReason, then: OnFinish) {
        self.0.retain(|(of, _)| *of != reason);
        self.0.push((reason, then));
    }

    pub(super) fn get(&self, reason: &FinishReason) -> OnFinish {
        let set = self.0.iter().find(|(of, _)| of == reason);
        set.map(|(_, then)| *then).unwrap_or(match reason {
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Unknown | FinishReason::Other(_) => {
                OnFinish::Accept
            }
            FinishReason::Length | FinishReason::ContentFilter => OnFinish::Fail,
        })
    }
}

/// The failure of an attempt that ended for that reason.
pub(super) fn failed(reason: &FinishReason, then: OnFinish) -> Failed {
    let message = match reason {
        FinishReason::Length => "the answer was cut at its limit on length".to_owned(),
        FinishReason::ContentFilter => "the provider's filter stopped the answer".to_owned(),
        FinishReason::Unknown => "the stream gave no reason for its end".to_owned(),
        other => format!("the model stopped for the reason {:?}", other.to_string()),
    };
    let failure = Failure::new(ErrorCode::InvalidStream, ErrorKind::Model, message);
    let recoverable = *reason != FinishReason::Length || then == OnFinish::Continue;
    let spoils = *reason == FinishReason::ContentFilter && then != OnFinish::Continue;
    Failed { failure, recoverable, spoils }
}
