//! Sequences of a lifecycle from the bytes of another fuzzer.

use proptest::prelude::RngExt;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use runstate::testing::Subject;

use crate::judge;
use crate::subject::Lifecycle;
use crate::sut::{Broken, Sut};

/// The bytes of an input for each event, and the most events of an input.
const BYTES_FOR_AN_EVENT: usize = 8;
const MOST_EVENTS: usize = 256;

/// Sends the events that the bytes choose, with payloads that the bytes draw from the strategies of the [`Subject`], and
/// compares each reaction with the graph. The same bytes send the same events.
///
/// It is the body of a target of libFuzzer or AFL, which changes the bytes by the code that they reach:
/// [`lifecycle_fuzz_target!`](crate::lifecycle_fuzz_target).
///
/// ```
/// use runstate::testing::example::Doors;
///
/// runstate_fuzz::drive_bytes(Doors, b"any bytes are a sequence of events");
/// runstate_fuzz::drive_bytes(Doors, b"");
/// ```
///
/// # Panics
/// A reaction differs from the graph; the message has the events. A panic of the lifecycle propagates, so that the fuzzer
/// reports it as a crash.
#[track_caller]
pub fn drive_bytes<S: Subject>(subject: S, bytes: &[u8]) {
    let mut system = Lifecycle::new(subject);
    let map = system.map();
    let rng = TestRng::from_seed(RngAlgorithm::PassThrough, bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let started = system.reset().map_err(|broken| format!("{broken:?}"));
    let mut state = match started.and_then(|state| judge::start(&map, &state).map_err(|wrong| wrong.why)) {
        Ok(state) => state,
        Err(why) => panic!("{}: {why}", map.name),
    };
    let mut sent = Vec::new();
    for _ in 0..bytes.len().div_ceil(BYTES_FOR_AN_EVENT).min(MOST_EVENTS) {
        let event = runner.rng().random_range(0..map.events.len());
        sent.push(map.events[event].as_str());
        let reply = match system.send(&map.events[event], &mut runner) {
            Ok(reply) => reply,
            // A strategy may reject what the bytes say.
            Err(Broken::Unusable(_)) => return,
            Err(broken) => panic!("{}: {broken:?} after {}", map.name, sent.join(", ")),
        };
        match judge::reply(&map, state, event, &reply) {
            Ok((to, _)) => state = to,
            Err(wrong) => panic!("{}: {}: {} after {}", map.name, wrong.kind, wrong.why, sent.join(", ")),
        }
    }
}

/// Makes a target of libFuzzer for a lifecycle: the bytes choose the events and draw the payloads.
///
/// The package of the target depends on `libfuzzer-sys`. Its file begins with `#![no_main]`:
///
/// ```text
/// #![no_main]
///
/// runstate_fuzz::lifecycle_fuzz_target!(shop::subject::Orders);
/// ```
///
/// `cargo fuzz run NAME` executes it. [`drive_bytes`](crate::drive_bytes) is the same for other fuzzers.
#[macro_export]
macro_rules! lifecycle_fuzz_target {
    ($subject:expr $(,)?) => {
        ::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            $crate::drive_bytes($subject, bytes);
        });
    };
}
