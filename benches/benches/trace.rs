//! Checking a trace in memory and from lines; reading a diagram.

use std::borrow::Cow;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use runstate::kernel::Stateful;
use runstate::run::AnyRun;
use runstate::tool_call::AnyToolCall;
use runstate::trace::{JsonlReader, Rulebook, Verdict, check, check_jsonl};
use runstate_benches::traces::{lines, naive_replay, of_tool_calls};

/// What a line is for `serde_json` alone, borrowed where it can be.
#[derive(serde::Deserialize)]
#[expect(dead_code, reason = "parsed, and that is all")]
struct Line<'a> {
    seq: u64,
    at_ms: u64,
    #[serde(borrow)]
    run: Cow<'a, str>,
    #[serde(borrow)]
    lifecycle: Cow<'a, str>,
    #[serde(borrow)]
    instance: Cow<'a, str>,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    from: Option<Cow<'a, str>>,
    #[serde(borrow)]
    to: Cow<'a, str>,
}

fn checks(c: &mut Criterion) {
    let events = of_tool_calls(100_000);
    let book = Rulebook::of([<AnyRun as Stateful>::GRAPH, <AnyToolCall as Stateful>::GRAPH]);
    assert_ne!(check(&events, &book).verdict, Verdict::Violates);
    let edges: Vec<_> =
        <AnyToolCall as Stateful>::GRAPH.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    assert_eq!(naive_replay(&events, &edges), Ok(2));

    let mut group = c.benchmark_group("check in memory");
    group.throughput(Throughput::Elements(events.len() as u64));
    group.sample_size(20);
    group.bench_function("naive", |b| b.iter(|| naive_replay(black_box(&events), &edges)));
    group.bench_function("check", |b| b.iter(|| check(black_box(&events), &book)));
    group.finish();

    let lines = lines(&events);
    let mut group = c.benchmark_group("check from lines");
    group.throughput(Throughput::Bytes(lines.len() as u64));
    group.sample_size(20);
    group.bench_function("serde_json alone", |b| {
        b.iter(|| {
            let parsed = black_box(&lines).lines().map(|line| serde_json::from_str::<Line<'_>>(line));
            parsed.filter(Result::is_ok).count()
        });
    });
    group.bench_function("serde_json alone, into values", |b| {
        b.iter(|| {
            let parsed =
                black_box(&lines).lines().map(|line| serde_json::from_str::<serde_json::Value>(line));
            parsed.filter(Result::is_ok).count()
        });
    });
    group.bench_function("check_jsonl", |b| {
        b.iter(|| {
            check_jsonl(JsonlReader::new(black_box(lines.as_bytes())), &book).expect("well-formed lines")
        });
    });
    group.finish();
}

fn diagrams(c: &mut Criterion) {
    let flow = include_str!("../../docs/lifecycles/run-flow.md");
    let start = flow.find("stateDiagram-v2").expect("it has a diagram");
    let end = start + flow[start..].find("```").expect("it ends");
    let source = &flow[start..end];
    let mut group = c.benchmark_group("diagram");
    group.throughput(Throughput::Bytes(source.len() as u64));
    group.bench_function("run-flow", |b| {
        b.iter(|| runstate::diagram::parse(black_box(source)).expect("our own diagram"));
    });
    group.finish();
}

criterion_group!(benches, checks, diagrams);
criterion_main!(benches);
