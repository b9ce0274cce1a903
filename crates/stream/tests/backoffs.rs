//! How long retries wait.

use std::time::Duration;

use runstate::stream_session::ErrorCode;
use runstate_stream::{Backoff, ErrorKind, Event, Jitter, RetryPolicy, Session};

use super::script::{Seen, Step, scripted, tokens};
use super::sessions::{policy, session};
use super::told::drive;

/// The back-offs before six retries of the network.
async fn delays(backoff: Backoff, seed: u64) -> Vec<u64> {
    let policy = RetryPolicy { backoff, total_retries: 6, ..RetryPolicy::default() };
    let whole = drive(session(vec![vec![Step::Throw(ErrorKind::Network)]]).retry(policy).seed(seed)).await;
    let delay = |event: &Event| match event.kind {
        runstate_stream::EventKind::RetryAttempt { delay_ms, .. } => Some(delay_ms),
        _ => None,
    };
    let delays: Vec<u64> = whole.events.iter().filter_map(delay).collect();
    assert_eq!(whole.events.last().unwrap().at_ms, delays.iter().sum::<u64>(), "they are waited");
    delays
}

#[tokio::test(start_paused = true)]
async fn back_offs_grow_as_they_say() {
    let (base, cap) = (Duration::from_millis(100), Duration::from_millis(1_000));
    assert_eq!(delays(Backoff::fixed(base), 1).await, [100; 6]);
    assert_eq!(delays(Backoff::linear(base), 1).await, [100, 200, 300, 400, 500, 600]);
    assert_eq!(delays(Backoff::exponential(base), 1).await, [100, 200, 400, 800, 1_600, 3_200]);
    assert_eq!(delays(Backoff::exponential(base).capped(cap), 1).await, [100, 200, 400, 800, 1_000, 1_000]);
    assert_eq!(delays(Backoff::fixed(Duration::ZERO), 1).await, [0; 6]);
}

#[tokio::test(start_paused = true)]
async fn jitter_stays_within_its_bounds_and_follows_the_seed() {
    let plain = Backoff::exponential(Duration::from_millis(100)).capped(Duration::from_millis(1_000));
    let curve = [100, 200, 400, 800, 1_000, 1_000];
    let mut below_half = false;
    for seed in 0..40 {
        for (delay, full) in delays(plain.jittered(Jitter::Fixed), seed).await.into_iter().zip(curve) {
            assert!((full / 2..=full).contains(&delay), "fixed: {delay} of {full}");
        }
        for (delay, full) in delays(plain.jittered(Jitter::Full), seed).await.into_iter().zip(curve) {
            assert!(delay <= full, "full: {delay} of {full}");
            below_half |= delay < full / 2;
        }
        let mut last = 100;
        for delay in delays(plain.jittered(Jitter::Decorrelated), seed).await {
            assert!((100..=1_000.min(last * 3)).contains(&delay), "decorrelated: {delay} after {last}");
            last = delay;
        }
    }
    assert!(below_half, "full jitter goes below what fixed jitter does");
    for jitter in [Jitter::Fixed, Jitter::Full, Jitter::Decorrelated] {
        let (a, b) = (delays(plain.jittered(jitter), 7).await, delays(plain.jittered(jitter), 7).await);
        assert_eq!(a, b, "{jitter:?}: the same seed, the same delays");
        assert_ne!(a, delays(plain.jittered(jitter), 8).await, "{jitter:?}: another seed, others");
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_that_fail_together_do_not_come_back_together() {
    let delay = async |id: &str| {
        let source = scripted(&Seen::default(), vec![vec![Step::Throw(ErrorKind::Network)], tokens("done")]);
        let mut session = Session::builder(id, source).build();
        session.run().await.unwrap().duration_ms
    };
    assert_ne!(delay("stream_1").await, delay("stream_2").await);
    assert_eq!(delay("stream_1").await, delay("stream_1").await);
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_honoured() {
    let waited = async |after_ms: u64| {
        let script = vec![vec![Step::ThrowAfter(ErrorKind::RateLimit, after_ms)], tokens("done")];
        let whole = drive(session(script)).await;
        (whole.code(), whole.events.last().unwrap().at_ms)
    };
    assert_eq!(waited(30).await, (None, 100), "no shorter than the back-off");
    assert_eq!(waited(60_000).await, (None, 60_000), "longer than its cap");
    assert_eq!(waited(300_001).await, (Some(ErrorCode::NetworkError), 0), "and not for ever");
}

#[tokio::test(start_paused = true)]
async fn decorrelated_delays_begin_anew_on_a_fallback() {
    let fails = || vec![vec![Step::Throw(ErrorKind::Model)]];
    let backoff = Backoff::fixed(Duration::from_millis(10)).capped(Duration::from_secs(60));
    for seed in 0..20 {
        let policy = RetryPolicy {
            model_retries: 5,
            total_retries: 6,
            backoff: backoff.jittered(Jitter::Decorrelated),
            ..policy()
        };
        let session = session(fails()).fallback(scripted(&Seen::default(), fails())).retry(policy).seed(seed);
        let whole = drive(session).await;
        let delays: Vec<u64> = whole
            .events
            .iter()
            .filter_map(|event| match event.kind {
                runstate_stream::EventKind::RetryAttempt { delay_ms, .. } => Some(delay_ms),
                _ => None,
            })
            .collect();
        assert!((10..=30).contains(&delays[5]), "the first on the fallback: {delays:?}");
    }
}
