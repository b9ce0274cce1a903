//! Where a recorder keeps what it is told, until that is taken.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// One transition: when, of which instance, and where what is known of it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) at_ms: u64,
    pub(super) instance: u32,
    pub(super) source: usize,
}

/// Entries in one order for all threads.
///
/// A writer claims the next number with one atomic addition, which is all that writers share: a lock would cost more
/// than twice as much as the transition that is recorded. The entry goes into the slot of its number when the one who
/// takes entries is done with that slot, and otherwise, when the ring is full, to the spill.
pub(super) struct Tape {
    /// A power of two of slots, or none.
    ring: Box<[Slot]>,
    /// How many numbers are given away.
    claimed: AtomicU64,
    /// How many entries are taken; their slots are free.
    taken: AtomicU64,
    spill: Mutex<BTreeMap<u64, Entry>>,
    /// Held by the one who takes entries.
    turn: Mutex<()>,
}

#[derive(Default)]
struct Slot {
    /// One more than the number of the entry that is here, written after the rest of it.
    published: AtomicU64,
    at_ms: AtomicU64,
    instance: AtomicU32,
    source: AtomicUsize,
}

/// What a panic under one of our locks leaves behind is whole: each changes one thing.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tape {
    /// With room for so many entries, rounded up to a power of two.
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

    /// How many entries there ever were.
    pub(super) fn claimed(&self) -> u64 {
        self.claimed.load(Ordering::Acquire)
    }

    /// How many of them are taken.
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

    /// Takes the parts of an entry: an entry by reference would be written to the stack by each `push`.
    #[cold]
    fn push_aside(&self, number: u64, at_ms: u64, instance: u32, source: usize) {
        lock(&self.spill).insert(number, Entry { at_ms, instance, source });
    }

    /// The entry of a number that was claimed, as soon as it is written.
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
            // Its writer stands between two instructions of `push`.
            thread::yield_now();
        }
    }

    /// Shows the entries of now, which stay.
    pub(super) fn look(&self, mut each: impl FnMut(u64, Entry)) {
        let _turn = lock(&self.turn);
        for number in self.taken()..self.claimed() {
            each(number, self.read(number));
        }
    }

    /// Takes the entries of now, up to the first that `each` breaks at, which stays with those after it.
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
