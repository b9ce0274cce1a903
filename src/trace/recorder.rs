//! What is told of transitions and remembers them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::event::{Event, Stamp};
use super::jsonl::JsonlWriter;
use crate::kernel::{Edge, Graph, Observe, Observer};

type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// Remembers the transitions of the machines that carry one of its observers, in the order in which they happened.
///
/// Only the kernel's hook writes to it: there is no way to add an event by hand. Clones share one memory.
///
/// A transition is stored in 32 bytes and, within the capacity, without an allocation. What was recorded stays until
/// it is [taken](Recorder::take), [drained](Recorder::drain) or [written](Recorder::write_to); the room is kept. The
/// recorder keeps the name of each instance for as long as it lives, once for each name.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::tool_call::{AnyToolCall, CallRecord, Cancel, Start};
/// use runstate::trace::Recorder;
///
/// let recorder = Recorder::new("r1");
/// let record = CallRecord::new("call_1", "read_file", Default::default());
/// let call = AnyToolCall::new(record.observed(recorder.observer("call_1")));
///
/// let call = call.apply(Cancel::new("too soon").into()).unwrap_err().into_parts().0; // refused: no transition
/// let _call = call.apply(Start.into()).unwrap();
///
/// let told: Vec<String> = recorder.take().iter().map(ToString::to_string).collect();
/// assert_eq!(told, ["[*] --> New : create", "New --> Running : start"]);
/// assert!(recorder.is_empty());
/// # }
/// ```
#[derive(Clone)]
pub struct Recorder(Arc<Sink>);

/// How a [`Recorder`] is made.
///
/// # Example
/// ```
/// use runstate::trace::Recorder;
///
/// // A run that goes on after a restart: its earlier trace ends with seq 41.
/// let recorder = Recorder::builder("r1").first_seq(42).capacity(1024).clock(|| 1_500).build();
/// assert_eq!(recorder.next_seq(), 42);
/// ```
pub struct RecorderBuilder {
    run: Arc<str>,
    first_seq: u64,
    capacity: usize,
    clock: Option<Clock>,
}

impl RecorderBuilder {
    /// The `seq` of the first event; 1 unless told. A resumed run gives the one after its earlier trace's last.
    #[must_use]
    pub fn first_seq(mut self, seq: u64) -> Self {
        self.first_seq = seq;
        self
    }

    /// For how many events room is made at once.
    #[must_use]
    pub fn capacity(mut self, events: usize) -> Self {
        self.capacity = events;
        self
    }

    /// What gives `at_ms`, in milliseconds. Without a clock every `at_ms` is 0, since the time is not known.
    ///
    /// It is called within the recorder, and must not use the recorder itself.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(clock));
        self
    }

    /// The recorder.
    pub fn build(self) -> Recorder {
        Recorder(Arc::new(Sink {
            run: self.run,
            clock: self.clock,
            tape: Mutex::new(Tape {
                next_seq: self.first_seq,
                entries: Vec::with_capacity(self.capacity),
                names: Vec::new(),
                tokens: HashMap::new(),
            }),
        }))
    }
}

impl fmt::Debug for RecorderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RecorderBuilder { run, first_seq, capacity, .. } = self;
        write!(f, "RecorderBuilder({run:?}, from seq {first_seq}, room for {capacity})")
    }
}

/// The recorder's side of the observers. It is private, so that none but the kernel can tell it of a transition.
struct Sink {
    run: Arc<str>,
    clock: Option<Clock>,
    tape: Mutex<Tape>,
}

struct Tape {
    next_seq: u64,
    entries: Vec<Entry>,
    names: Vec<Arc<str>>,
    tokens: HashMap<Arc<str>, u32>,
}

#[derive(Clone, Copy)]
struct Entry {
    at_ms: u64,
    instance: u32,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Created(&'static Graph),
    Moved(&'static Edge),
}

impl Sink {
    fn tape(&self) -> MutexGuard<'_, Tape> {
        // A clock that panicked did so before anything was changed.
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn push(&self, instance: u32, what: What) {
        let mut tape = self.tape();
        let at_ms = self.clock.as_ref().map_or(0, |clock| clock());
        tape.entries.push(Entry { at_ms, instance, what });
        tape.next_seq += 1;
    }
}

impl Observe for Sink {
    fn created(&self, instance: u32, graph: &'static Graph) {
        self.push(instance, What::Created(graph));
    }

    fn moved(&self, instance: u32, edge: &'static Edge) {
        self.push(instance, What::Moved(edge));
    }
}

impl Tape {
    fn first_seq(&self) -> u64 {
        self.next_seq - self.entries.len() as u64
    }

    /// The entries as events, whose names `own` borrows or copies.
    fn events<'a, 'e>(
        &'a self,
        run: &'a str,
        own: impl Fn(&'a str) -> Cow<'e, str>,
    ) -> impl Iterator<Item = Event<'e>> {
        (self.first_seq()..).zip(&self.entries).map(move |(seq, entry)| {
            let instance = own(&self.names[entry.instance as usize]);
            let stamp = Stamp { seq, at_ms: entry.at_ms, run: own(run), instance };
            match entry.what {
                What::Created(graph) => Event::creation(stamp, graph),
                What::Moved(edge) => Event::transition(stamp, edge),
            }
        })
    }
}

impl Recorder {
    /// A recorder for a run, without a clock, whose first event has `seq` 1.
    pub fn new(run: impl Into<Arc<str>>) -> Self {
        Self::builder(run).build()
    }

    /// A recorder for a run, with more to say about it.
    pub fn builder(run: impl Into<Arc<str>>) -> RecorderBuilder {
        RecorderBuilder { run: run.into(), first_seq: 1, capacity: 0, clock: None }
    }

    /// What the machine of that name carries in its record, so that its transitions come here.
    ///
    /// A machine that is restored from storage was created long ago, and writes no creation.
    ///
    /// # Panics
    /// At the 4,294,967,296th name.
    pub fn observer(&self, instance: &str) -> Observer {
        let mut tape = self.0.tape();
        let token = tape.tokens.get(instance).copied().unwrap_or_else(|| {
            let token = u32::try_from(tape.names.len()).expect("fewer instances than a u32 can count");
            let name: Arc<str> = instance.into();
            tape.names.push(Arc::clone(&name));
            tape.tokens.insert(name, token);
            token
        });
        Observer::new(Arc::clone(&self.0) as Arc<dyn Observe>, token)
    }

    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.0.run
    }

    /// The `seq` that the next event gets.
    pub fn next_seq(&self) -> u64 {
        self.0.tape().next_seq
    }

    /// How many events wait to be taken.
    pub fn len(&self) -> usize {
        self.0.tape().entries.len()
    }

    /// Do none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The events that wait to be taken, which stay.
    pub fn events(&self) -> Vec<Event<'static>> {
        self.0.tape().events(&self.0.run, copied).collect()
    }

    /// Takes the events.
    pub fn take(&self) -> Vec<Event<'static>> {
        let mut tape = self.0.tape();
        let events = tape.events(&self.0.run, copied).collect();
        tape.entries.clear();
        events
    }

    /// Takes the events one by one, without memory for each.
    ///
    /// `each` must not make a transition that this recorder observes, nor use the recorder.
    pub fn drain(&self, each: impl FnMut(Event<'_>)) {
        let mut tape = self.0.tape();
        tape.events(&self.0.run, Cow::Borrowed).for_each(each);
        tape.entries.clear();
    }

    /// Takes the events and writes each as a line. Returns how many.
    ///
    /// # Errors
    /// Those of the destination. The events that were not written stay; the line of the first of them may have been
    /// written in part.
    pub fn write_to<W: Write>(&self, out: &mut JsonlWriter<W>) -> io::Result<usize> {
        let mut tape = self.0.tape();
        let mut written = 0;
        let outcome = tape.events(&self.0.run, Cow::Borrowed).try_for_each(|event| {
            out.write(&event)?;
            written += 1;
            Ok(())
        });
        tape.entries.drain(..written);
        outcome.map(|()| written)
    }
}

fn copied(name: &str) -> Cow<'static, str> {
    Cow::Owned(name.to_owned())
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tape = self.0.tape();
        let (first, next) = (tape.first_seq(), tape.next_seq);
        write!(f, "Recorder({:?}, seq {first}..{next})", self.0.run)
    }
}
