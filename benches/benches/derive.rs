//! The status of a run from all its calls, and from the tally that is kept per transition.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use runstate::derive::{StatusTally, derive_run_status};
use runstate::tool_call::ToolCallStatus::{Running, Succeeded, Suspended};

fn derive(c: &mut Criterion) {
    let mut group = c.benchmark_group("status after one transition");
    for calls in [10_usize, 1_000, 100_000] {
        // The last call waits, so that there is no early way out.
        let mut statuses = vec![Succeeded; calls];
        statuses[calls - 1] = Suspended;
        group.bench_with_input(BenchmarkId::new("derive_run_status", calls), &statuses, |b, statuses| {
            b.iter(|| derive_run_status(black_box(statuses).iter().copied()));
        });
        let mut tally: StatusTally = statuses.iter().copied().collect();
        group.bench_function(BenchmarkId::new("StatusTally", calls), |b| {
            b.iter(|| {
                let tally = black_box(&mut tally);
                tally.moved(Suspended, Running).expect("one waits");
                tally.moved(Running, Suspended).expect("one runs");
                tally.run_status()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, derive);
criterion_main!(benches);
