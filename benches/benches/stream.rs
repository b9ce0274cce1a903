//! A stream session against polling its raw source, in one run: `cargo bench --bench stream`.
//!
//! What a token costs at three lengths, what it allocates, and how many short sessions go through in a second.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt;
use runstate_guardrails::drift::DriftDetector;
use runstate_guardrails::{Json, Latex, Markdown, Patterns, Repetition, Rules, ZeroOutput};
use runstate_stream::{
    Backoff, Callbacks, Continuation, ErrorKind, Event, Opening, RetryPolicy, Session, SessionBuilder,
    SourceError, StreamEvent,
};

/// Counts what is asked of the system's allocator.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Tokens of one JSON string whose words do not come again in the same company, so that no rule and no drift speaks.
struct Tokens {
    at: usize,
    of: usize,
    random: u64,
}

impl Tokens {
    fn new(of: usize) -> Self {
        Tokens { at: 0, of, random: 7 }
    }
}

const SYLLABLES: [&str; 64] = [
    "ba", "be", "bi", "bo", "ca", "ce", "ci", "co", "da", "de", "di", "do", "fa", "fe", "fi", "fo", "ga",
    "ge", "gi", "go", "ha", "he", "hi", "ho", "ka", "ke", "ki", "ko", "la", "le", "li", "lo", "ma", "me",
    "mi", "mo", "na", "ne", "ni", "no", "pa", "pe", "pi", "po", "ra", "re", "ri", "ro", "sa", "se", "si",
    "so", "ta", "te", "ti", "to", "va", "ve", "vi", "vo", "wa", "we", "wi", "wo",
];

impl Stream for Tokens {
    type Item = Result<StreamEvent, SourceError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.at == self.of {
            return Poll::Ready(None);
        }
        let (at, of) = (self.at, self.of);
        self.at += 1;
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let syllable = |shift: u32| SYLLABLES[(self.random >> shift) as usize % 64];
        let mut token = String::with_capacity(8);
        match at {
            0 => token.push_str("{\"t\":\""),
            _ if at + 1 == of => token.push_str("\"}"),
            _ => {
                token.push_str(syllable(40));
                token.push_str(syllable(50));
                token.push_str(syllable(58));
                token.push(' ');
            }
        }
        Poll::Ready(Some(Ok(StreamEvent::Token(token))))
    }
}

#[derive(Default)]
struct Counts(u64);

impl Callbacks for Counts {
    fn on_event(&mut self, event: &Event) {
        self.0 += event.seq & 1;
    }
}

fn builder(tokens: usize) -> SessionBuilder {
    Session::builder("stream_1", move |_| async move { Ok::<_, SourceError>(Tokens::new(tokens)) })
}

fn all_rules() -> Rules {
    Rules::new()
        .with(Json::balanced())
        .with(Markdown::new())
        .with(Latex::new())
        .with(ZeroOutput::new())
        .with(Patterns::builtin())
        .with(Repetition::new())
}

fn drive<C: Callbacks>(runtime: &tokio::runtime::Runtime, mut session: Session<C>) {
    let state = runtime.block_on(session.run()).expect("the output is whole");
    black_box(state.content.len());
}

/// What is measured, by name: each drives a stream of so many tokens.
type Case = (&'static str, fn(&tokio::runtime::Runtime, usize));

const CASES: [Case; 7] = [
    ("the raw source, polled", |runtime, tokens| {
        let mut source: Pin<Box<dyn Stream<Item = Result<StreamEvent, SourceError>> + Send>> =
            Box::pin(Tokens::new(tokens));
        runtime.block_on(async {
            while let Some(event) = source.next().await {
                drop(black_box(event));
            }
        });
    }),
    ("bare", |runtime, tokens| drive(runtime, builder(tokens).without_recording().build())),
    ("bare, recorded", |runtime, tokens| drive(runtime, builder(tokens).build())),
    ("JSON rule", |runtime, tokens| {
        drive(runtime, builder(tokens).without_recording().guardrail(Json::balanced()).build());
    }),
    ("all rules", |runtime, tokens| {
        drive(runtime, builder(tokens).without_recording().guardrails(all_rules()).build());
    }),
    ("drift", |runtime, tokens| {
        drive(runtime, builder(tokens).without_recording().drift(DriftDetector::new()).build());
    }),
    ("everything, recorded", |runtime, tokens| {
        let every = NonZeroU32::new(20).expect("it is not 0");
        let session = builder(tokens)
            .guardrails(all_rules())
            .drift(DriftDetector::new())
            .continuation(Continuation::every(every))
            .meta(serde_json::json!({"user": 7}))
            .callbacks(Counts::default());
        drive(runtime, session.build());
    }),
];

/// The time that this thread has had of a processor, so that what else runs on the machine is not measured.
fn processor_time() -> Duration {
    let told =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells the time of a thread");
    let nanos = told.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("in nanoseconds, first");
    Duration::from_nanos(nanos)
}

/// The least of some turns, in nanoseconds a token; the cases take turns, so that a busy moment is not one's own.
fn nanoseconds(runtime: &tokio::runtime::Runtime, tokens: usize) -> [f64; CASES.len()] {
    let times = (400_000 / tokens).clamp(2, 100);
    let mut least = [f64::MAX; CASES.len()];
    for _ in 0..9 {
        for (least, (_, case)) in least.iter_mut().zip(CASES) {
            let began = processor_time();
            for _ in 0..times {
                case(runtime, tokens);
            }
            let took = processor_time() - began;
            let each = took.as_secs_f64() * 1e9 / (times * tokens) as f64;
            *least = least.min(each);
        }
    }
    least
}

/// A scripted source: it gives twenty tokens, and then fails with that kind or ends.
fn short(fails: impl Fn(&Opening) -> Option<ErrorKind> + Send + Sync + Copy + 'static) -> SessionBuilder {
    Session::builder("stream_1", move |opening: Opening| {
        let end = fails(&opening).map(|kind| Err(SourceError::new(kind, "scripted")));
        async move { Ok::<_, SourceError>(Tokens::new(20).chain(futures_util::stream::iter(end))) }
    })
}

fn sessions(runtime: &tokio::runtime::Runtime) {
    let policy = RetryPolicy { backoff: Backoff::fixed(Duration::ZERO), ..RetryPolicy::default() };
    type Make = fn() -> SessionBuilder;
    let kinds: [(&str, Make); 3] = [
        ("no failure", || short(|_| None)),
        ("one retry", || short(|opening| (opening.attempt.number() == 1).then_some(ErrorKind::Network))),
        ("a retry and a fallback", || {
            short(|opening| {
                Some(if opening.attempt.number() == 1 { ErrorKind::Network } else { ErrorKind::Internal })
            })
            .fallback(|_| async { Ok::<_, SourceError>(Tokens::new(20)) })
        }),
    ];
    println!("\n| sessions of 20 tokens, recorded | sessions/s |\n|---|---|");
    for (what, make) in kinds {
        let mut most = 0.0_f64;
        for _ in 0..5 {
            let began = processor_time();
            let count = 2_000;
            for _ in 0..count {
                drive(runtime, make().retry(policy.clone()).build());
            }
            most = most.max(f64::from(count) / (processor_time() - began).as_secs_f64());
        }
        println!("| {what} | {most:.0} |");
    }
}

/// One case so often, and nothing else: for callgrind, which counts instructions whatever else runs on the machine.
fn only(runtime: &tokio::runtime::Runtime, args: &[String]) -> Option<()> {
    let [only, what, tokens, times, ..] = args else { return None };
    let (_, case) = CASES.iter().find(|(name, _)| name == what).filter(|_| only == "only")?;
    let (tokens, times): (usize, u32) = (tokens.parse().ok()?, times.parse().ok()?);
    (0..times).for_each(|_| case(runtime, tokens));
    Some(())
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let args: Vec<String> = std::env::args().skip(1).collect();
    if only(&runtime, &args).is_some() {
        return;
    }
    let lengths = [2_000, 20_000, 200_000];
    let measured = lengths.map(|tokens| nanoseconds(&runtime, tokens));
    println!(
        "| stream | 2 k, ns/token | 20 k | 200 k | tokens/s at 20 k | against the raw source at 20 k | 200 k against 2 k | allocations/token |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (at, (what, case)) in CASES.iter().enumerate() {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        case(&runtime, 20_000);
        let allocations = (ALLOCATIONS.load(Ordering::Relaxed) - before) as f64 / 20_000.0;
        let [short, middle, long] = measured.map(|of_length| of_length[at]);
        println!(
            "| {what} | {short:.0} | {middle:.0} | {long:.0} | {:.2} M | {:.1} | {:.2} | {allocations:.2} |",
            1e3 / middle,
            middle / measured[1][0],
            long / short,
        );
    }
    sessions(&runtime);
}
