//! The buffer of a run's last events.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::agent_event::AgentEvent;
use super::delivery::Gap;
use super::seen::Seen;

/// The last events, up to a limit. The newest event is always kept, so a size limit below the size of one event keeps
/// one event.
///
/// A position counts all events from the first one, whatever their numbers are. Positions have no gaps.
#[derive(Debug)]
pub(super) struct ReplayBuffer {
    kept: VecDeque<Kept>,
    /// The first event of the current numbering, kept or not.
    first: Option<Seen>,
    /// The position of the oldest kept event.
    oldest: u64,
    bytes: usize,
    most_events: NonZeroUsize,
    most_bytes: Option<NonZeroUsize>,
}

#[derive(Debug)]
struct Kept {
    event: Arc<AgentEvent>,
    bytes: usize,
}

/// The start of a receiver.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) at: u64,
    /// The gap to report first.
    pub(super) gap: Option<Gap>,
}

impl ReplayBuffer {
    pub(super) fn new(most_events: NonZeroUsize) -> Self {
        ReplayBuffer {
            kept: VecDeque::new(),
            first: None,
            oldest: 0,
            bytes: 0,
            most_events,
            most_bytes: None,
        }
    }

    pub(super) fn bound_bytes(&mut self, most: NonZeroUsize) {
        self.most_bytes = Some(most);
    }

    /// Adds the next event, with its size in bytes. Returns the removed events. The caller drops them outside of the
    /// lock.
    #[must_use]
    pub(super) fn push(&mut self, event: &Arc<AgentEvent>, bytes: usize) -> Vec<Arc<AgentEvent>> {
        let mut gone = Vec::new();
        let starts_over = self.kept.back().is_some_and(|newest| event.seq <= newest.event.seq);
        if starts_over || self.first.is_none() {
            self.first = Some(Seen::from(&**event));
        }
        self.kept.push_back(Kept { event: Arc::clone(event), bytes });
        self.bytes = self.bytes.saturating_add(bytes);
        while self.kept.len() > 1 && (starts_over || self.is_over()) {
            if let Some(kept) = self.kept.pop_front() {
                self.bytes -= kept.bytes;
                self.oldest += 1;
                gone.push(kept.event);
            }
        }
        gone
    }

    fn is_over(&self) -> bool {
        self.kept.len() > self.most_events.get()
            || self.most_bytes.is_some_and(|most| self.bytes > most.get())
    }

    /// The position of the oldest kept event.
    pub(super) fn oldest(&self) -> u64 {
        self.oldest
    }

    pub(super) fn at(&self, place: u64) -> Option<&Arc<AgentEvent>> {
        let index = usize::try_from(place.checked_sub(self.oldest)?).ok()?;
        self.kept.get(index).map(|kept| &kept.event)
    }

    /// The start of a receiver that saw the events up to `last_seen`, or none.
    pub(super) fn after(&self, last_seen: Option<Seen>) -> Start {
        let Some(seen) = last_seen else {
            // The start is the very first event. If that event is gone, the receiver gets a gap as any slow receiver
            // does.
            return Start { at: 0, gap: None };
        };
        let is_foreign = self.is_foreign(seen);
        let seen = seen.seq;
        let missing = |missed| Some(Gap { after: Some(seen), missed });
        let (Some(oldest), Some(newest)) = (self.kept.front(), self.kept.back()) else {
            return Start { at: self.oldest, gap: missing(None) };
        };
        let (oldest, newest) = (oldest.event.seq, newest.event.seq);
        if seen > newest || is_foreign {
            return Start { at: self.oldest, gap: missing(None) };
        }
        if seen < oldest {
            let missed = oldest - seen - 1;
            return Start { at: self.oldest, gap: missing(Some(missed)).filter(|_| missed > 0) };
        }
        let index = self.kept.partition_point(|kept| kept.event.seq <= seen);
        Start { at: self.oldest + u64::try_from(index).unwrap_or(u64::MAX), gap: None }
    }

    /// Returns whether another process emitted this event, and its number belongs to another event here. Such an
    /// event is older than the first one here, or has another time than the event with its number.
    fn is_foreign(&self, seen: Seen) -> bool {
        let is_of_before = self.first.is_some_and(|first| seen.seq >= first.seq && seen.at_ms < first.at_ms);
        let index = self.kept.partition_point(|kept| kept.event.seq < seen.seq);
        let same = self.kept.get(index).filter(|kept| kept.event.seq == seen.seq);
        is_of_before || same.is_some_and(|kept| kept.event.at_ms != seen.at_ms)
    }
}
