//! What is told of transitions and remembers them.

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

/// Remembers the transitions of the machines that carry one of its observers, in the order in which they happened.
///
/// Only a machine writes an event of its lifecycle: there is no way to add one by hand to a lifecycle of another crate. Of two
/// lifecycles of one name the second that is told of is written as `package/name!`, unless it [owns](RecorderBuilder::owns) the
/// name; a documented lifecycle always does. Clones share one memory.
///
/// What was recorded stays until it is [taken](Recorder::take), [drained](Recorder::drain) or
/// [written](Recorder::write_to). Within the capacity a transition takes no lock and no allocation; beyond it nothing is
/// lost, but each takes both. The recorder keeps the name of each instance for as long as it lives, once for each name.
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
    owners: Vec<&'static Graph>,
}

impl RecorderBuilder {
    /// Gives the name of the graph to its lifecycle: another lifecycle of that name is written as `package/name!`, whichever is told
    /// of first. Of two owners of one name the first has it.
    ///
    /// The documented lifecycles own their names without this.
    #[must_use]
    pub fn owns(mut self, graph: &'static Graph) -> Self {
        self.owners.push(graph);
        self
    }

    /// The `seq` of the first event; 1 unless told. A resumed run gives the one after its earlier trace's last.
    #[must_use]
    pub fn first_seq(mut self, seq: u64) -> Self {
        self.first_seq = seq;
        self
    }

    /// How many events that wait to be taken there is room for: 256 unless told, and rounded up to a power of two. An
    /// event takes 32 bytes.
    #[must_use]
    pub fn capacity(mut self, events: usize) -> Self {
        self.capacity = events;
        self
    }

    /// What gives `at_ms`, in milliseconds. Without a clock every `at_ms` is 0, since the time is not known.
    ///
    /// Where it goes back, such as a machine's clock that was set, events have the latest time that it gave until it has caught
    /// up: a trace is in the order of its times. It is called just before the event gets its place in the order: where several
    /// threads record, times may be out of order by the moment between.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Some(Box::new(clock));
        self
    }

    /// The recorder.
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

/// The recorder's side of the observers. It is private, so that none but the kernel can tell it of a transition.
struct Sink {
    run: Arc<str>,
    first_seq: u64,
    clock: Option<Clock>,
    /// The latest time that the clock gave.
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
            // Most events are in the millisecond of the one before.
            if now_ms == latest_ms {
                return now_ms;
            }
            self.latest_ms.fetch_max(now_ms, Ordering::Relaxed).max(now_ms)
        });
        self.tape.push(Entry { at_ms, instance, source: self.sources.keep(graph, edge) });
    }

    /// Calls `each` with an entry as an event. Every entry was made by this sink, so that its names are all known.
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
    /// A recorder for a run, without a clock, whose first event has `seq` 1.
    pub fn new(run: impl Into<Arc<str>>) -> Self {
        Self::builder(run).build()
    }

    /// A recorder for a run, with more to say about it.
    pub fn builder(run: impl Into<Arc<str>>) -> RecorderBuilder {
        RecorderBuilder { run: run.into(), first_seq: 1, capacity: 256, clock: None, owners: Vec::new() }
    }

    /// What the machine of that name carries in its record, so that its transitions come here.
    ///
    /// A machine that is restored from storage was created long ago, and writes no creation.
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

    /// The `seq` that the next event gets.
    pub fn next_seq(&self) -> u64 {
        self.0.first_seq.saturating_add(self.0.tape.claimed())
    }

    /// How many events wait to be taken.
    pub fn len(&self) -> usize {
        let taken = self.0.tape.taken();
        usize::try_from(self.0.tape.claimed() - taken).unwrap_or(usize::MAX)
    }

    /// Do none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The events that wait to be taken, which stay.
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

    /// Takes the events of now one by one, without memory for each.
    ///
    /// `each` may go on recording, but it must not take or look at the events of this recorder: it would wait for
    /// itself.
    pub fn drain(&self, mut each: impl FnMut(Event<'_>)) {
        let outcome: ControlFlow<()> = self.0.tape.take(|number, entry| {
            self.0.event(number, entry, &mut each);
            ControlFlow::Continue(())
        });
        debug_assert!(outcome.is_continue());
    }

    /// Takes the events of now and writes each as a line. Returns how many.
    ///
    /// # Errors
    /// Those of the destination. The events that were not written stay; the line of the first of them may have been
    /// written in part.
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
