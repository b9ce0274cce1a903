//! Assembly of tool calls from their pieces.

use runstate::turn::Extra;
use runstate_stream::{ErrorKind, SourceError, StreamEvent};
use serde_json::{Value, json};

use crate::chunk::{CallDelta, Function};

/// Limit on the calls of one answer.
const MOST_CALLS: usize = 256;
/// Limit on the bytes of all arguments together, and of the kept fields together.
pub(crate) const MOST_BYTES: usize = 8 << 20;

/// The calls of one answer, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: Extra,
}

impl Calls {
    /// Adds a piece.
    pub(crate) fn add(&mut self, piece: CallDelta, extra: Extra) -> Result<(), SourceError> {
        let CallDelta { index, id, function: Function { name, arguments }, .. } = piece;
        let id = id.unwrap_or_default();
        let name = name.unwrap_or_default();
        self.bytes += id.len();
        let place = match self.place_of(index, &id, &name) {
            Some(place) => place,
            None if self.calls.len() == MOST_CALLS => {
                let message = format!(
                    "the model calls more than {MOST_CALLS} tools at once: expected at most that many calls in an answer; instruct it to call \
                     fewer at a time"
                );
                return Err(SourceError::new(ErrorKind::Model, message));
            }
            None => {
                self.calls.push(Call { index, ..Call::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[place];
        call.extra.add(extra);
        if call.id.is_empty() {
            call.id = id;
        }
        // Servers send the name once, in pieces, or again with each piece of the arguments.
        if call.arguments.is_empty() && call.name != name {
            call.name.push_str(&name);
        }
        let piece = match arguments {
            Some(Value::String(text)) => text,
            Some(Value::Null) | None => String::new(),
            Some(whole) => whole.to_string(),
        };
        self.bytes += piece.len() + name.len();
        if self.bytes > MOST_BYTES {
            let message =
                format!("the ids, names and arguments of the tool calls are longer than {MOST_BYTES} bytes");
            return Err(SourceError::new(ErrorKind::Model, message));
        }
        call.arguments.push_str(&piece);
        Ok(())
    }

    /// Returns the call of a piece; none if the piece begins a call. The index decides first, and then the id,
    /// because a model may give one id to two calls. A piece without either belongs to the last call, unless it
    /// has a name and that call has a different name and arguments already.
    fn place_of(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let last = self.calls.len().checked_sub(1)?;
        if index.is_some() {
            let of_index = self.calls.iter().rposition(|call| call.index == index)?;
            // Some servers give every call the index 0, and some give each piece of a call an id of its own.
            let known = &self.calls[of_index].id;
            let is_other = !name.is_empty() && !id.is_empty() && !known.is_empty() && *known != *id;
            return (!is_other).then_some(of_index);
        }
        if !id.is_empty() {
            return self.calls.iter().rposition(|call| call.id == id);
        }
        let begins =
            !name.is_empty() && !self.calls[last].arguments.is_empty() && self.calls[last].name != name;
        (!begins).then_some(last)
    }

    /// Returns all calls, complete. A call without an id gets one of the answer's id and its number. `earlier` is the number
    /// of calls before the answer.
    pub(crate) fn finish(&mut self, answer: &str, earlier: usize) -> Result<Vec<StreamEvent>, SourceError> {
        let whole = |(number, call): (usize, Call)| {
            let Call { id, name, arguments, extra, .. } = call;
            if name.is_empty() {
                return Err(SourceError::new(
                    ErrorKind::Model,
                    "the model calls a tool and does not name it",
                ));
            }
            let id = match (id.is_empty(), answer) {
                (false, _) => id,
                (true, "") => format!("call_{number}"),
                (true, answer) => format!("{answer}_{number}"),
            };
            let mut event = match arguments.trim() {
                "" => StreamEvent::tool_call(id, name, json!({})),
                // Arguments are not repaired: a tool must not act on a guess.
                text => match runstate::json::from_str(text) {
                    Ok(read) => StreamEvent::tool_call(id, name, read),
                    Err(error) => StreamEvent::unreadable_call(id, name, arguments, error.to_string()),
                },
            };
            if let StreamEvent::ToolCall(call) = &mut event {
                call.extra = extra;
            }
            Ok(event)
        };
        std::mem::take(&mut self.calls)
            .into_iter()
            .zip(earlier..)
            .map(|(call, number)| (number, call))
            .map(whole)
            .collect()
    }
}
