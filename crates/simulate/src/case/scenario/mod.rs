//! A case as a scenario file, for `runstate run`.
//!
//! The scenario expresses in its file the inputs that the simulation has in code: results of tools, verdicts of plugins at
//! the gates of calls, decisions as soon as a call asks, and external faults.

mod called;
mod people;
mod plugins;

use runstate_scenario::Scenario;
use runstate_scenario::file::{Act, Commits, Driver, Step, Turn, When};

use super::{Answer, Case, ComesTo, Fault, Says, Trouble};
use called::Called;

/// The time after which a run without decisions is cancelled, as in the simulation.
const PATIENCE_MS: u64 = 300_000;

/// A case as a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct AsScenario {
    /// The scenario.
    pub scenario: Scenario,
    /// The parts of the case that it omits; empty for a complete scenario.
    pub left_out: Vec<String>,
}

impl AsScenario {
    /// The file: JSON, which is YAML too, below a comment on its origin.
    pub fn to_file(&self) -> String {
        let about = self.scenario.about.as_deref().unwrap_or_default();
        format!("# {about}\n{}\n", self.scenario.to_json())
    }
}

/// The case as a scenario.
pub fn as_scenario(case: &Case) -> AsScenario {
    let calls = called::all(case);
    let model = (1..).zip(&case.answers).map(|(step, answer)| turn(step, answer));
    let first_spare = case.answers.len() + 1;
    let spare = (first_spare..=first_spare + spare_turns(case)).map(|step| Turn {
        after_ms: 1,
        every_ms: 1,
        ..Turn::text(format!("step {step}"))
    });
    let mut scenario = Scenario::new(format!("seed-{}", case.seed), model.chain(spare).collect());
    scenario.driver = if case.streamed { Driver::Stream } else { Driver::Plain };
    (scenario.mode, scenario.policy) = (case.mode, case.policy);
    scenario.when_suspended = case.when_suspended;
    scenario.tools = called::tools(case, &calls);
    scenario.plugins = plugins::all(case, &calls);
    scenario.replies = people::replies(case, &calls);
    scenario.stop.clone_from(&case.stop);
    scenario.commits = commits(case);
    scenario.commits.level = case.durability;
    scenario.redact = case.veiled;
    let mut left_out = Vec::new();
    scenario.outside = outside(case, &mut left_out);
    if !case.approvals.is_empty() {
        left_out.push("the approvals that tools need".to_owned());
    }
    let but = match left_out.as_slice() {
        [] => String::new(),
        left_out => format!("; not in it: {}", left_out.join(", ")),
    };
    scenario.about = Some(format!("the simulation's case {}{but}", case.seed));
    AsScenario { scenario, left_out }
}

fn turn(step: u32, answer: &Answer) -> Turn {
    use runstate_agent::answer::{FinishReason, Usage};
    use runstate_scenario::file::Ending;

    let read = answer.tokens / 2;
    Turn {
        calls: (0..).zip(&answer.calls).map(|(ordinal, call)| called::request(step, ordinal, call)).collect(),
        usage: Some(Usage { input_tokens: read, output_tokens: answer.tokens - read }),
        finish: answer.fault.is_none().then_some(FinishReason::ToolCalls),
        ends: match answer.fault {
            None => Ending::Finish,
            Some(Fault::Error) => Ending::Error("no capacity".to_owned()),
            Some(Fault::Unfinished) => Ending::Cut,
            Some(Fault::Panic) => Ending::Panic("the model fell over".to_owned()),
        },
        after_ms: answer.delay_ms,
        pauses_ms: vec![answer.delay_ms],
        ..Turn::text(format!("step {step}"))
    }
}

/// The number of further model requests after its answers: one, and one for each input that resumes a run.
fn spare_turns(case: &Case) -> usize {
    let asks = case.answers.iter().flat_map(|answer| &answer.calls).flat_map(|call| &call.executions);
    let asks = asks.filter(|execution| matches!(execution.comes_to, ComesTo::Pending(_))).count();
    let gates = case.gates.iter().filter(|gate| matches!(gate.says, Says::Suspend(_))).count();
    asks + gates + case.messages.len() + case.timed.len() + case.troubles.len()
}

fn commits(case: &Case) -> Commits {
    let fail = case.troubles.iter().filter_map(|trouble| match trouble {
        Trouble::CommitFails(number) => Some(*number),
        _ => None,
    });
    let mut each_ms = case.commit_ms.clone();
    // The simulation counts from the second of them on.
    if !each_ms.is_empty() {
        each_ms.rotate_left(1);
    }
    if each_ms.iter().all(|ms| *ms == 0) {
        each_ms.clear();
    }
    Commits { kept: case.committer, each_ms, fail: fail.collect(), ..Commits::default() }
}

fn outside(case: &Case, left_out: &mut Vec<String>) -> Vec<Step> {
    let mut steps: Vec<Step> = people::at_times(case);
    let at = |at_ms: u64, act: Act| Step::new(When::AtMs(at_ms), act);
    steps.extend(case.messages.iter().map(|at_ms| at(*at_ms, Act::Write("never mind".to_owned()))));
    // A cancellation is repeated to each process.
    let cancel = |at_ms| Step { insists: true, ..at(at_ms, Act::Cancel) };
    steps.extend(case.cancel_ms.map(cancel));
    for trouble in &case.troubles {
        let crash = |when| Step::new(when, Act::Crash);
        let step = match trouble {
            Trouble::CommitFails(_) => continue,
            Trouble::DropAt(at_ms) => at(*at_ms, Act::Drop),
            _ if !case.committer => {
                left_out.push(format!("{trouble:?}, since nothing is committed"));
                continue;
            }
            Trouble::CrashAt(at_ms) => at(*at_ms, Act::Crash),
            Trouble::CrashBeforeCommit(number) => crash(When::BeforeCommit(*number)),
            Trouble::CrashAfterCommit(number) => crash(When::AfterCommit(*number)),
        };
        steps.push(step);
    }
    // A run without decisions would wait for ever.
    if spare_turns(case) > 0 {
        steps.push(cancel(PATIENCE_MS));
    }
    steps
}

/// The calls with their places.
fn calls_of(case: &Case) -> impl Iterator<Item = (u32, u32, &super::Call)> {
    (1..)
        .zip(&case.answers)
        .flat_map(|(step, answer)| (0..).zip(&answer.calls).map(move |(ordinal, call)| (step, ordinal, call)))
}

/// The call at a place.
fn find<'c>(calls: &'c [Called<'_>], step: u32, ordinal: u32) -> Option<&'c Called<'c>> {
    calls.iter().find(|call| (call.step, call.ordinal) == (step, ordinal))
}
