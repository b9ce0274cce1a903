//! Compact storage of events.

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::Recorded;
use crate::TimeoutType;
use crate::event::{Event, EventKind};

/// The events of a session. One string holds the texts of all tokens, so that a token needs no allocation of
/// its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Log {
    text: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
enum Entry {
    /// The next `len` bytes of the text.
    Token {
        at_ms: u64,
        len: usize,
    },
    /// A `TIMEOUT_RESET`, which is as frequent as tokens.
    Reset {
        at_ms: u64,
        timeout_type: TimeoutType,
    },
    Other {
        at_ms: u64,
        kind: Box<EventKind>,
    },
}

impl Log {
    #[inline]
    pub(crate) fn push(&mut self, event: &Event) {
        self.add(event.at_ms, &event.kind);
    }

    #[inline]
    fn add(&mut self, at_ms: u64, kind: &EventKind) {
        self.entries.push(match kind {
            EventKind::Token { text } => {
                self.text.push_str(text);
                Entry::Token { at_ms, len: text.len() }
            }
            EventKind::TimeoutReset { timeout_type } => Entry::Reset { at_ms, timeout_type: *timeout_type },
            other => Entry::Other { at_ms, kind: Box::new(other.clone()) },
        });
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Recorded> {
        let mut at = 0;
        self.entries.iter().map(move |entry| match entry {
            Entry::Token { at_ms, len } => {
                // The entries divide the text into the pieces that were pushed.
                let text = self.text.get(at..at + len).unwrap_or_default().to_owned();
                at += len;
                Recorded { at_ms: *at_ms, kind: EventKind::Token { text } }
            }
            Entry::Reset { at_ms, timeout_type } => {
                Recorded { at_ms: *at_ms, kind: EventKind::TimeoutReset { timeout_type: *timeout_type } }
            }
            Entry::Other { at_ms, kind } => Recorded { at_ms: *at_ms, kind: (**kind).clone() },
        })
    }
}

impl Serialize for Log {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut events = serializer.serialize_seq(Some(self.len()))?;
        for event in self.iter() {
            events.serialize_element(&event)?;
        }
        events.end()
    }
}

impl<'de> Deserialize<'de> for Log {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Events;
        impl<'de> Visitor<'de> for Events {
            type Value = Log;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of events")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<Log, A::Error> {
                let mut log = Log::default();
                while let Some(Recorded { at_ms, kind }) = events.next_element()? {
                    log.add(at_ms, &kind);
                }
                Ok(log)
            }
        }
        deserializer.deserialize_seq(Events)
    }
}
