//! Random sources, options, aborts and timings: what must hold of every session holds. `PROPTEST_CASES` widens it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use runstate::stream_session::{ErrorCode, RetryKind};
use runstate_stream::{
    Backoff, ErrorKind, Event, EventKind, FinishReason, Jitter, RetryPolicy, Session, SessionBuilder,
    Strategy as Recovered, Timeouts,
};
use serde_json::json;

use super::script::{Seen, Step, scripted};
use super::sessions::{every, no};
use super::told::{Whole, drive_with};

#[derive(Debug, Clone)]
struct Case {
    /// For each stream, for each attempt, what the source does.
    streams: Vec<Vec<Vec<Step>>>,
    model_retries: u32,
    total_retries: u32,
    jitter: Jitter,
    seed: u64,
    checkpoint_every: Option<u32>,
    initial_ms: Option<u64>,
    inter_ms: Option<u64>,
    require_complete: bool,
    zero_output: bool,
    rule: bool,
    abort_at_ms: Option<u64>,
    consumer_ms: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop::sample::select(ErrorKind::ALL.to_vec());
    let step = prop_oneof![
        12 => Just(Step::Token("t".into())),
        1 => Just(Step::Token("never ".into())),
        1 => Just(Step::Token(String::new())),
        1 => Just(Step::Token(" ".into())),
        4 => (1..40_u64).prop_map(Step::Wait),
        1 => Just(Step::Tool("search")),
        1 => Just(Step::Message("aside")),
        1 => Just(Step::Data(json!([1]))),
        1 => Just(Step::Progress(json!(0.5))),
        1 => Just(Step::Reasoning("hm")),
        1 => Just(Step::Alive),
        1 => Just(Step::Finish(FinishReason::Stop)),
        1 => Just(Step::Finish(FinishReason::ContentFilter)),
    ];
    let end = prop_oneof![
        2 => Just(vec![]),
        3 => Just(vec![Step::Complete]),
        4 => kind.clone().prop_map(|kind| vec![Step::Throw(kind)]),
        2 => kind.clone().prop_map(|kind| vec![Step::Report(kind)]),
        1 => (kind.clone(), 0..300_u64).prop_map(|(kind, ms)| vec![Step::ThrowAfter(kind, ms)]),
        2 => Just(vec![Step::Silence]),
    ];
    let begin = prop_oneof![
        12 => Just(vec![]),
        1 => kind.prop_map(|kind| vec![Step::RefuseToOpen(kind)]),
        1 => (1..40_u64).prop_map(|ms| vec![Step::SlowToOpen(ms)]),
    ];
    (begin, prop::collection::vec(step, 0..12), end)
        .prop_map(|(begin, steps, end)| [begin, steps, end].concat())
}

fn case() -> impl Strategy<Value = Case> {
    let streams = prop::collection::vec(prop::collection::vec(steps(), 1..4), 1..4);
    let jitter = prop::sample::select(vec![Jitter::None, Jitter::Fixed, Jitter::Full, Jitter::Decorrelated]);
    let budgets = (0..3_u32, 0..5_u32, jitter, any::<u64>());
    let limits = (prop::option::of(1..60_u64), prop::option::of(1..40_u64));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let outside = (prop::option::weighted(0.3, 0..400_u64), prop_oneof![4 => Just(0_u64), 1 => 1..30_u64]);
    (streams, budgets, prop::option::of(1..5_u32), limits, flags, outside).prop_map(
        |(
            streams,
            (model_retries, total_retries, jitter, seed),
            checkpoint_every,
            limits,
            flags,
            outside,
        )| Case {
            streams: tagged(streams),
            model_retries,
            total_retries,
            jitter,
            seed,
            checkpoint_every,
            initial_ms: limits.0,
            inter_ms: limits.1,
            require_complete: flags.0,
            zero_output: flags.1,
            rule: flags.2,
            abort_at_ms: outside.0,
            consumer_ms: outside.1,
        },
    )
}

/// Each token says which stream and script it is from, and no two of them are alike.
fn tagged(mut streams: Vec<Vec<Vec<Step>>>) -> Vec<Vec<Vec<Step>>> {
    for (s, attempts) in streams.iter_mut().enumerate() {
        for (a, steps) in attempts.iter_mut().enumerate() {
            for (t, step) in steps.iter_mut().enumerate() {
                if let Step::Token(text) = step
                    && text == "t"
                {
                    *text = format!("<{s}.{a}.{t}>");
                }
            }
        }
    }
    streams
}

impl Case {
    fn session(&self, seen: &Seen) -> SessionBuilder {
        let mut streams = self.streams.iter().cloned();
        let mut builder = Session::builder("stream_1", scripted(seen, streams.next().unwrap()));
        for attempts in streams {
            builder = builder.fallback(scripted(seen, attempts));
        }
        let backoff = Backoff::exponential(Duration::from_millis(20)).capped(Duration::from_millis(90));
        builder = builder
            .retry(RetryPolicy {
                model_retries: self.model_retries,
                total_retries: self.total_retries,
                backoff: backoff.jittered(self.jitter),
                ..RetryPolicy::default()
            })
            .seed(self.seed)
            .timeouts(Timeouts {
                initial: Some(Duration::from_millis(self.initial_ms.unwrap_or(10_000))),
                inter: Some(Duration::from_millis(self.inter_ms.unwrap_or(10_000))),
            });
        if let Some(tokens) = self.checkpoint_every {
            builder = builder.continuation(every(tokens));
        }
        if self.require_complete {
            builder = builder.require_complete();
        }
        if !self.zero_output {
            builder = builder.allow_zero_output();
        }
        if self.rule {
            builder = builder.guardrail(no("never"));
        }
        builder
    }

    /// Drives the session, and aborts it when it is time. How many streams were opened by then.
    async fn play(&self, seen: &Seen) -> (Whole, Option<(u64, usize)>) {
        let began = tokio::time::Instant::now();
        let token = tokio_util::sync::CancellationToken::new();
        let (cancel, opened) = (token.clone(), seen.clone());
        let abort = self.abort_at_ms.map(|ms| {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                let opened = opened.opened();
                cancel.cancel();
                (ms, opened)
            })
        });
        let consumer_ms = self.consumer_ms;
        let whole = drive_with(self.session(seen).cancelled_by(token), async |_, _| {
            if consumer_ms > 0 {
                tokio::time::sleep(Duration::from_millis(consumer_ms)).await;
            }
        })
        .await;
        let ended_ms = began.elapsed().as_millis();
        let aborted = match abort {
            Some(task) if task.is_finished() => Some(task.await.unwrap()),
            Some(task) => {
                assert!(ended_ms <= u128::from(self.abort_at_ms.unwrap()), "the abort is late");
                task.abort();
                None
            }
            None => None,
        };
        (whole, aborted)
    }
}

fn judge(case: &Case, seen: &Seen, whole: &Whole, aborted: Option<(u64, usize)>) {
    assert!(seen.most_open.load(Ordering::SeqCst) <= 1, "one stream at a time");
    assert_eq!(seen.open.load(Ordering::SeqCst), 0, "and none in the end");
    let error = whole.result.as_ref().err();
    if error.is_some_and(|error| error.code() == ErrorCode::StreamAborted) {
        let (ms, opened) = aborted.expect("nobody else aborts");
        assert_eq!(seen.opened(), opened, "nothing is opened after an abort");
        if case.consumer_ms == 0 {
            assert_eq!(whole.events.last().unwrap().at_ms, ms, "within one tick");
        }
    }
    strategies(case, &whole.events);
    content(case, whole);
    let mut since = 0;
    for event in &whole.events {
        match event.name() {
            // Output, or the opening that the limit counts from. Output that is held back resets the limit without a token.
            "TOKEN" | "MESSAGE" | "DATA" | "TOOL_REQUESTED" | "TIMEOUT_START" | "TIMEOUT_RESET" => {
                since = event.at_ms
            }
            "TIMEOUT_TRIGGERED" if case.consumer_ms == 0 => {
                let limit = [case.initial_ms, case.inter_ms].map(|limit| limit.unwrap_or(10_000));
                let waited = event.at_ms - since;
                assert!(limit.contains(&waited), "it waited {waited} ms, with limits {limit:?}");
            }
            _ => {}
        }
        if let EventKind::TimeoutTriggered { timeout_type, elapsed_ms } = &event.kind {
            let limit = match timeout_type.name() {
                "initial" => case.initial_ms,
                _ => case.inter_ms,
            };
            let limit = limit.unwrap_or(10_000);
            if case.consumer_ms == 0 {
                assert_eq!(*elapsed_ms, limit);
            } else {
                assert!(*elapsed_ms >= limit);
            }
        }
    }
}

/// What each ERROR says follows, by the tables of the document and the rows, counted from the events alone.
fn strategies(case: &Case, events: &[Event]) {
    let (mut stream, mut model, mut total) = (0, 0, 0);
    for (at, event) in events.iter().enumerate() {
        let EventKind::Error(error) = &event.kind else { continue };
        let kind = error.error.kind;
        let uses_model = kind.budget() == RetryKind::Model;
        let last = stream + 1 == case.streams.len();
        let retried = !matches!(kind, ErrorKind::Fatal | ErrorKind::Internal);
        let expected = if kind == ErrorKind::Fatal {
            Recovered::Halt
        } else if retried && total < case.total_retries && (!uses_model || model < case.model_retries) {
            Recovered::Retry
        } else if last {
            Recovered::Halt
        } else {
            Recovered::Fallback
        };
        assert_eq!(error.recovery_strategy, expected, "event {}", event.seq);
        let next: Vec<_> = events[at + 1..].iter().map(Event::name).take(2).collect();
        match expected {
            Recovered::Retry => {
                total += 1;
                model += u32::from(uses_model);
                assert!(matches!(next[0], "RETRY_ATTEMPT" | "ABORT_COMPLETED"), "{next:?}");
            }
            Recovered::Fallback => {
                (stream, model) = (stream + 1, 0);
                let fine = ["FALLBACK_START", "FALLBACK_END", "CHECKPOINT_REJECTED", "ABORT_COMPLETED"];
                assert!(fine.contains(&next[0]), "{next:?}");
            }
            Recovered::Halt => {
                assert!(next.is_empty());
                let exhausted =
                    case.streams.len() > 1 && kind != ErrorKind::Fatal && kind != ErrorKind::Guardrail;
                assert_eq!(error.error.code == ErrorCode::AllStreamsExhausted, exhausted);
            }
        }
    }
}

/// No failed attempt's text is in the content but through a checkpoint.
fn content(case: &Case, whole: &Whole) {
    let (mut text, mut checkpoint) = (String::new(), String::new());
    let (mut stream, mut attempt) = (0, 1);
    let mut since = String::new();
    for event in &whole.events {
        match &event.kind {
            EventKind::Token { text: token } => {
                text.push_str(token);
                since.push_str(token);
                if token.starts_with('<') {
                    let script = case.streams[stream].len().min(attempt) - 1;
                    assert!(
                        token.starts_with(&format!("<{stream}.{script}.")),
                        "{token} in attempt {attempt}"
                    );
                }
            }
            EventKind::CheckpointSaved { token_count, .. } => {
                assert_eq!(token_count % u64::from(case.checkpoint_every.unwrap()), 0);
                checkpoint.clone_from(&text);
            }
            EventKind::CheckpointRejected { .. } => checkpoint.clear(),
            EventKind::AttemptStart { .. } => attempt += 1,
            EventKind::FallbackStart { .. } => (stream, attempt) = (stream + 1, 1),
            EventKind::ResumeStart { checkpoint: resumed, .. } => assert_eq!(**resumed, checkpoint),
            EventKind::ContentReset { .. } => {
                text.clone_from(&checkpoint);
                since.clear();
            }
            _ => {}
        }
    }
    let held = match &whole.result {
        Ok(state) => &state.content,
        Err(error) => &error.state.content,
    };
    assert_eq!(*held, text);
    assert!(held.ends_with(&since));
    if case.rule && whole.result.is_ok() {
        assert!(!held.contains("never"), "text that violates a rule is never reported as success");
    }
    if case.zero_output
        && let Ok(state) = &whole.result
    {
        let more = !state.tool_calls.is_empty() || state.data_parts > 0;
        assert!(more || !state.content.trim().is_empty());
    }
}

#[test]
fn random_sessions_keep_every_invariant() {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 400;
    }
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let ends = std::cell::RefCell::new(std::collections::BTreeMap::new());
    runner
        .run(&case(), |case| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            runtime.block_on(async {
                let seen = Seen::default();
                let (whole, aborted) = case.play(&seen).await;
                judge(&case, &seen, &whole, aborted);
                // The same again gives the same: nothing is left to chance.
                let (again, _) = case.play(&Seen::default()).await;
                assert_eq!(again.notes, whole.notes);
                let end = whole.code().map_or("COMPLETE", ErrorCode::name);
                *ends.borrow_mut().entry(end).or_insert(0) += 1;
            });
            Ok(())
        })
        .unwrap();
    let ends = ends.into_inner();
    assert!(ends.len() >= 7, "the cases end in many ways: {ends:?}");
}
