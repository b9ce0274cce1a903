//! Calls that stay open while a person answers, for servers that ask in the midst of a call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::ElicitResult;
use tokio::sync::oneshot;

use crate::open_call::OpenCall;

/// The most calls that are held at once.
const MAX_HELD: usize = 64;

/// A call whose server waits for an answer.
pub(crate) struct HeldCall {
    pub(crate) call: OpenCall,
    pub(crate) answer: oneshot::Sender<ElicitResult>,
}

/// The held calls of a server, by run and call.
#[derive(Default)]
pub(crate) struct Held(Mutex<Places<HeldCall>>);

/// Numbered places. The number of a hold ends with its time.
struct Places<T> {
    taken: BTreeMap<String, (u64, T)>,
    holds: u64,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Places { taken: BTreeMap::new(), holds: 0 }
    }
}

impl<T> Places<T> {
    /// Takes a place, and returns the number of the hold. Without a free place, the oldest hold ends.
    fn put(&mut self, key: String, held: T) -> u64 {
        if self.taken.len() >= MAX_HELD {
            let oldest = self.taken.iter().min_by_key(|(_, (number, _))| *number).map(|(key, _)| key.clone());
            oldest.and_then(|key| self.taken.remove(&key));
        }
        self.holds += 1;
        self.taken.insert(key, (self.holds, held));
        self.holds
    }

    /// Ends a hold, unless a later one has its place.
    fn end(&mut self, key: &str, number: u64) -> Option<T> {
        self.taken.get(key).filter(|(of, _)| *of == number)?;
        self.take(key)
    }

    fn take(&mut self, key: &str) -> Option<T> {
        self.taken.remove(key).map(|(_, held)| held)
    }
}

impl Held {
    fn places(&self) -> MutexGuard<'_, Places<HeldCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds a call for that time. Afterwards the server is told that its question and the call are cancelled. If too many
    /// calls are held, the oldest one ends before its time: a denied question is not known here, and its call would keep
    /// its place.
    pub(crate) fn hold(
        self: &Arc<Self>,
        key: String,
        call: OpenCall,
        answer: oneshot::Sender<ElicitResult>,
        time: Duration,
    ) {
        let number = self.places().put(key.clone(), HeldCall { call, answer });
        let held = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            if let Some(held) = held.upgrade() {
                held.places().end(&key, number);
            }
        });
    }

    /// Takes the call, if its server is still connected.
    pub(crate) fn take(&self, key: &str) -> Option<HeldCall> {
        let held = self.places().take(key)?;
        Some(held).filter(|held| !held.call.connection.is_closed() && !held.answer.is_closed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_hold_ends_when_no_place_is_free() {
        let mut places = Places::default();
        let numbers: Vec<u64> =
            (0..=MAX_HELD).map(|index| places.put(format!("run/{index}"), index)).collect();
        assert_eq!((places.take("run/0"), places.take("run/1")), (None, Some(1)));
        assert_eq!(places.taken.len(), MAX_HELD - 1);
        // The time of an earlier hold does not end a later one of the same call.
        places.put("run/2".to_owned(), 200);
        assert_eq!(places.end("run/2", numbers[2]), None);
        assert_eq!(places.take("run/2"), Some(200));
    }
}
