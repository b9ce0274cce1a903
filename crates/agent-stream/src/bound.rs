//! An upper bound of the tokens of an attempt that reported none.

use runstate_agent::answer::Usage;
use runstate_agent::{InferenceRequest, Message, ResultContent};

/// The tokens around a message or a tool, in the form of the provider.
const AROUND: usize = 16;

/// An upper bound of the tokens of a request. A token has at least one byte.
pub(super) fn of_request(request: &InferenceRequest) -> u64 {
    let messages = request.history.iter().map(|message| match message {
        Message::User(text) => text.len(),
        Message::Assistant(turn) => {
            let calls = turn.calls.iter().map(|call| {
                let extra = size(call.extra.fields().values());
                call.id.len() + call.tool.len() + call.arguments.to_string().len() + extra + AROUND
            });
            turn.text.len() + size(turn.extra.fields().values()) + calls.sum::<usize>()
        }
        Message::Result(result) => match &result.content {
            ResultContent::Output { value, .. } => value.to_string().len(),
            ResultContent::Error(error) => error.len(),
        },
        Message::Open(open) => open.why().len(),
    });
    let tools = request.tools.iter().map(|tool| {
        tool.name().len()
            + tool.description().len()
            + tool.schema().map_or(0, |schema| schema.to_string().len())
    });
    let system = request.system.as_ref().map_or(0, |system| system.len());
    let bytes =
        messages.chain(tools).fold(system, |sum, size| sum.saturating_add(size).saturating_add(AROUND));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn size<'v>(values: impl Iterator<Item = &'v serde_json::Value>) -> usize {
    values.map(|value| value.to_string().len()).sum()
}

/// The attempts of a session, counted.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// Bytes of the present attempt.
    bytes: u64,
    is_counted: bool,
    /// The bound of the earlier attempts without a number.
    unreported: Usage,
}

impl Attempts {
    pub(super) fn gave(&mut self, text: &str) {
        self.bytes = self.bytes.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
    }

    pub(super) fn counted(&mut self) {
        self.is_counted = true;
    }

    /// Ends an attempt that failed. `request` is the bound of its request.
    pub(super) fn failed(&mut self, request: u64) {
        if self.bytes > 0 && !self.is_counted {
            let Usage { input_tokens, output_tokens } = self.unreported;
            self.unreported = Usage {
                input_tokens: input_tokens.saturating_add(request),
                output_tokens: output_tokens.saturating_add(self.bytes),
            };
        }
        (self.bytes, self.is_counted) = (0, false);
    }

    /// The bound of the failed attempts. None if the attempt that is whole reported no tokens either: such a model counts
    /// none, and its limits must notice.
    pub(super) fn whole(&self) -> Option<Usage> {
        Some(self.unreported).filter(|usage| self.is_counted && usage.total() > 0)
    }

    /// The bound of the attempts of a session that failed.
    pub(super) fn over(&self) -> Option<Usage> {
        Some(self.unreported).filter(|usage| usage.total() > 0)
    }
}
