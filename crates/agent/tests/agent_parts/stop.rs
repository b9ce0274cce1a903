//! When a run is stopped.

use std::collections::VecDeque;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use runstate::termination::StoppedReason;
use runstate::turn::{CallRequest, Turn};
use runstate_agent::answer::Usage;
use runstate_agent::stop::{
    Matcher, PatternError, Patterns, StopConditionSpec, StopConditions, StopConfigError, StopCounters,
};
use serde_json::{Value, json};

fn conditions(specs: Value) -> StopConditions {
    StopConditions::new(serde_json::from_value(specs).unwrap()).unwrap()
}

fn refused(spec: StopConditionSpec) -> StopConfigError {
    StopConditions::new(vec![spec]).unwrap_err()
}

fn says(text: &str) -> Turn {
    Turn { text: text.into(), calls: vec![], ..Turn::default() }
}

fn calls(tools: &[(&str, Value)]) -> Turn {
    let request = |(tool, arguments): &(&str, Value)| CallRequest::new("call_1", *tool, arguments.clone());
    Turn { text: String::new(), calls: tools.iter().map(request).collect(), ..Turn::default() }
}

fn tokens(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens }
}

/// A run with its counters, at a time of its own.
struct Run {
    conditions: StopConditions,
    counters: StopCounters,
    now_ms: u64,
}

impl Run {
    fn with(specs: Value) -> Self {
        Run { conditions: conditions(specs), counters: StopCounters::new(1_000), now_ms: 1_000 }
    }

    /// A step that goes on, or would.
    fn step(&mut self, turn: &Turn) -> Option<String> {
        self.take(tokens(0, 0), turn, false)
    }

    fn take(&mut self, usage: Usage, turn: &Turn, ends_anyway: bool) -> Option<String> {
        self.counters.step(&self.conditions, &usage, turn);
        self.ask(turn, ends_anyway)
    }

    fn ask(&self, turn: &Turn, ends_anyway: bool) -> Option<String> {
        let stopped = self.conditions.check(&self.counters, self.now_ms, turn, ends_anyway);
        stopped.as_ref().map(StoppedReason::to_string)
    }

    /// The process ends and another goes on from what was stored.
    fn resume(&mut self) {
        let json = serde_json::to_string(&self.counters).unwrap();
        self.counters = serde_json::from_str(&json).unwrap();
    }
}

#[test]
fn rounds_are_counted_over_resumes() {
    let mut run = Run::with(json!([{ "type": "max_rounds", "rounds": 3 }]));
    assert_eq!(run.step(&says("")), None);
    assert_eq!(run.step(&says("")), None);
    run.resume();
    assert_eq!(run.step(&says("")).as_deref(), Some("max_rounds:3 of 3 rounds"));
    assert_eq!(run.step(&says("")).as_deref(), Some("max_rounds:4 of 3 rounds"), "reached is exceeded, too");
}

#[test]
fn time_counts_from_the_start_of_the_run() {
    let mut run = Run::with(json!([{ "type": "timeout", "seconds": 60 }]));
    assert_eq!(run.step(&says("")), None);
    run.now_ms = 60_999;
    assert_eq!(run.ask(&says(""), false), None);
    run.resume();
    run.now_ms = 61_000;
    assert_eq!(run.ask(&says(""), false).as_deref(), Some("timeout:60.000 of 60 seconds"));
    run.now_ms = 61_070;
    assert_eq!(run.ask(&says(""), false).as_deref(), Some("timeout:60.070 of 60 seconds"));
    run.now_ms = 0;
    assert_eq!(run.ask(&says(""), false), None, "a clock that goes back is no panic");

    let long = Run::with(json!([{ "type": "timeout", "seconds": u64::MAX }]));
    assert_eq!(long.ask(&says(""), false), None, "nor is a limit beyond all milliseconds");
}

#[test]
fn tokens_are_added_up() {
    let mut run = Run::with(json!([{ "type": "token_budget", "max_total": 100 }]));
    assert_eq!(run.take(tokens(40, 9), &says(""), false), None);
    run.resume();
    assert_eq!(run.take(tokens(40, 10), &says(""), false), None);
    let stopped = run.take(tokens(0, 1), &says(""), false);
    assert_eq!(stopped.as_deref(), Some("token_budget:100 of 100 tokens: 80 read, 20 written"));
}

#[test]
fn errors_are_counted_until_a_call_succeeds() {
    let mut run = Run::with(json!([{ "type": "consecutive_errors", "max": 3 }]));
    let turn = says("");
    for (tool, failed) in [("a", true), ("b", true), ("c", false), ("a", true), ("b", true)] {
        run.counters.result(tool, failed);
        assert_eq!(run.ask(&turn, false), None);
    }
    run.resume();
    run.counters.result("c", true);
    assert_eq!(
        run.ask(&turn, false).as_deref(),
        Some("consecutive_errors:3 of 3 calls in a row failed, the last of \"c\"")
    );
    run.counters.result("c", false);
    assert_eq!(run.ask(&turn, false), None, "what succeeded last has recovered");
    assert_eq!(run.counters.failed_in_a_row(), 0);
}

#[test]
fn a_tool_stops_the_step_that_calls_it() {
    let mut run = Run::with(json!([{ "type": "stop_on_tool", "tool_name": "submit" }]));
    assert_eq!(run.step(&calls(&[("submit_draft", json!({})), ("Submit", json!({}))])), None);
    let turn = calls(&[("read", json!({})), ("submit", json!({}))]);
    assert_eq!(run.step(&turn).as_deref(), Some("stop_on_tool:\"submit\" was called by \"call_1\""));
    assert_eq!(run.step(&says("submit")), None, "the step before is no matter");
}

#[test]
fn content_matches_anywhere_in_the_last_text() {
    let mut run = Run::with(json!([{ "type": "content_match", "pattern": "(?i)task (done|complete)" }]));
    assert_eq!(run.step(&says("the task is done")), None);
    let stopped = run.step(&says("so: Task Done!"));
    assert_eq!(stopped.as_deref(), Some("content_match:the answer matches \"(?i)task (done|complete)\""));
    assert_eq!(run.step(&calls(&[("task done", json!("task done"))])), None, "calls are no text");
}

#[test]
fn a_call_that_repeats_within_the_window_is_a_loop() {
    let a = || ("read", json!({ "path": "a", "lines": [1, 2] }));
    let b = || ("read", json!({ "path": "b" }));
    let c = || ("write", json!({ "path": "b" }));
    let mut run = Run::with(json!([{ "type": "loop_detection", "window": 3 }]));
    assert_eq!(run.step(&calls(&[a()])), None);
    assert_eq!(run.step(&calls(&[b(), c()])), None, "another tool is another call");
    assert_eq!(run.step(&calls(&[a()])), None, "four calls from the first, and three are looked at");
    run.resume();
    let again = run.step(&calls(&[c(), ("new", json!(1)), ("new", json!(2))]));
    let expected =
        "loop_detection:\"write\" was called twice with the same arguments in 3 calls; the window is 3";
    assert_eq!(again.as_deref(), Some(expected), "later calls of the step do not hide it");
    assert_eq!(run.step(&says("hm")), None, "a step repeats, not the history");

    let mut run = Run::with(json!([{ "type": "loop_detection", "window": 2 }]));
    let turn = calls(&[a(), a()]);
    assert!(run.step(&turn).unwrap().contains("in 2 calls"), "two calls of one step, too");
}

#[test]
fn arguments_are_compared_by_content() {
    let text = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut run = Run::with(json!([{ "type": "loop_detection", "window": 2 }]));
    assert_eq!(run.step(&calls(&[("read", text(r#"{"a":1,"b":[1,2]}"#))])), None);
    assert_eq!(run.step(&calls(&[("read", text(r#"{"a":1,"b":[2,1]}"#))])), None);
    assert!(run.step(&calls(&[("read", text(r#"{"b":[2,1],"a":1}"#))])).is_some());
    // Neither tool nor arguments can look like the other's end.
    let mut run = Run::with(json!([{ "type": "loop_detection", "window": 2 }]));
    assert_eq!(run.step(&calls(&[("read\"", json!("x")), ("read", json!("\"x"))])), None);
}

#[test]
fn the_first_in_configured_order_wins() {
    let rounds = json!({ "type": "max_rounds", "rounds": 1 });
    let tokens_used = json!({ "type": "token_budget", "max_total": 1 });
    let tool = json!({ "type": "stop_on_tool", "tool_name": "read" });
    for (specs, first) in [
        (json!([rounds, tokens_used, tool]), "max_rounds"),
        (json!([tokens_used, tool, rounds]), "token_budget"),
        (json!([tool, rounds, tokens_used]), "stop_on_tool"),
        (json!([{ "type": "max_rounds", "rounds": 9 }, rounds, tool]), "max_rounds"),
    ] {
        let mut run = Run::with(specs.clone());
        let stopped = run.take(tokens(5, 5), &calls(&[("read", json!({}))]), false).unwrap();
        assert_eq!(stopped.split(':').next(), Some(first), "{specs}");
    }
}

#[test]
fn ending_run_is_stopped_only_by_a_content_match() {
    let every = json!([
        { "type": "max_rounds", "rounds": 1 },
        { "type": "timeout", "seconds": 1 },
        { "type": "token_budget", "max_total": 1 },
        { "type": "consecutive_errors", "max": 1 },
        { "type": "stop_on_tool", "tool_name": "read" },
        { "type": "loop_detection", "window": 2 },
        { "type": "content_match", "pattern": "done" },
    ]);
    let mut run = Run::with(every.clone());
    run.now_ms = 1_000_000;
    run.counters.result("read", true);
    let turn = Turn { text: "all done".into(), ..calls(&[("read", json!({})), ("read", json!({}))]) };
    let stopped = run.take(tokens(1, 1), &turn, true).unwrap();
    assert_eq!(stopped, "content_match:the answer matches \"done\"");
    assert_eq!(run.ask(&Turn { text: "all".into(), ..turn.clone() }, true), None);

    // Each of them would stop a run that goes on.
    for spec in every.as_array().unwrap() {
        let one = conditions(json!([spec]));
        let code = one.specs().next().unwrap().code();
        let stopped = one.check(&run.counters, run.now_ms, &turn, false).unwrap();
        assert_eq!(stopped.code(), code);
        assert_eq!(spec["type"], code);
        assert!(stopped.detail().is_some());
    }
}

#[test]
fn stop_condition_out_of_range_is_refused() {
    use StopConditionSpec::{
        ConsecutiveErrors, ContentMatch, LoopDetection, MaxRounds, StopOnTool, Timeout, TokenBudget,
    };
    for (spec, why) in [
        (MaxRounds { rounds: 0 }, "max_rounds: `rounds` is 0; expected at least 1"),
        (Timeout { seconds: 0 }, "timeout: `seconds` is 0; expected at least 1"),
        (TokenBudget { max_total: 0 }, "token_budget: `max_total` is 0; expected at least 1"),
        (ConsecutiveErrors { max: 0 }, "consecutive_errors: `max` is 0; expected at least 1"),
        (LoopDetection { window: 0 }, "loop_detection: `window` is 0; expected at least 2"),
        (LoopDetection { window: 1 }, "loop_detection: `window` is 1; expected at least 2"),
        (LoopDetection { window: 1_001 }, "loop_detection: `window` is 1001; expected at most 1000"),
        (StopOnTool { tool_name: String::new() }, "stop_on_tool: `tool_name` is empty"),
        (ContentMatch { pattern: String::new() }, "content_match: `pattern` is empty"),
        (ContentMatch { pattern: "a(".into() }, "content_match: \"a(\" is no pattern: unclosed group"),
    ] {
        assert_eq!(refused(spec).to_string(), format!("stop condition 1, {why}"));
    }
    for spec in [
        MaxRounds { rounds: 1 },
        Timeout { seconds: 1 },
        TokenBudget { max_total: 1 },
        ConsecutiveErrors { max: 1 },
        LoopDetection { window: 2 },
        LoopDetection { window: 1_000 },
        StopOnTool { tool_name: "x".into() },
        ContentMatch { pattern: "x".into() },
    ] {
        assert!(StopConditions::new(vec![spec]).is_ok());
    }
    let second = StopConditions::new(vec![MaxRounds { rounds: 1 }, MaxRounds { rounds: 0 }]).unwrap_err();
    assert!(second.to_string().starts_with("stop condition 2, "), "{second}");
    let too_large = refused(ContentMatch { pattern: "(a{1000}){1000}".into() }).to_string();
    assert!(too_large.contains("size limit"), "{too_large}");
}

#[test]
fn configuration_reads_and_writes_as_documented() {
    let specs = json!([
        { "type": "max_rounds", "rounds": 10 },
        { "type": "timeout", "seconds": 300 },
        { "type": "token_budget", "max_total": 100_000 },
        { "type": "consecutive_errors", "max": 3 },
        { "type": "stop_on_tool", "tool_name": "submit" },
        { "type": "content_match", "pattern": "DONE" },
        { "type": "loop_detection", "window": 6 },
    ]);
    let read: Vec<StopConditionSpec> = serde_json::from_value(specs.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), specs);
    assert!(conditions(specs).specs().eq(&read));
    for (wrong, why) in [
        (
            json!({ "type": "max_turns", "rounds": 1 }),
            "unknown variant `max_turns`, expected one of `max_rounds`",
        ),
        (json!({ "type": "max_rounds", "max": 1 }), "unknown field `max`, expected `rounds`"),
        (json!({ "type": "max_rounds" }), "missing field `rounds`"),
        (json!({ "type": "max_rounds", "rounds": -1 }), "invalid value: integer `-1`"),
        (json!({ "rounds": 1 }), "missing field `type`"),
    ] {
        let error = serde_json::from_value::<StopConditionSpec>(wrong).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn counters_at_rest_are_small_and_checked() {
    let mut run = Run::with(json!([{ "type": "loop_detection", "window": 2 }]));
    assert_eq!(
        serde_json::to_value(&run.counters).unwrap(),
        json!({
            "started_at_ms": 1_000,
            "rounds": 0,
            "usage": { "input_tokens": 0, "output_tokens": 0 },
            "failed_in_a_row": 0,
        })
    );
    run.step(&calls(&[("read", json!({}))]));
    let json = serde_json::to_string(&run.counters).unwrap();
    // What was stored must mean the same call in later versions.
    assert!(json.contains(r#""recent":["1185610d91c1ca753d8da3cac9eecc3f"]"#), "{json}");
    for (right, wrong) in [
        ("[\"", "[\"0"),
        ("\"]", "x\"]"),
        ("1185610d91c1ca753d8da3cac9eecc3f", "+185610d91c1ca753d8da3cac9eecc3f"),
    ] {
        let wrong = json.replace(right, wrong);
        let error = serde_json::from_str::<StopCounters>(&wrong).unwrap_err().to_string();
        assert!(error.contains("expected 32 hexadecimal digits"), "{wrong}: {error}");
    }
    let error = serde_json::from_str::<StopCounters>(&json.replace("rounds", "turns")).unwrap_err();
    assert!(error.to_string().contains("unknown field `turns`"), "{error}");
}

#[test]
fn memory_is_bounded_by_the_longest_window() {
    let both = json!([
        { "type": "loop_detection", "window": 4 },
        { "type": "loop_detection", "window": 2 },
    ]);
    let mut run = Run::with(both);
    let mut longest = 0;
    for n in 0..100 {
        run.step(&calls(&[("read", json!(n)), ("write", json!(n))]));
        longest = longest.max(serde_json::to_string(&run.counters).unwrap().len());
    }
    assert!(longest < 300, "{longest}");

    // A configuration with a shorter window, or none, forgets what it does not look at.
    let kept = |counters: &StopCounters| {
        serde_json::to_value(counters).unwrap()["recent"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(kept(&run.counters), 4);
    run.conditions = conditions(json!([{ "type": "loop_detection", "window": 3 }]));
    run.step(&calls(&[("read", json!("x"))]));
    assert_eq!(kept(&run.counters), 3);
    run.conditions = StopConditions::default();
    assert_eq!(run.step(&calls(&[("read", json!("x"))])), None);
    assert_eq!(kept(&run.counters), 0);
}

/// Patterns are beginnings of the text.
struct Prefixes;

impl Patterns for Prefixes {
    fn compile(&self, pattern: &str) -> Result<Matcher, PatternError> {
        let pattern = pattern.to_owned();
        Ok(Arc::new(move |text| text.starts_with(&pattern)))
    }
}

#[test]
fn patterns_may_be_of_another_language() {
    let specs = vec![StopConditionSpec::ContentMatch { pattern: "a(".into() }];
    let conditions = StopConditions::with_patterns(specs, &Prefixes).unwrap();
    let counters = StopCounters::new(0);
    assert!(conditions.check(&counters, 0, &says("a( b"), false).is_some());
    assert!(conditions.check(&counters, 0, &says("b a("), false).is_none());
    let without = StopConditions::without_patterns(conditions.specs().cloned().collect()).unwrap_err();
    assert_eq!(
        without.to_string(),
        "stop condition 1, content_match: nothing here reads patterns; enable the feature `regex` of `runstate-agent`, or give \
         an engine of your own with `StopConditions::with_patterns`"
    );
    let rounds = vec![StopConditionSpec::MaxRounds { rounds: 1 }];
    assert!(StopConditions::without_patterns(rounds).is_ok());
    assert_eq!(format!("{conditions:?}"), r#"[ContentMatch { pattern: "a(" }]"#);
}

proptest! {
    /// A repetition is found exactly when some call of the step is among the `window - 1` calls before it.
    #[test]
    fn loops_agree_with_a_plain_search(
        window in 2..6_u32,
        other in 2..6_u32,
        steps in vec(vec(0..4_u8, 0..4), 0..8),
    ) {
        let loops = |window| json!({ "type": "loop_detection", "window": window });
        let mut run = Run::with(json!([loops(window)]));
        let mut beside = Run::with(json!([loops(other), loops(window)]));
        let mut history: VecDeque<u8> = VecDeque::new();
        for step in steps {
            let mut shortest = None::<usize>;
            for &call in &step {
                if let Some(back) = history.iter().rev().position(|earlier| *earlier == call) {
                    shortest = Some(shortest.map_or(back + 2, |shortest| shortest.min(back + 2)));
                }
                history.push_back(call);
            }
            let fires = |window: u32| shortest.is_some_and(|within| within <= window as usize);
            let turn: Vec<_> = step.iter().map(|call| ("read", json!(call))).collect();
            prop_assert_eq!(run.step(&calls(&turn)).is_some(), fires(window));
            let stopped = beside.step(&calls(&turn));
            prop_assert_eq!(stopped.is_some(), fires(window.max(other)));
            if let Some(stopped) = stopped {
                let first = if fires(other) { other } else { window };
                prop_assert!(stopped.ends_with(&format!("the window is {first}")), "{}", stopped);
            }
            run.resume();
        }
    }
}
