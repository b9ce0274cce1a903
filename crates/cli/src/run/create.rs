//! Creating a run.

use std::path::Path;
use std::time::Duration;

use runstate_store::{NewRun, Parts, StoreError, UserMessage};

use crate::clock::unix_ms;
use crate::failure::Failure;
use crate::keys;
use crate::runs::{self, RunFolder, Template, Token};
use crate::scenario::FromFile;
use crate::spec::Spec;
use crate::store::{Missing, Opened, StoreArgs, beside};

/// A run in a store that no process has driven yet.
#[derive(Debug)]
pub(crate) struct Created {
    pub(crate) opened: Opened,
    pub(crate) id: String,
}

/// The time for which a new run is reserved for its creating process.
const OURS: Duration = Duration::from_secs(10);

/// Creates a run: its folder, and its row in the store. A run that this process drives is reserved, so that no
/// worker claims it first.
///
/// # Errors
/// The folder cannot be made, or an error of the store. The folder is then removed, unless it is uncertain
/// whether the run was created.
pub(crate) fn create(place: &StoreArgs, file: &FromFile, is_driven_here: bool) -> Result<Created, Failure> {
    let template = file.template();
    let state_dir = place.state_dir()?;
    runs::check_template(template.as_ref(), &state_dir)?;
    if let Some(template) = &template {
        keys::keep_out_of(&template.path(), place.key_file())?;
    }
    let scenario = &file.scenario;
    let spec = |token: Token| Spec::Scenario {
        scenario: file.source.text.clone(),
        token: Some(token),
        message: None,
        message_id: None,
    };
    let new = Plan {
        name: &scenario.name,
        title: scenario.about.as_deref().unwrap_or(&scenario.message).to_owned(),
        template: template.as_ref(),
        spec: &spec,
        is_driven_here,
    };
    let folder = RunFolder::claim(&state_dir, new.name, 1)?;
    let opened = place.open(Missing::Make)?;
    let id = new.put(&opened, &state_dir, folder)?;
    Ok(Created { opened, id })
}

/// Creates a run of an agent file. Returns its id.
///
/// # Errors
/// As [`create`].
#[cfg(feature = "agents")]
pub(crate) fn create_agent_run(
    place: &StoreArgs,
    opened: &Opened,
    file: &crate::agents::FromFile,
    message: &str,
    is_driven_here: bool,
) -> Result<String, Failure> {
    let state_dir = place.state_dir()?;
    let spec = |token: Token| Spec::Agent {
        name: file.name().to_owned(),
        agent: file.text().to_owned(),
        token: Some(token),
        message: message.to_owned(),
        message_id: None,
    };
    let title = title(file.title(message));
    let new = Plan { name: file.name(), title, template: None, spec: &spec, is_driven_here };
    new.put(opened, &state_dir, RunFolder::claim(&state_dir, new.name, 1)?)
}

/// A run to be created.
struct Plan<'a> {
    name: &'a str,
    title: String,
    template: Option<&'a Template>,
    spec: &'a dyn Fn(Token) -> Spec,
    is_driven_here: bool,
}

impl Plan<'_> {
    /// Creates the run in that folder, or in the next one that is free. Returns its id.
    fn put(&self, opened: &Opened, state_dir: &Path, mut folder: RunFolder) -> Result<String, Failure> {
        while !is_put(opened, &mut folder, self)? {
            folder = next(opened, state_dir, self.name, folder.number())?;
        }
        Ok(folder.id().to_owned())
    }
}

/// Claims a folder with a number that is free in the store, after the number `taken`.
fn next(opened: &Opened, state_dir: &Path, name: &str, taken: u64) -> Result<RunFolder, Failure> {
    RunFolder::claim(state_dir, name, free(taken, |number| is_taken(opened, &runs::id(name, number)))?)
}

/// Limit on the numbers that other machines take between two runs of one machine.
const MOST_TAKEN: u64 = 10_000_000;

/// Returns a free number after `taken`. A machine that is new to a store may find many numbers taken. The
/// search therefore doubles its steps until a number is free, and then halves the interval between a taken and
/// a free number.
///
/// # Errors
/// None of [`MOST_TAKEN`] numbers is free. Another program may have written that many, and the state folder
/// would keep the number.
fn free(mut taken: u64, mut is_taken: impl FnMut(u64) -> Result<bool, Failure>) -> Result<u64, Failure> {
    let (first, mut step) = (taken, 1);
    let mut free = taken.saturating_add(step);
    // After the last number there is none; the caller reports this.
    while free < u64::MAX && is_taken(free)? {
        taken = free;
        step *= 2;
        free = taken.saturating_add(step);
        if free - first > MOST_TAKEN {
            let told = format!(
                "the store has a run of this name with the number {taken}, and this machine has {first} as the last number"
            );
            return Err(Failure::new(told)
                .with_help("give the scenario another name, or name another store; another program may have written the number"));
        }
    }
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        if is_taken(middle)? { taken = middle } else { free = middle }
    }
    Ok(free)
}

/// Fills the folder and creates its run in the store. Returns false if the number is taken: other machines may share a
/// store.
fn is_put(opened: &Opened, folder: &mut RunFolder, plan: &Plan<'_>) -> Result<bool, Failure> {
    // Avoids a useless copy.
    if is_taken(opened, folder.id())? {
        return Ok(false);
    }
    folder.fill(plan.template)?;
    let spec = (plan.spec)(folder.token().clone());
    let mut run = NewRun::new(folder.id(), spec.to_json()?, unix_ms()).titled(&*plan.title);
    if plan.is_driven_here {
        run = run.not_before(OURS);
    }
    match put(opened, &run) {
        Ok(()) => {
            folder.keep();
            Ok(true)
        }
        // Another process was faster.
        Err(StoreError::Taken { .. }) => Ok(false),
        Err(error @ StoreError::Unavailable(_)) => {
            // A run that may exist needs its folder.
            folder.keep();
            let (id, again) = (folder.id(), opened.again());
            let note = again.note();
            let what = format!("{}: {error}; the run {id} may have been created", opened.url());
            Err(Failure::new(what).with_help(format!(
                "when the store can be reached, `runstate show {id}{again}`{note} shows the run if it was created; if not, the folder {} \
                 belongs to no run",
                folder.path().display()
            )))
        }
        Err(error) => Err(opened.failure(&error)),
    }
}

/// A folder for a run after another one on its thread, and the run. The folder is a copy of the previous one, as its run
/// left it. `taken` is the last number that another machine took, and `driven` the agent file of a run that this process
/// drives.
///
/// # Errors
/// The previous run belongs to another program, or its folder is missing; or the new folder cannot be made.
pub(crate) fn follow(
    opened: &Opened,
    state_dir: &Path,
    before: &Parts,
    message: &UserMessage,
    (taken, driven): (Option<u64>, Option<&(String, String)>),
) -> Result<(RunFolder, NewRun), Failure> {
    let last = &before.info.id;
    let spec = Spec::read(&before.spec, last)?;
    let name = spec.name()?;
    let folder = match taken {
        Some(taken) => next(opened, state_dir, &name, taken)?,
        None => RunFolder::claim(state_dir, &name, 1)?,
    };
    if spec.copies_a_folder()? {
        runs::open(state_dir, last, spec.token())?;
        folder.fill(Some(&Template::of_run(state_dir, last)))?;
    } else {
        folder.fill(None)?;
    }
    let mut spec = spec.followed(message, folder.token());
    if let (Spec::Agent { name, agent, .. }, Some(file)) = (&mut spec, driven) {
        (*name, *agent) = file.clone();
    }
    let mut run = NewRun::new(folder.id(), spec.to_json()?, message.at_ms).titled(title(&message.text));
    if driven.is_some() {
        run = run.not_before(OURS);
    }
    Ok((folder, run))
}

/// The first words of a message, for lists: a store may write the title with each commit.
fn title(message: &str) -> String {
    const MOST: usize = 200;
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// Creates a run. A lost reply is requested again: an existing run is then this one.
fn put(opened: &Opened, run: &NewRun) -> Result<(), StoreError> {
    let create = || beside(opened.handle(), opened.store.create(run));
    match create() {
        Err(StoreError::Unavailable(_)) => {}
        made => return made,
    }
    match create() {
        Err(error @ StoreError::Taken { .. }) => {
            let there = beside(opened.handle(), opened.store.load(&run.id))?;
            // Another machine may have been faster.
            let is_this = there.spec == run.spec && there.info.created_at_ms == run.at_ms;
            if is_this { Ok(()) } else { Err(error) }
        }
        made => made,
    }
}

fn is_taken(opened: &Opened, run: &str) -> Result<bool, Failure> {
    beside(opened.handle(), opened.store.is_given(run)).map_err(|error| opened.failure(&error))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use runstate_store::{MemoryStore, PendingSignals, RunData, RunStore, Wrapper};

    use super::*;
    use crate::scenario;

    /// A store in which another machine gives a run the number 1 directly after it was found free.
    #[derive(Debug, Default)]
    struct Shared(MemoryStore);

    #[async_trait]
    impl Wrapper for Shared {
        fn inner(&self) -> &dyn RunStore {
            &self.0
        }

        async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
            // A second run of that id changes nothing.
            self.0.create(&NewRun::new("pay-1", serde_json::Value::Null, 1)).await.ok();
            self.0.create(run).await
        }
    }

    /// Steps are doubled, and the step after 8,388,607 numbers would exceed ten million.
    #[test]
    fn a_free_number_is_among_8_388_607_and_no_more() {
        let behind = |taken: u64| free(5, |number| Ok(number <= 5 + taken));
        assert_eq!(behind(8_388_606).unwrap(), 5 + 8_388_607);
        let refused = behind(8_388_607).unwrap_err();
        assert!(
            refused.message().contains("with the number 8388612, and this machine has 5"),
            "{}",
            refused.message()
        );
    }

    #[test]
    fn run_number_taken_by_another_machine_is_not_claimed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("pay.yaml");
        std::fs::write(&path, "name: pay\nmessage: go\nmodel: [{text: done}]\n").unwrap();
        let file = scenario::read(path.to_str().unwrap()).unwrap();
        let spec = |token: Token| Spec::Scenario {
            scenario: file.source.text.clone(),
            token: Some(token),
            message: None,
            message_id: None,
        };
        let (title, is_driven_here) = (String::new(), false);
        let plan = Plan { name: "pay", title, template: None, spec: &spec, is_driven_here };
        let opened = Opened::over(Arc::new(Shared::default()));

        let mut first = RunFolder::claim(place.path(), "pay", 1).unwrap();
        assert!(!is_put(&opened, &mut first, &plan).unwrap());
        let one = first.path().to_owned();
        drop(first);
        assert!(!one.exists(), "its folder is of no run");

        let mut second = RunFolder::claim(place.path(), "pay", 2).unwrap();
        assert!(is_put(&opened, &mut second, &plan).unwrap());
        assert_eq!(second.id(), "pay-2");
        let there = opened.handle().block_on(opened.store.load("pay-2")).unwrap();
        assert_eq!(Spec::of(&there).unwrap().token(), Some(second.token()));
    }

    /// A store that counts the searches for a number.
    #[derive(Debug, Default)]
    struct Counted {
        store: MemoryStore,
        looks: AtomicUsize,
    }

    #[async_trait]
    impl Wrapper for Counted {
        fn inner(&self) -> &dyn RunStore {
            &self.store
        }

        async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
            self.looks.fetch_add(1, Ordering::Relaxed);
            self.store.pending_signals(run).await
        }
    }

    #[test]
    fn new_machine_finds_the_next_run_number_in_few_lookups() {
        const RUNS: u64 = 10_000;
        let place = tempfile::tempdir().unwrap();
        let counted = Arc::new(Counted::default());
        let opened = Opened::over(Arc::clone(&counted) as Arc<dyn RunStore>);
        opened.handle().block_on(async {
            for number in 1..=RUNS {
                let run = NewRun::new(runs::id("pay", number), serde_json::Value::Null, number);
                counted.store.create(&run).await.unwrap();
            }
        });
        let folder = next(&opened, place.path(), "pay", 1).unwrap();
        assert_eq!(folder.number(), RUNS + 1);
        let looks = counted.looks.load(Ordering::Relaxed);
        assert!(looks <= 32, "it looked {looks} times");
    }

    #[test]
    fn a_number_that_is_found_is_free_and_behind_one_that_is_taken() {
        for runs in [1..=1, 1..=2, 1..=3, 1..=100, 5..=7] {
            let first = *runs.start();
            assert_eq!(free(first, |number| Ok(runs.contains(&number))).unwrap(), runs.end() + 1, "{runs:?}");
        }
        // There may be gaps, of removed runs.
        let found = free(1, |number| Ok(number % 8 != 0)).unwrap();
        assert_eq!(found % 8, 0);
        assert_eq!(free(u64::MAX, |_| Ok(true)).unwrap(), u64::MAX);
        assert_eq!(free(1, |number| Ok(number < 8_000_000)).unwrap(), 8_000_000);
        let told = free(1, |_| Ok(true)).unwrap_err().to_string();
        assert!(told.contains("this machine has 1 as the last number"), "{told}");
    }
}
