//! Whole random runs, with crashes, failing commits and whatever else may come from outside.

use std::cell::RefCell;

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use runstate::trace::Coverage;

mod case;
mod judge;
mod outside;
mod process;

use case::{Case, cases, plain_cases};
use process::{Finished, run};

/// The same cases each time; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` in the environment give others.
fn runner(cases: u32, test_name: &'static str) -> TestRunner {
    let mut config = Config { source_file: Some(file!()), test_name: Some(test_name), ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(0);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    TestRunner::new(config)
}

/// Says what failed, the case, and what happened in it, if it came to an end.
fn explain(error: TestError<Case>) -> String {
    match error {
        TestError::Abort(why) => why.to_string(),
        TestError::Fail(why, case) => format!("{}\nin {case:?}", why.message()),
    }
}

fn judged(run: &Finished, case: &Case) -> Result<(), TestCaseError> {
    judge::judge(run, case).map_err(|why| {
        let trace = runstate::trace::to_text(&run.trace);
        TestCaseError::fail(format!("{why}\n{trace}"))
    })
}

#[test]
fn any_run_keeps_its_promises() {
    let coverage = RefCell::new(Coverage::new());
    let outcome = runner(300, "any_run_keeps_its_promises").run(&cases(), |case| {
        let finished = run(&case);
        judged(&finished, &case)?;
        coverage.borrow_mut().merge(&finished.report().coverage);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{}", explain(error));
    }
    println!("{}", coverage.borrow());
    judge::assert_covered(&coverage.borrow());
}

/// What came out, less the calls that a crash left in doubt: of those a person decides.
fn outcome_without(run: &Finished, in_doubt: &[String]) -> Vec<String> {
    run.results
        .iter()
        .filter(|(call, _)| !in_doubt.contains(call))
        .map(|(_, result)| result.clone())
        .collect()
}

#[test]
fn a_crash_changes_nothing_but_what_it_leaves_in_doubt() {
    let doubted = RefCell::new((0, 0));
    let outcome = runner(100, "a_crash_changes_nothing").run(&plain_cases(), |case| {
        let crashed = run(&case);
        judged(&crashed, &case)?;
        let whole = run(&Case { crashes: Vec::new(), ..case.clone() });
        let (of_crashed, of_whole) =
            (outcome_without(&crashed, &crashed.in_doubt), outcome_without(&whole, &crashed.in_doubt));
        if of_crashed != of_whole || crashed.reason != whole.reason {
            return Err(TestCaseError::fail(format!(
                "with crashes: {of_crashed:#?}, {}\nwithout: {of_whole:#?}, {}",
                crashed.reason, whole.reason
            )));
        }
        let mut doubted = doubted.borrow_mut();
        doubted.0 += usize::from(crashed.crashes > 0);
        doubted.1 += usize::from(!crashed.in_doubt.is_empty());
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{}", explain(error));
    }
    let (crashed, in_doubt) = *doubted.borrow();
    println!("{crashed} runs crashed, {in_doubt} with calls in doubt");
    assert!(
        crashed >= 50 && in_doubt >= 20,
        "{crashed} runs crashed, {in_doubt} with calls in doubt: too few"
    );
}
