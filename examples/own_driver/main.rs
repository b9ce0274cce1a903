//! A driver of your own: the typed lifecycles, driven with plain blocking I/O and without any driver of this crate.
//!
//! A scripted model tidies a folder with real file tools. The delete tool waits for a decision, so the first
//! activation ends, and one file holds the whole run. A second activation restores the run from this file, replays
//! the decisions and ends the run. The program prints the transitions as a trace and checks it against the documented
//! diagrams.
//!
//! ```sh
//! cargo run --example own_driver                    # the script beside this file
//! cargo run --example own_driver -- my-script.json  # another script
//! ```
//!
//! `driver.rs` is the loop. The types fix its order: each transition requires the proof that the duty of its source
//! state was fulfilled.
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

    // The first activation: the run begins, and waits for an approval.
    let mut driver = Driver::new(Store::at(place.join("run.jsonl"))?, folder, recorder.clone());
    driver.turns.extend(script.turns);
    let run = Run::new(RunRecord::new("r1").observed(recorder.observer("r1")));
    println!("-- first activation");
    let ended = driver.activation(run)?;
    println!("the run is {}", ended.status());

    // Days later, perhaps in another process: only the file is left. The model's script continues at its position.
    let Driver { store, folder, turns, .. } = driver;
    let last = store.last()?;
    let mut driver = Driver::new(store, folder, recorder.clone());
    let run = last.restored(&recorder, &mut driver.calls)?;
    (driver.steps, driver.turns) = (last.steps(), turns);
    driver.decisions.extend(script.decisions);
    if let AnyRun::Waiting(run) = run {
        println!("-- second activation, for {}", run.calls().join(" and "));
        // A waiting run only continues with a cause.
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

/// Reports the transitions of a restored machine to the recorder.
fn observed<M: Machine>(mut machine: M, recorder: &Recorder, name: &str) -> M {
    machine.observe(recorder.observer(name));
    machine
}
