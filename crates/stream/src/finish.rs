//! Policies for the reasons for which a model stops.

use runstate::stream_session::ErrorCode;
use runstate::turn::FinishReason;

use super::checks::Failed;
use super::{ErrorKind, Failure};

/// Policy for answers that end for one reason. See
/// [`SessionBuilder::on_finish`](super::SessionBuilder::on_finish).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnFinish {
    /// The answer is whole.
    Accept,
    /// The attempt fails. An answer that reached its limit on length is not retried on this stream, because the
    /// stream would cut it again. An answer that a filter stopped is retried from its beginning.
    Fail,
    /// The attempt fails, and the next attempt continues from all the text of this one. The continuation costs
    /// one retry of the model's budget. If the answer has calls, these calls are dropped with the text after
    /// the last checkpoint, because the last call may be cut. The next attempt then continues from that
    /// checkpoint, or begins anew if there is none. An answer that a filter stopped also loses its text
    /// after the last checkpoint, because a filter would stop that text again.
    Continue,
}

/// The policies that were set. Every other reason has its default.
#[derive(Debug, Default)]
pub(super) struct Finishes(Vec<(FinishReason, OnFinish)>);

impl Finishes {
    pub(super) fn set(&mut self, reason: FinishReason, then: OnFinish) {
        self.0.retain(|(of, _)| *of != reason);
        self.0.push((reason, then));
    }

    pub(super) fn get(&self, reason: &FinishReason) -> OnFinish {
        let set = self.0.iter().find(|(of, _)| of == reason);
        set.map(|(_, then)| *then).unwrap_or_else(|| match reason {
            FinishReason::Other(_) => self.get(&FinishReason::Unknown),
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Unknown => OnFinish::Accept,
            FinishReason::Length | FinishReason::ContentFilter => OnFinish::Fail,
        })
    }
}

/// Builds the failure of an attempt that ended for `reason`.
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
