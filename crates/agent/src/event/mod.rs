//! Events of a run, emitted as they happen.
//!
//! A run numbers its [`AgentEvent`]s and passes them to an [`EventSink`]. A sink never blocks and never fails. If a
//! receiver cannot take an event, the receiver gets a gap and the run continues. [`channel`] is a bounded channel to
//! one receiver. [`FanOut`] forwards to several sinks. A [`ReconnectableEventSink`] keeps the last events, so that a
//! front end that reconnects gets the events it missed. A [`Redactor`] hides confidential data from events.
//!
//! ```
//! use runstate_agent::event::*;
//! use std::num::NonZeroUsize;
//! use std::sync::Arc;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let sink = ReconnectableEventSink::new(NonZeroUsize::new(2).unwrap());
//! let tell = |seq, text: &str| {
//!     let kind = EventKind::TextDelta { step: 1, text: text.into() };
//!     sink.emit(&Arc::new(AgentEvent::new(seq, 40, "r1", "t1", 1, kind)));
//! };
//! tell(1, "let ");
//! tell(2, "me ");
//! let mut page = sink.reconnect(Some(Seen { seq: 1, at_ms: 40 })); // it saw the first event
//! let Some(Delivery::Event(event)) = page.recv().await else { panic!() };
//! assert_eq!(event.seq, 2);
//!
//! // The page stops reading, and newer events replace the two kept ones. The page gets a gap first.
//! (3..=6).for_each(|seq| tell(seq, "…"));
//! assert_eq!(page.recv().await, Some(Delivery::Gap(Gap { after: Some(2), missed: Some(2) })));
//! let Some(Delivery::Event(event)) = page.recv().await else { panic!() };
//! assert_eq!(event.seq, 5);
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

mod agent_event;
mod arc_text;
mod bytes;
mod channel;
mod delivery;
mod fan_out;
mod kind;
mod pending;
mod receiver;
mod reconnect;
mod redact;
mod replay_buffer;
mod seen;
mod sink;

pub use agent_event::AgentEvent;
pub use channel::{ChannelReceiver, ChannelSink, channel};
pub use delivery::{Delivery, Gap};
pub use fan_out::FanOut;
pub use kind::{CallOutcome, CallProgress, EventKind, Interrupt, StateKey};
pub(crate) use pending::PendingEvents;
pub use receiver::EventReceiver;
pub use reconnect::ReconnectableEventSink;
pub use redact::{Redact, Redacted, Redactor, Which};
pub use seen::{Seen, SeenError};
pub use sink::{EventSink, NoEvents};
