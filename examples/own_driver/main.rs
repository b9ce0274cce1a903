//! A driver of one's own: the typed lifecycles, driven with plain blocking I/O and without any driver of this crate.
//!
//! A scripted model tidies a folder with real file tools. Deleting waits for a decision, so the first activation ends, and
//! all that is known of the run is in one file. A second activation brings it back from there, replays what was decided and
//! ends the run. What happened is printed as a trace that is held against the documented diagrams.
//!
//! ```sh
//! cargo run --example own_driver                    # the script beside this file
//! cargo run --example own_driver -- my-script.json  # another one
//! ```
//!
//! `driver.rs` is the loop. It has no choice of order: from each state there is a way on with the proof that what the state
//! owes was done, and no other.
mod driver;
mod store;
mod tools;

use std::error::Error;
use std::{env, fs};

use runstate::decision::Decision;
use runstate::kernel::Machine;
use runstate::run::{AnyRun, Resume, Run, RunRecord};
use runstate::trace::{Recorder, Rulebook, check, to_text};
use runstate::turn::Turn;

use driver::Driver;
use store::Store;
use tools::Folder;

#[derive(serde::Deserialize)]
struct Script {
    turns: Vec<Turn>,
    decisions: Vec<Decision>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let script = match env::args().nth(1) {
        Some(path) => fs::read_to_string(path)?,
        None => include_str!("script.json").to_owned(),
    };
    let script: Script = serde_json::from_str(&script)?;
    let place = env::temp_dir().join(format!("runstate-own-driver-{}", std::process::id()));
    let folder = Folder::furnished(place.join("desk"), &["draft.tmp", "notes.md"])?;
    let recorder = Recorder::new("r1");

    // The first activation: the run begins, and waits for what it may not do alone.
    let mut driver = Driver::new(Store::at(place.join("run.jsonl"))?, folder, recorder.clone());
    driver.turns.extend(script.turns);
    let run = Run::new(RunRecord::new("r1").observed(recorder.observer("r1")));
    println!("-- first activation");
    let ended = driver.activation(run)?;
    println!("the run is {}", ended.status());

    // Days later, perhaps in another process: all there is left is the file. The model's script goes on where it was.
    let Driver { store, folder, turns, .. } = driver;
    let last = store.last()?;
    let mut driver = Driver::new(store, folder, recorder.clone());
    let run = last.restored(&recorder, &mut driver.calls)?;
    (driver.steps, driver.turns) = (last.steps(), turns);
    driver.decisions.extend(script.decisions);
    if let AnyRun::Waiting(run) = run {
        println!("-- second activation, for {}", run.calls().join(" and "));
        // A waiting run goes on for a cause and not without.
        let Some(first) = driver.decisions.iter().find(|decision| run.calls().contains(&decision.call))
        else {
            return Err("nothing was decided".into());
        };
        let resume = Resume::decided(first.call.clone(), first);
        let ended = driver.activation(run.resume(resume))?;
        println!("the run is {}", ended.status());
    }

    println!("-- what is left: {}", driver.folder.list()?.join(", "));
    println!("-- what happened");
    let events = recorder.take();
    print!("{}", to_text(&events));
    let report = check(&events, &Rulebook::of(runstate::lifecycles().iter().copied()));
    println!("-- held against the diagrams: {:?}", report.verdict);
    fs::remove_dir_all(place)?;
    Ok(())
}

/// Tells the recorder of a machine that came out of storage.
fn observed<M: Machine>(mut machine: M, recorder: &Recorder, name: &str) -> M {
    machine.observe(recorder.observer(name));
    machine
}
