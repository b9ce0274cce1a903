//! The recorder of transitions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::event::{Event, Stamp};
use super::jsonl::JsonlWriter;
use super::sources::{Label, Sources};
use super::tape::{Entry, Tape, lock};
use crate::kernel::{Edge, Graph, Observe, Observer};

type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// A recorder of the transitions of all machines with one of its observers, in their order of time.
///
/// Only a machine writes an event of its lifecycle. There is no manual way to add an event to a lifecycle of another
/// crate. If two lifecycles have one name, the second one that reports is written as `package/name!`, unless it
/// [owns](RecorderBuilder::owns) the name; a documented lifecycle always does. Clones share one memory.
///
/// Events stay until they are [taken](Recorder::take), [drained](Recorder::drain) or [written](Recorder::write_to).
/// Within the capacity a transition needs no lock and no allocation. Beyond the capacity no event is lost, but each
/// transition needs both. The recorder keeps the name of each instance for its own lifetime, once per name.
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

/// The builder of a [`Recorder`].
///
/// # Example
/// ```
/// use runstate::trace::Recorder;
///
/// // A run that continues after a restart: its earlier trace ends with seq 41.
/// let recorder = Recorder::builder("r1").first_seq(42).capacity(1024).clock(|| 1_500).build();
/// assert_eq!(recorder.next_seq(), 42);
/// ```
pub struct RecorderBuilder {
    run: Arc<str>,
    first_seq: u64,
    capacity: usize,
    clock: Option<Clock>,
    owners: Vec<&'static Graph>,
}

impl RecorderBuilder {
    /// Reserves the name of the graph for its lifecycle. Another lifecycle with that name is written as
    /// `package/name!`, even if it reports first. Of two owners of one name, the first has it. Default: no reserved
    /// names.
    ///
    /// The documented lifecycles own their names without this call.
    #[must_use]
    pub fn owns(mut self, graph: &'static Graph) -> Self {
        self.owners.push(graph);
        self
    }

    /// Sets the `seq` of the first event. Default: 1. A resumed run passes the number after its earlier trace's last.
    #[must_use]
    pub fn first_seq(mut self, seq: u64) -> Self {
        self.first_seq = seq;
        self
    }

    /// Sets the capacity for events that were not taken. Default: 256. It is rounded up to a power of two. An event
    /// needs 32 bytes.
    #[must_use]
    pub fn capacity(mut self, events: usize) -> Self {
        self.capacity = events;
        self
    }

    /// Sets the clock for `at_ms`, in milliseconds. Default: no clock, and every `at_ms` is 0.
    ///
    /// When the clock goes back, such as after a change of the machine's clock, events keep the latest time until the
    /// clock has caught up. So a trace is in the order of its times. The recorder calls the clock just before the
    /// event gets its number. With several recording threads, times may be out of order by the moment between the
    /// two.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(clock));
        self
    }

    /// Builds the recorder.
    pub fn build(self) -> Recorder {
        Recorder(Arc::new(Sink {
            run: self.run,
            first_seq: self.first_seq,
            clock: self.clock,
            latest_ms: AtomicU64::new(0),
            tape: Tape::new(self.capacity),
            sources: Sources::new(self.owners),
            names: Mutex::default(),
        }))
    }
}

impl fmt::Debug for RecorderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RecorderBuilder { run, first_seq, capacity, .. } = self;
        write!(f, "RecorderBuilder({run:?}, from seq {first_seq}, room for {capacity})")
    }
}

/// The recorder's side of the observers. It is private, so that only the kernel can report a transition to it.
struct Sink {
    run: Arc<str>,
    first_seq: u64,
    clock: Option<Clock>,
    /// The latest time of the clock.
    latest_ms: AtomicU64,
    tape: Tape,
    sources: Sources,
    names: Mutex<Names>,
}

#[derive(Default)]
struct Names {
    names: Vec<Arc<str>>,
    tokens: HashMap<Arc<str>, u32>,
}

impl Sink {
    #[inline]
    fn push(&self, instance: u32, graph: &'static Graph, edge: Option<&'static Edge>) {
        let at_ms = self.clock.as_ref().map_or(0, |clock| {
            let (now_ms, latest_ms) = (clock(), self.latest_ms.load(Ordering::Relaxed));
            // Most events share the millisecond of the previous event.
            if now_ms == latest_ms {
                return now_ms;
            }
            self.latest_ms.fetch_max(now_ms, Ordering::Relaxed).max(now_ms)
        });
        self.tape.push(Entry { at_ms, instance, source: self.sources.keep(graph, edge) });
    }

    /// Calls `each` with an entry as an event. This sink made every entry, so it knows all names.
    fn event<T>(&self, number: u64, entry: Entry, each: impl FnOnce(Event<'_>) -> T) -> Option<T> {
        let name = lock(&self.names).names.get(entry.instance as usize).map(Arc::clone)?;
        let stamp = Stamp {
            seq: self.first_seq.saturating_add(number),
            at_ms: entry.at_ms,
            run: Cow::Borrowed(&self.run),
            instance: Cow::Borrowed(&name),
        };
        let (source, label) = self.sources.find(entry.source)?;
        let lifecycle = match &label {
            Label::Name(name) => name,
            Label::Identity(identity) => &**identity,
        };
        Some(each(match source.edge {
            None => Event::creation(stamp, lifecycle, source.graph),
            Some(edge) => Event::transition(stamp, lifecycle, edge),
        }))
    }
}

impl Observe for Sink {
    fn created(&self, instance: u32, graph: &'static Graph) {
        self.push(instance, graph, None);
    }

    fn moved(&self, instance: u32, graph: &'static Graph, edge: &'static Edge) {
        self.push(instance, graph, Some(edge));
    }
}

impl Recorder {
    /// Makes a recorder for a run, without a clock; its first event has `seq` 1.
    pub fn new(run: impl Into<Arc<str>>) -> Self {
        Self::builder(run).build()
    }

    /// Makes a builder of a recorder for a run.
    pub fn builder(run: impl Into<Arc<str>>) -> RecorderBuilder {
        RecorderBuilder { run: run.into(), first_seq: 1, capacity: 256, clock: None, owners: Vec::new() }
    }

    /// Makes the observer for the record of the machine with that name.
    ///
    /// A machine that was restored from storage reports no creation.
    ///
    /// # Panics
    /// At the 4,294,967,296th name.
    pub fn observer(&self, instance: &str) -> Observer {
        let mut names = lock(&self.0.names);
        let token = names.tokens.get(instance).copied().unwrap_or_else(|| {
            let token = u32::try_from(names.names.len()).expect("fewer instances than a u32 can count");
            let name: Arc<str> = instance.into();
            names.names.push(Arc::clone(&name));
            names.tokens.insert(name, token);
            token
        });
        Observer::new(Arc::clone(&self.0) as Arc<dyn Observe>, token)
    }

    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.0.run
    }

    /// The `seq` of the next event.
    pub fn next_seq(&self) -> u64 {
        self.0.first_seq.saturating_add(self.0.tape.claimed())
    }

    /// The number of events that were not taken.
    pub fn len(&self) -> usize {
        let taken = self.0.tape.taken();
        usize::try_from(self.0.tape.claimed() - taken).unwrap_or(usize::MAX)
    }

    /// Returns whether all events were taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the events that were not taken.
    pub fn events(&self) -> Vec<Event<'static>> {
        let mut events = Vec::new();
        self.0.tape.look(|number, entry| {
            events.extend(self.0.event(number, entry, |event| event.into_owned()));
        });
        events
    }

    /// Takes the events.
    pub fn take(&self) -> Vec<Event<'static>> {
        let mut events = Vec::new();
        self.drain(|event| events.push(event.into_owned()));
        events
    }

    /// Takes the current events one by one, without a list of them.
    ///
    /// `each` may record further events. It must not take or read the events of this recorder, because that would
    /// deadlock.
    pub fn drain(&self, mut each: impl FnMut(Event<'_>)) {
        let outcome: ControlFlow<()> = self.0.tape.take(|number, entry| {
            self.0.event(number, entry, &mut each);
            ControlFlow::Continue(())
        });
        debug_assert!(outcome.is_continue());
    }

    /// Takes the current events and writes each as a line. Returns the number of events.
    ///
    /// # Errors
    /// The errors of the destination. The events that were not written stay; the line of the first of them may be
    /// partially written.
    pub fn write_to<W: Write>(&self, out: &mut JsonlWriter<W>) -> io::Result<usize> {
        let mut written = 0;
        let outcome = self.0.tape.take(|number, entry| {
            match self.0.event(number, entry, |event| out.write(&event)) {
                Some(Err(error)) => return ControlFlow::Break(error),
                Some(Ok(())) | None => written += 1,
            }
            ControlFlow::Continue(())
        });
        match outcome {
            ControlFlow::Continue(()) => Ok(written),
            ControlFlow::Break(error) => Err(error),
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.0.first_seq.saturating_add(self.0.tape.taken());
        write!(f, "Recorder({:?}, seq {first}..{})", self.0.run, self.next_seq())
    }
}
