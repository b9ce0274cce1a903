//! A typed move against a hand-written one; `apply` against a hand-written match; recording.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use runstate::decision::{Decision, DecisionAction, Suspension};
use runstate::trace::Recorder;
use runstate_benches::by_hand;
use runstate_benches::parcel::{buffered, observed, plain};

/// Holds and frees a machine many times, so that a loop's cost is that of its moves.
const MOVES: u64 = 1_000;

fn moves(c: &mut Criterion) {
    let mut group = c.benchmark_group("move");
    group.throughput(criterion::Throughput::Elements(2 * MOVES));
    group.bench_function("by hand", |b| {
        b.iter(|| {
            let mut parcel = by_hand::New { label: by_hand::Label::default() }.start(black_box(1));
            for why in 0..MOVES {
                parcel = black_box(black_box(parcel.hold(why)).free());
            }
            parcel
        });
    });
    group.bench_function("typed", |b| {
        b.iter(|| {
            let mut parcel =
                plain::Parcel::new(plain::Label::default()).start(plain::Start { to: black_box(1) });
            for why in 0..MOVES {
                parcel = black_box(black_box(parcel.hold(plain::Hold { why })).free(plain::Free));
            }
            parcel
        });
    });
    group.finish();
}

macro_rules! applies {
    ($b:ident, $module:ident, $label:expr, $clear:expr) => {
        $b.iter_batched_ref(
            || {
                Some(
                    black_box($module::AnyParcel::new($label))
                        .apply($module::Start { to: 1 }.into())
                        .expect("starts"),
                )
            },
            |slot| {
                let mut parcel = slot.take().expect("one a batch");
                for why in 0..MOVES {
                    parcel = black_box(parcel).apply(black_box($module::Hold { why }.into())).expect("holds");
                    parcel = black_box(parcel).apply(black_box($module::Free.into())).expect("goes on");
                }
                ($clear)(&parcel);
                *slot = Some(parcel);
            },
            criterion::BatchSize::PerIteration,
        )
    };
}

fn apply(c: &mut Criterion) {
    let mut group = c.benchmark_group("apply");
    group.throughput(criterion::Throughput::Elements(2 * MOVES));
    group.bench_function("by hand", |b| {
        b.iter_batched_ref(
            || {
                let new = by_hand::Parcel::New(by_hand::New { label: by_hand::Label::default() });
                Some(black_box(new).apply(by_hand::Event::Start { to: 1 }).expect("starts"))
            },
            |slot| {
                let mut parcel = slot.take().expect("one a batch");
                for why in 0..MOVES {
                    parcel = black_box(parcel).apply(black_box(by_hand::Event::Hold { why })).expect("holds");
                    parcel = black_box(parcel).apply(black_box(by_hand::Event::Free)).expect("goes on");
                }
                *slot = Some(parcel);
            },
            criterion::BatchSize::PerIteration,
        );
    });
    group.bench_function("AnyParcel", |b| applies!(b, plain, plain::Label::default(), |_: &_| ()));
    group.bench_function("AnyParcel, into a buffer", |b| {
        let label =
            || buffered::Label { taken: Vec::with_capacity(2 * MOVES as usize + 1), ..Default::default() };
        applies!(b, buffered, label(), |_: &_| ());
    });
    group.bench_function("AnyParcel, an observer that is off", |b| {
        applies!(b, observed, observed::Label::default(), |_: &_| ());
    });
    group.bench_function("AnyParcel, into a recorder", |b| {
        let recorder = Recorder::builder("r1").capacity(2 * MOVES as usize + 2).build();
        let observer = recorder.observer("parcel");
        let label = || {
            recorder.drain(|_| ());
            observed::Label { observer: observer.clone(), ..Default::default() }
        };
        applies!(b, observed, label(), |_: &_| ());
    });
    group.bench_function("AnyParcel, an observer that counts", |b| {
        struct Counter(std::sync::atomic::AtomicU64);
        impl runstate::kernel::Observe for Counter {
            fn created(&self, _: u32, _: &'static runstate::kernel::Graph) {}
            fn moved(&self, _: u32, _: &'static runstate::kernel::Graph, _: &'static runstate::kernel::Edge) {
                self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
        let observer = runstate::kernel::Observer::new(Arc::new(Counter(0.into())), 0);
        applies!(
            b,
            observed,
            observed::Label { observer: observer.clone(), ..Default::default() },
            |_: &_| ()
        );
    });
    group.finish();
}

/// A call is suspended, resumed and started again, many times.
fn call(c: &mut Criterion) {
    use runstate::tool_call::{AnyToolCall, CallRecord, Resume, Start, Suspend};
    use runstate_benches::call_by_hand::{Call, Event};

    let suspension = || Suspension::new("", "", "");
    let decision = || Decision::new("", "", DecisionAction::Resume);
    let mut group = c.benchmark_group("apply, a tool call");
    group.throughput(criterion::Throughput::Elements(3 * MOVES));
    group.bench_function("by hand", |b| {
        b.iter_batched_ref(
            || Some(Call::new("call_1", "read_file").apply(Event::Start).expect("starts")),
            |slot| {
                let mut call = slot.take().expect("one a batch");
                for _ in 0..MOVES {
                    call = black_box(call).apply(black_box(Event::Suspend(suspension()))).expect("waits");
                    call = black_box(call).apply(black_box(Event::Resume(decision()))).expect("goes on");
                    call = black_box(call).apply(black_box(Event::Start)).expect("starts again");
                }
                *slot = Some(call);
            },
            criterion::BatchSize::PerIteration,
        );
    });
    let mut bench = |name: &str, observer: runstate::kernel::Observer, clear: &dyn Fn()| {
        group.bench_function(name, |b| {
            b.iter_batched_ref(
                || {
                    clear();
                    let record = CallRecord::new("call_1", "read_file", serde_json::Value::Null);
                    Some(
                        AnyToolCall::new(record.observed(observer.clone()))
                            .apply(Start.into())
                            .expect("starts"),
                    )
                },
                |slot| {
                    let mut call = slot.take().expect("one a batch");
                    for _ in 0..MOVES {
                        call = black_box(call)
                            .apply(black_box(Suspend::new(suspension()).into()))
                            .expect("waits");
                        call = black_box(call)
                            .apply(black_box(Resume::new(decision()).into()))
                            .expect("goes on");
                        call = black_box(call).apply(black_box(Start.into())).expect("starts again");
                    }
                    *slot = Some(call);
                },
                criterion::BatchSize::PerIteration,
            );
        });
    };
    bench("AnyToolCall", runstate::kernel::Observer::default(), &|| ());
    let recorder = Recorder::builder("r1").capacity(3 * MOVES as usize + 2).build();
    let observer = recorder.observer("call_1");
    bench("AnyToolCall, into a recorder", observer, &|| recorder.drain(|_| ()));
    group.finish();
}

criterion_group!(benches, moves, apply, call);
criterion_main!(benches);
