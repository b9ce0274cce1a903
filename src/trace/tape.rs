//! The buffer of a recorder.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// One transition: its time, its instance, and the address of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) at_ms: u64,
    pub(super) instance: u32,
    pub(super) source: usize,
}

/// A queue of entries in one order for all threads.
///
/// A writer claims the next number with one atomic addition, the only shared operation of writers. A lock would cost
/// more than twice the recorded transition. The entry goes into the slot of its number if the reader has freed that
/// slot. Otherwise the ring is full, and the entry goes to the spill.
pub(super) struct Tape {
    /// A power of two of slots, or none.
    ring: Box<[Slot]>,
    /// The number of claimed numbers.
    claimed: AtomicU64,
    /// The number of taken entries; their slots are free.
    taken: AtomicU64,
    spill: Mutex<BTreeMap<u64, Entry>>,
    /// The lock of the reader that takes entries.
    turn: Mutex<()>,
}

#[derive(Default)]
struct Slot {
    /// One more than the number of the entry in this slot, written last.
    published: AtomicU64,
    at_ms: AtomicU64,
    instance: AtomicU32,
    source: AtomicUsize,
}

/// Locks and ignores poison: each critical section changes one value, so a panic leaves no partial change.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tape {
    /// Makes a queue with that capacity, rounded up to a power of two.
    pub(super) fn new(room: usize) -> Self {
        let slots = if room == 0 { 0 } else { room.next_power_of_two() };
        Tape {
            ring: (0..slots).map(|_| Slot::default()).collect(),
            claimed: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            spill: Mutex::default(),
            turn: Mutex::default(),
        }
    }

    /// The number of all entries so far.
    pub(super) fn claimed(&self) -> u64 {
        self.claimed.load(Ordering::Acquire)
    }

    /// The number of taken entries.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Acquire)
    }

    #[inline]
    fn slot(&self, number: u64) -> Option<&Slot> {
        let mask = self.ring.len().wrapping_sub(1);
        self.ring.get(number as usize & mask)
    }

    #[inline]
    pub(super) fn push(&self, entry: Entry) {
        let number = self.claimed.fetch_add(1, Ordering::Relaxed);
        let room = self.ring.len() as u64;
        if number - self.taken.load(Ordering::Acquire) < room
            && let Some(slot) = self.slot(number)
        {
            slot.at_ms.store(entry.at_ms, Ordering::Relaxed);
            slot.instance.store(entry.instance, Ordering::Relaxed);
            slot.source.store(entry.source, Ordering::Relaxed);
            slot.published.store(number + 1, Ordering::Release);
        } else {
            self.push_aside(number, entry.at_ms, entry.instance, entry.source);
        }
    }

    /// Takes the entry in parts: an entry by reference would force each `push` to write it to the stack.
    #[cold]
    fn push_aside(&self, number: u64, at_ms: u64, instance: u32, source: usize) {
        lock(&self.spill).insert(number, Entry { at_ms, instance, source });
    }

    /// Waits for the entry with a claimed number, and returns it.
    fn read(&self, number: u64) -> Entry {
        loop {
            if let Some(slot) = self.slot(number)
                && slot.published.load(Ordering::Acquire) == number + 1
            {
                return Entry {
                    at_ms: slot.at_ms.load(Ordering::Relaxed),
                    instance: slot.instance.load(Ordering::Relaxed),
                    source: slot.source.load(Ordering::Relaxed),
                };
            }
            if let Some(entry) = lock(&self.spill).get(&number) {
                return *entry;
            }
            // The writer is between two instructions of `push`.
            thread::yield_now();
        }
    }

    /// Shows the current entries without taking them.
    pub(super) fn look(&self, mut each: impl FnMut(u64, Entry)) {
        let _turn = lock(&self.turn);
        for number in self.taken()..self.claimed() {
            each(number, self.read(number));
        }
    }

    /// Takes the current entries up to the first break by `each`. That entry and all later ones stay.
    pub(super) fn take<B>(&self, mut each: impl FnMut(u64, Entry) -> ControlFlow<B>) -> ControlFlow<B> {
        let _turn = lock(&self.turn);
        for number in self.taken()..self.claimed() {
            each(number, self.read(number))?;
            if self.slot(number).is_none_or(|slot| slot.published.load(Ordering::Relaxed) != number + 1) {
                lock(&self.spill).remove(&number);
            }
            self.taken.store(number + 1, Ordering::Release);
        }
        ControlFlow::Continue(())
    }
}
