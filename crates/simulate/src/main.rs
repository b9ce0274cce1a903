//! `runstate-simulate --runs 10000 --seed 1`: random runs, judged.

use std::process::ExitCode;
use std::time::Instant;

use runstate_simulate::campaign::{FailedTalk, Failure, Found, broken, campaign, smallest, smallest_talk};
use runstate_simulate::case::{Case, as_scenario, generate, scripted};
use runstate_simulate::exports::{ORDER, exports};
use runstate_simulate::play::play;
use runstate_simulate::threads::{self, Talk};

const USAGE: &str = "runstate-simulate [--runs N] [--seed FIRST] [--threads N] [--show SEED] [--talk SEED] [--quiet] [--all] [--play FILE] [--wholly FIRST] [--export FIRST]";

struct Asked {
    runs: u64,
    seed: u64,
    threads: usize,
    show: Option<u64>,
    talk: Option<u64>,
    quiet: bool,
    all: bool,
    play: Option<String>,
    wholly: Option<u64>,
    export: Option<u64>,
}

fn asked(mut arguments: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut asked = Asked {
        runs: 10_000,
        seed: 1,
        threads: 2,
        show: None,
        talk: None,
        quiet: false,
        all: false,
        play: None,
        wholly: None,
        export: None,
    };
    while let Some(name) = arguments.next() {
        if name == "--quiet" {
            asked.quiet = true;
            continue;
        }
        if name == "--all" {
            asked.all = true;
            continue;
        }
        if name == "--play" {
            asked.play = arguments.next();
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{name} wants a number; {USAGE}"))?;
        let number: u64 = value.parse().map_err(|_| format!("{name} wants a number, got {value:?}"))?;
        match name.as_str() {
            "--runs" => asked.runs = number,
            "--seed" => asked.seed = number,
            "--threads" => asked.threads = usize::try_from(number).unwrap_or(2),
            "--export" => asked.export = Some(number),
            "--wholly" => asked.wholly = Some(number),
            "--talk" => asked.talk = Some(number),
            "--show" => asked.show = Some(number),
            _ => return Err(format!("{name} is no option; {USAGE}")),
        }
    }
    Ok(asked)
}

fn main() -> ExitCode {
    let asked = match asked(std::env::args().skip(1)) {
        Ok(asked) => asked,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if let Some(seed) = asked.show {
        return show(&generate(seed));
    }
    if let Some(seed) = asked.talk {
        return show_talk(&threads::generate(seed));
    }
    if let Some(first) = asked.export {
        return export(first, &asked);
    }
    if let Some(first) = asked.wholly {
        return wholly(first, asked.runs);
    }
    if let Some(path) = &asked.play {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        return match text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string())) {
            Ok(case) => show(&case),
            Err(error) => {
                eprintln!("{path}: {error}");
                ExitCode::from(2)
            }
        };
    }
    #[expect(clippy::disallowed_methods, reason = "runs a second are of the machine's clock")]
    let began = Instant::now();
    let found = campaign(asked.seed, asked.runs, asked.threads, asked.all);
    let seconds = began.elapsed().as_secs_f64();
    if asked.all {
        for FailedTalk { talk, violations } in &found.talks {
            println!("conversation {} {:?}: {}", talk.seed, talk.deaths, violations[0]);
        }
        for Failure { seed, case, violations, .. } in &found.failures {
            println!("seed {seed} {:?}: {}", case.troubles, violations[0]);
        }
    }
    if let Some(failed) = found.talks.first() {
        println!(
            "the conversation of seed {} fails, after {} others:",
            failed.talk.seed,
            failed.talk.seed - asked.seed
        );
        for violation in failed.violations.iter().take(5) {
            println!("  {violation}");
        }
        if !asked.quiet {
            println!("the smallest conversation that breaks the same promise:");
            show_talk(&smallest_talk(failed));
        }
        return ExitCode::FAILURE;
    }
    if let Some(failure) = found.failures.first() {
        println!("seed {} fails, after {} others:", failure.seed, failure.after);
        for violation in failure.violations.iter().take(5) {
            println!("  {violation}");
        }
        if asked.quiet {
            return ExitCode::FAILURE;
        }
        let small = smallest(failure);
        println!("the smallest case that breaks the same promise:\n{}", json(&small));
        write_down(failure.seed, &small);
        for violation in broken(&small).iter().take(5) {
            println!("  {violation}");
        }
        return ExitCode::FAILURE;
    }
    report(&found, &asked, seconds)
}

/// Writes the case as the simulation's own file and as a scenario, with the commands to play them.
fn write_down(seed: u64, case: &Case) {
    let folder = std::env::temp_dir().join(format!("runstate-simulate-{seed}"));
    let made = as_scenario(case);
    let (json_file, scenario_file) =
        (folder.join(format!("{seed}.json")), folder.join(format!("{seed}.yaml")));
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&json_file, json(case)))
        .and_then(|()| std::fs::write(&scenario_file, made.to_file()));
    if let Err(error) = written {
        println!("it could not be written to {}: {error}", folder.display());
        return;
    }
    println!("it is in {0}; played and judged again by runstate-simulate --play {0}", json_file.display());
    println!("as a scenario it is in {0}; played by runstate run {0}", scenario_file.display());
    println!(
        "its expected result is written by runstate test {0} --accept where the fault is not, and",
        folder.display()
    );
    println!("compared by runstate test {0} where it is", folder.display());
    if !made.left_out.is_empty() {
        println!("the scenario leaves out: {}", made.left_out.join(", "));
    }
}

fn report(found: &Found, asked: &Asked, seconds: f64) -> ExitCode {
    let (cases, plays) = (found.cases, found.plays);
    println!(
        "{cases} cases from seed {} on, {plays} runs with those that die at each commit, in {seconds:.1} s: {:.0} runs/s",
        asked.seed,
        plays as f64 / seconds
    );
    if !asked.quiet {
        print!("{}", found.coverage);
        found.situations.lines().for_each(|line| println!("{line}"));
    }
    let seldom = found.situations.too_seldom(asked.runs);
    for line in &seldom {
        println!("too seldom: {line}");
    }
    if seldom.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show(case: &Case) -> ExitCode {
    println!("{}", json(case));
    let seen = play(case);
    let mut trace = seen.trace.iter().zip(1_u64..).peekable();
    for entry in &seen.entries {
        while let Some((event, _)) = trace.next_if(|(_, number)| *number <= entry.trace) {
            println!("{:>5} {} {}: {event}", event.at_ms, event.lifecycle, event.instance);
        }
        println!("{:>5} {:?}", entry.at_ms, entry.what);
    }
    for (event, _) in trace {
        println!("{:>5} {} {}: {event}", event.at_ms, event.lifecycle, event.instance);
    }
    let violations = broken(case);
    for violation in &violations {
        println!("{violation}");
    }
    if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn show_talk(talk: &Talk) -> ExitCode {
    println!("{}", serde_json::to_string_pretty(talk).unwrap_or_default());
    let seen = threads::play(talk);
    for entry in &seen.entries {
        println!("{:>5} {:?}", entry.at_ms, entry.what);
    }
    let violations = threads::judge(&seen);
    for violation in &violations {
        println!("{violation}");
    }
    if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Exports the runs of the cases and plays them again.
fn export(first: u64, asked: &Asked) -> ExitCode {
    let mut all_same = true;
    for scripted in [true, false] {
        let found = exports(first, asked.runs, scripted);
        let answers = if scripted { "the answers of the script" } else { "the answers of the record" };
        println!("with {answers}: {} of {} runs are exported and the same", found.same, asked.runs);
        found.others.iter().for_each(|(why, count)| println!("  {count} {why}"));
        found.differ.iter().for_each(|(seed, difference)| println!("  seed {seed}: {difference}"));
        // More than one run in a thousand without an order would be a fault of the search.
        let orders = found.others.get(&format!("refused: {ORDER}")).copied().unwrap_or_default();
        let is_tried = 2 * found.same > asked.runs;
        if !is_tried {
            println!("  fewer than half of the runs are exported");
        }
        all_same &= found.differ.is_empty() && orders * 1_000 <= found.same && is_tried;
    }
    if all_same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Counts the cases that a scenario expresses completely.
fn wholly(first: u64, runs: u64) -> ExitCode {
    let whole =
        (first..first + runs).filter(|seed| as_scenario(&scripted(*seed)).left_out.is_empty()).count();
    println!("{whole} of {runs} cases are wholly said by a scenario");
    ExitCode::SUCCESS
}

fn json(case: &Case) -> String {
    serde_json::to_string_pretty(case).unwrap_or_default()
}
