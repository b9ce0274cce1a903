//! The store of a run: a file with one line per commit. Each line is written and synced before its receipt exists.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use runstate::checkpoint::{Due, Receipt, commit};
use runstate::decision::Decision;
use runstate::run::AnyRun;
use runstate::snapshot::Snapshot;
use runstate::tool_call::AnyToolCall;
use runstate::trace::Recorder;
use serde::{Deserialize, Serialize};

use crate::observed;

pub(crate) struct Store(PathBuf);

/// The complete state of a run after a commit.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    commit: String,
    steps: u32,
    run: Option<Snapshot>,
    calls: Vec<Snapshot>,
    /// The decision that this commit recorded.
    decision: Option<Decision>,
}

impl Kept {
    pub(crate) fn of(steps: u32, calls: &BTreeMap<String, AnyToolCall>) -> Result<Self, Box<dyn Error>> {
        let calls = calls.values().map(Snapshot::of).collect::<Result<_, _>>()?;
        Ok(Kept { commit: String::new(), steps, run: None, calls, decision: None })
    }

    pub(crate) fn with_run(mut self, run: &AnyRun) -> Result<Self, Box<dyn Error>> {
        self.run = Some(Snapshot::of(run)?);
        Ok(self)
    }

    pub(crate) fn with_decision(mut self, decision: &Decision) -> Self {
        self.decision = Some(decision.clone());
        self
    }

    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// Restores the machines, or returns the reason why the stored data is not valid.
    pub(crate) fn restored(
        &self,
        recorder: &Recorder,
        calls: &mut BTreeMap<String, AnyToolCall>,
    ) -> Result<AnyRun, Box<dyn Error>> {
        let run: AnyRun = self.run.as_ref().ok_or("the run was never committed")?.restore()?;
        for stored in &self.calls {
            let call: AnyToolCall = stored.restore()?;
            let id = call.record().id().to_owned();
            calls.insert(id.clone(), observed(call, recorder, &id));
        }
        Ok(observed(run, recorder, "r1"))
    }
}

impl Store {
    pub(crate) fn at(path: PathBuf) -> Result<Self, Box<dyn Error>> {
        File::create(&path)?;
        Ok(Store(path))
    }

    /// Makes the pending commit. The receipt exists only after the line is on the disk.
    pub(crate) fn commit(&self, due: Due, mut kept: Kept) -> Result<Receipt, Box<dyn Error>> {
        commit(due, |due| {
            kept.commit = due.to_string();
            let mut file = OpenOptions::new().append(true).open(&self.0)?;
            file.write_all(format!("{}\n", serde_json::to_string(&kept)?).as_bytes())?;
            file.sync_data()?;
            println!("   committed: {due}");
            Ok(())
        })
    }

    /// The state of the last commit.
    pub(crate) fn last(&self) -> Result<Kept, Box<dyn Error>> {
        let last = BufReader::new(File::open(&self.0)?).lines().last().ok_or("nothing was committed")??;
        Ok(serde_json::from_str(&last)?)
    }
}
