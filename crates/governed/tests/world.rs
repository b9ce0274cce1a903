//! A world for governed runs: a disk, a clock, what the tools touch, and a script of how everything goes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use runstate::approval::{ApprovalId, Risk};
use runstate::governed_run::{GovernedRunStatus, Opinion, RunId};
use runstate::snapshot::Keyring;
use runstate_governed::*;
use runstate_runtime::clock::{Clock, TokioClock};
use runstate_runtime::files::{Disk, SimDisk, Survives};

/// 31 January 2026, 12:00:00 UTC.
pub(crate) const T: u64 = 1_769_860_800_000;
pub(crate) const RUN: &str = "RUN-PROJECT-20260131-120000";

/// How a part's turn goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    Pass,
    /// Passes, with a risk.
    Risky(Risk),
    Fail,
    /// Asks for another action, then goes on as the reply says.
    Ask(&'static str),
    Halt,
    Crash,
    Panic,
    /// A pass without evidence.
    Invalid,
    /// Takes so many milliseconds, and then goes as the other says.
    After(u64, Box<Reply>),
}

#[derive(Debug, Clone)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) read_only: bool,
    /// By call, counted over the whole life of the run; the last one goes on for ever.
    pub(crate) replies: Vec<Reply>,
}

impl Tool {
    pub(crate) fn new(name: &'static str, replies: impl IntoIterator<Item = Reply>) -> Tool {
        Tool { name, read_only: false, replies: replies.into_iter().collect() }
    }

    pub(crate) fn read_only(self) -> Tool {
        Tool { read_only: true, ..self }
    }
}

/// How a person answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Answer {
    Approve,
    Reject,
    Escalate,
    /// Nobody does: time passes, and the sweeper comes.
    Never,
}

/// How everything goes.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) tools: Vec<Tool>,
    pub(crate) auto: Vec<&'static str>,
    pub(crate) plan_risk: Option<Risk>,
    /// Must a person approve of the plan?
    pub(crate) plan_asks: bool,
    /// By turn of planning; the last one goes on for ever.
    pub(crate) plans: Vec<Reply>,
    pub(crate) verify: Vec<Reply>,
    pub(crate) audits: Vec<(&'static str, Vec<Reply>)>,
    pub(crate) rollback: Vec<Reply>,
    /// By number of the approval, from 1; the last one goes on for ever.
    pub(crate) answers: Vec<Answer>,
    pub(crate) keys: Option<Keyring>,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            tools: vec![Tool::new("build", [Reply::Pass]), Tool::new("deploy", [Reply::Pass])],
            auto: vec!["build"],
            plan_risk: None,
            plan_asks: false,
            plans: vec![Reply::Pass],
            verify: vec![Reply::Pass],
            audits: vec![("security", vec![Reply::Pass]), ("quality", vec![Reply::Pass])],
            rollback: vec![Reply::Pass],
            answers: vec![Answer::Approve],
            keys: None,
        }
    }
}

/// What there is beside the run's own files, and outlives every crash.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// The folder that the tools write to.
    pub(crate) folder: BTreeMap<String, String>,
    /// Each call of a tool: its name, the try, and the action that was granted for it.
    pub(crate) calls: Vec<(String, u32, Option<String>)>,
    pub(crate) turns: BTreeMap<String, usize>,
    pub(crate) rollbacks: usize,
}

type Shared = Arc<Mutex<Outside>>;

pub(crate) fn untouched() -> BTreeMap<String, String> {
    BTreeMap::from([("README".to_owned(), "as it was".to_owned())])
}

pub(crate) struct World {
    pub(crate) disk: SimDisk,
    pub(crate) clock: Arc<TokioClock>,
    pub(crate) outside: Shared,
    pub(crate) script: Script,
    pub(crate) rules: Rules,
    pub(crate) keys: Option<Keyring>,
    /// What survives a crash.
    pub(crate) survives: Survives,
    pub(crate) crashes: usize,
}

pub(crate) fn folders() -> Folders {
    Folders::new("/runs")
}

fn turn(outside: &Shared, who: &str, replies: &[Reply]) -> Reply {
    let mut outside = outside.lock().unwrap();
    let turn = outside.turns.entry(who.to_owned()).or_default();
    let reply = replies[(*turn).min(replies.len() - 1)].clone();
    *turn += 1;
    reply
}

struct Part {
    outside: Shared,
    name: &'static str,
    replies: Vec<Reply>,
    plan: ProposedPlan,
}

impl Part {
    /// The next reply, after the time it takes.
    async fn reply(&self) -> Reply {
        let mut reply = turn(&self.outside, self.name, &self.replies);
        while let Reply::After(ms, then) = reply {
            tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
            reply = *then;
        }
        assert!(reply != Reply::Panic, "a part panics");
        reply
    }
}

#[async_trait]
impl Planner for Part {
    async fn plan(&self, _: &RunId, objection: Option<&str>) -> Result<ProposedPlan, PartError> {
        match self.reply().await {
            Reply::Pass => Ok(self.plan.clone()),
            Reply::Ask(tool) => Ok(ProposedPlan::of([tool])),
            _ => Err(PartError::new(format!("no idea, after {objection:?}"))),
        }
    }
}

#[async_trait]
impl Verifier for Part {
    async fn verify(&self, run: &RunView<'_>) -> Result<Vec<String>, PartError> {
        match self.reply().await {
            Reply::Pass => Ok(vec![format!("{} tools completed", run.completed)]),
            Reply::Invalid => Ok(vec![" ".to_owned()]),
            _ => Err(PartError::new("a test fails")),
        }
    }
}

#[async_trait]
impl Auditor for Part {
    fn name(&self) -> &str {
        self.name
    }

    async fn audit(&self, _: &RunView<'_>) -> Result<(Opinion, String), PartError> {
        match self.reply().await {
            Reply::Pass => Ok((Opinion::Pass, "fine".to_owned())),
            Reply::Fail => Ok((Opinion::Fail, "not fine".to_owned())),
            _ => Err(PartError::new("no access")),
        }
    }
}

#[async_trait]
impl Rollback for Part {
    async fn roll_back(&self, run: &RunView<'_>, _: &str) -> Result<(), Vec<String>> {
        assert_eq!(run.baseline, Some("as it was"), "it outlives a crash");
        self.outside.lock().unwrap().rollbacks += 1;
        // Half of it is done when it is dropped or panics.
        self.outside.lock().unwrap().folder.retain(|name, _| name != "build");
        match self.reply().await {
            Reply::Pass => {
                self.outside.lock().unwrap().folder = untouched();
                Ok(())
            }
            _ => Err(vec!["no backup of deploy".to_owned()]),
        }
    }
}

struct AskAPerson;

#[async_trait]
impl PlanApproval for AskAPerson {
    async fn decide(&self, _: &RunId, _: &ProposedPlan) -> PlanAnswer {
        PlanAnswer::Undecided
    }
}

struct ScriptedTool {
    part: Part,
    read_only: bool,
}

#[async_trait]
impl GovernedTool for ScriptedTool {
    fn name(&self) -> &str {
        self.part.name
    }

    fn action(&self, _: &RunView<'_>) -> Action {
        Action::new(format!("run {}", self.part.name), Risk::High)
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    async fn call(&self, call: &Call<'_>) -> Result<ToolOutput, PartError> {
        let name = self.part.name;
        let granted = call.granted.map(|request| request.action().to_owned());
        {
            let mut outside = self.part.outside.lock().unwrap();
            outside.calls.push((name.to_owned(), call.number, granted));
            if !self.read_only {
                outside.folder.insert(name.to_owned(), format!("by try {}", call.number));
            }
        }
        let output = match self.part.reply().await {
            Reply::Pass => ToolOutput::pass([format!("{name} is done")]),
            Reply::Risky(risk) => ToolOutput::pass([format!("{name} is done")]).with_risk(risk, "may break"),
            Reply::Fail => ToolOutput::fail(format!("{name} found no compiler")),
            Reply::Ask(action) => ToolOutput::needs_approval(Action::new(action, Risk::High)),
            Reply::Halt => ToolOutput::halted("a secret was found"),
            Reply::Invalid => ToolOutput::pass(Vec::<String>::new()),
            Reply::Crash | Reply::Panic | Reply::After(..) => return Err(PartError::new("signal 11")),
        };
        Ok(if self.read_only { output } else { output.with_change("created", name) })
    }
}

impl World {
    pub(crate) fn new(script: Script) -> World {
        let rules =
            Rules { gates: Gates::new(script.auto.clone(), Vec::<String>::new()), ..Rules::default() };
        let outside = Outside { folder: untouched(), ..Outside::default() };
        World {
            disk: SimDisk::new(),
            clock: Arc::new(TokioClock::starting_at(T)),
            outside: Arc::new(Mutex::new(outside)),
            keys: script.keys.clone(),
            script,
            rules,
            survives: Survives::Nothing,
            crashes: 0,
        }
    }

    fn part(&self, name: &'static str, replies: &[Reply]) -> Part {
        let plan = ProposedPlan {
            tools: self.script.tools.iter().map(|tool| tool.name.to_owned()).collect(),
            risks: self
                .script
                .plan_risk
                .map(|risk| DeclaredRisk::new(risk, "drops a table"))
                .into_iter()
                .collect(),
            baseline: Some("as it was".to_owned()),
            ..ProposedPlan::default()
        };
        Part { outside: Arc::clone(&self.outside), name, replies: replies.to_vec(), plan }
    }

    /// The parts, as the script has them.
    pub(crate) fn parts(&self) -> Parts {
        let script = &self.script;
        let tools = script.tools.iter().map(|tool| {
            let part = self.part(tool.name, &tool.replies);
            Box::new(ScriptedTool { part, read_only: tool.read_only }) as Box<dyn GovernedTool>
        });
        let auditors = script
            .audits
            .iter()
            .map(|(name, replies)| Box::new(self.part(name, replies)) as Box<dyn Auditor>);
        Parts {
            planner: Box::new(self.part("planner", &script.plans)),
            plan_approval: if script.plan_asks { Box::new(AskAPerson) } else { Box::new(AutoApproved) },
            tools: tools.collect(),
            verifier: Box::new(self.part("verifier", &script.verify)),
            auditors: auditors.collect(),
            rollback: Box::new(self.part("rollback", &script.rollback)),
        }
    }

    /// A governor of a process that was just started.
    pub(crate) fn governor(&self) -> Governor {
        self.governor_of(self.parts())
    }

    pub(crate) fn governor_of(&self, parts: Parts) -> Governor {
        let clock: Arc<dyn Clock> = self.clock.clone();
        let disk = Arc::new(self.disk.clone());
        let governor = Governor::new(disk, folders(), clock, parts, self.rules.clone()).unwrap();
        match &self.keys {
            Some(keys) => governor.keyed(keys.clone()),
            None => governor,
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now_ms()
    }

    pub(crate) fn file(&self, path: impl AsRef<std::path::Path>) -> String {
        String::from_utf8(self.disk.read(path.as_ref(), 1 << 30).unwrap()).unwrap()
    }

    pub(crate) fn answer(&self, approval: &ApprovalId) -> Answer {
        self.script.answers[(number(approval) - 1).min(self.script.answers.len() - 1)]
    }

    fn is_last_answer(&self, approval: &ApprovalId) -> bool {
        number(approval) >= self.script.answers.len()
    }

    /// The machine starts again if it crashed; any other error is the test's.
    pub(crate) fn started_again<X>(&mut self, result: Result<X, GovernedError>) -> Option<X> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                assert!(self.disk.is_crashed(), "{error}");
                self.disk.restart(self.survives);
                self.crashes += 1;
                None
            }
        }
    }

    /// Lives a run to its end, through crashes, each answer as the script says; every process does one thing.
    pub(crate) async fn live(&mut self) -> (RunId, GovernedRunStatus) {
        self.live_from(None).await
    }

    /// Lives a run on that has begun.
    pub(crate) async fn live_on(&mut self, run: &RunId) -> GovernedRunStatus {
        self.live_from(Some(run.clone())).await.1
    }

    /// The end of the run; or, when a crash came first, what there is of it.
    pub(crate) async fn live_until_crash(
        &mut self,
        mut run: Option<RunId>,
    ) -> Result<(RunId, GovernedRunStatus), Option<RunId>> {
        let crashes = self.crashes;
        for _ in 0..200 {
            let step = self.live_a_step(&mut run).await;
            if let Some(end) = step {
                return Ok(end);
            }
            if self.crashes > crashes {
                return Err(run);
            }
        }
        panic!("the run does not end");
    }

    pub(crate) async fn live_from(&mut self, run: Option<RunId>) -> (RunId, GovernedRunStatus) {
        let mut found = run;
        loop {
            match self.live_until_crash(found).await {
                Ok(end) => return end,
                Err(run) => found = run,
            }
        }
    }

    async fn live_a_step(&mut self, run: &mut Option<RunId>) -> Option<(RunId, GovernedRunStatus)> {
        let governor = self.governor();
        let Some(id) = run.clone() else {
            let started = governor.start("PROJECT").await;
            *run = match self.started_again(started) {
                Some(progressed) => Some(progressed.run),
                // A run that left no state never began; another is made.
                None => folders()
                    .list(&self.disk)
                    .unwrap_or_default()
                    .into_iter()
                    .find(|run| self.disk.read(&folders().state(run), 1 << 20).is_ok()),
            };
            return None;
        };
        let resumed = governor.resume(&id).await;
        let progressed = self.started_again(resumed)?;
        if progressed.status.is_terminal() {
            return Some((id, progressed.status));
        }
        match progressed.waits {
            Some(AwaitedInput::Approval(pending)) => match self.answer(&pending.id) {
                Answer::Approve => {
                    let done = governor.approve(&id, &pending.id, "ada", "looks fine").await;
                    self.started_again(done);
                }
                Answer::Reject => {
                    let done = governor.reject(&id, &pending.id, "ada", "too risky").await;
                    let is_planning = self.started_again(done) == Some(GovernedRunStatus::Planning);
                    if is_planning && self.is_last_answer(&pending.id) {
                        // Nobody will ever want a plan; the run expires where it is.
                        self.sweep_after(5 * 60 * 1000).await;
                    }
                }
                Answer::Escalate => {
                    let done = governor.escalate(&id, &pending.id, "ada", "the board decides").await;
                    self.started_again(done);
                }
                Answer::Never => self.sweep_after(24 * 60 * 60 * 1000).await,
            },
            Some(AwaitedInput::Plan { .. }) => self.sweep_after(5 * 60 * 1000).await,
            other => panic!("{:?} waits for {other:?}", progressed.status),
        }
        None
    }

    pub(crate) async fn sweep_after(&mut self, ms: u64) {
        tokio::time::advance(std::time::Duration::from_millis(ms)).await;
        let swept = self.sweep(&self.governor()).await;
        for (_, went) in swept {
            self.started_again(went.map(drop));
        }
    }

    /// Where each run went that has expired, or why it did not.
    pub(crate) async fn sweep(
        &self,
        governor: &Governor,
    ) -> Vec<(RunId, Result<GovernedRunStatus, GovernedError>)> {
        let mut swept = Vec::new();
        for run in folders().list(&self.disk).unwrap_or_default() {
            match governor.expire(&run).await.transpose() {
                // It left no state, and never began.
                None | Some(Err(GovernedError::NoSuchRun { .. })) => {}
                Some(went) => swept.push((run, went)),
            }
        }
        swept
    }
}

fn number(approval: &ApprovalId) -> usize {
    approval.as_str().rsplit("-A").next().unwrap().parse().unwrap()
}
