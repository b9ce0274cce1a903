//! The plan file: the commands, their folder and their gates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use runstate::approval::Risk;
use runstate::governed_run::{GovernedRunStatus, RunId, TimeLimits};
use runstate::snapshot::Keyring;
use runstate_governed::{
    Auditor, AutoApproved, DeclaredRisk, Gates, GovernedTool, PartError, Parts, PlanAnswer, PlanApproval,
    Planner, ProposedPlan,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::auditors::{CommandAuditor, CommandVerifier};
use super::command_tool::{CommandTool, shown};
use super::process::{Idle, Place};
use super::progress::Progress;
use super::snapshot::{FolderRollback, Snapshot};
use super::work::Work;
use crate::failure::Failure;
use crate::input::{self, Text};
use crate::meant::did_you_mean;
use crate::output::printable;
use crate::scenario::from_yaml;

/// The maximum size of a plan, in bytes.
const LIMIT: u64 = 1 << 20;
/// The maximum size of a stored plan, which contains each field.
const STORED_LIMIT: u64 = 16 << 20;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// The project, in the run's id: A to Z, 0 to 9 and `-`.
    pub(crate) project: String,
    /// The working folder of the commands, relative to the plan file.
    #[serde(deserialize_with = "folder")]
    pub(crate) folder: PathBuf,
    /// Work in the folder itself instead of a fresh copy.
    #[serde(default)]
    pub(crate) in_place: bool,
    /// The id of the folder at the start of its run, in a stored plan.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) taken: Option<String>,
    /// The entries with ignored names at the start of a run in place, by id. In a stored plan.
    #[serde(skip_deserializing, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) ignored: BTreeMap<String, PathBuf>,
    /// Ignored names below the folder, such as build outputs: not copied, not rolled back.
    #[serde(default)]
    pub(crate) ignore: Vec<PathBuf>,
    #[serde(default)]
    plan_approval: Approval,
    #[serde(default)]
    pub(crate) gates: Gates,
    /// Seconds by state, replacing the documented limits.
    #[serde(default)]
    limits_seconds: BTreeMap<GovernedRunStatus, u64>,
    #[serde(default = "yes")]
    pub(crate) chained_ledger: bool,
    tools: Vec<ToolSpec>,
    verify: Vec<Command>,
    audit: Vec<AuditSpec>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Approval {
    /// By rule.
    #[default]
    Auto,
    /// By a person.
    Ask,
    /// Never: for a missing plan.
    #[serde(skip)]
    Never,
}

/// A program with arguments.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Command {
    /// The program and its arguments, without a shell.
    pub(super) run: Vec<String>,
    /// Its folder, relative to the working folder.
    #[serde(default)]
    pub(super) folder: PathBuf,
    #[serde(default = "ten_minutes")]
    pub(super) time_limit_seconds: u64,
}

impl Command {
    fn of(run: &[String], folder: &Path, time_limit_seconds: u64) -> Self {
        Command { run: run.to_vec(), folder: folder.to_path_buf(), time_limit_seconds }
    }

    /// The complete command, with its folder.
    pub(super) fn in_words(&self, work: &Path) -> String {
        // Joining an empty path would add a separator.
        let folder: PathBuf = work.join(&self.folder).components().collect();
        format!("run {} in {}", shown(&self.run), folder.display())
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolSpec {
    pub(super) name: String,
    pub(super) run: Vec<String>,
    #[serde(default)]
    pub(super) folder: PathBuf,
    #[serde(default = "ten_minutes")]
    pub(super) time_limit_seconds: u64,
    /// The command changes nothing: after a crash it runs again.
    #[serde(default)]
    pub(super) read_only: bool,
    /// The risk of its action. A high risk needs approval at each gate, and a critical one halts the plan. Default: the gate
    /// alone decides, and a high reported risk is shown.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub(super) risk: Option<Risk>,
    #[serde(default)]
    pub(super) output: OutputForm,
}

impl ToolSpec {
    pub(super) fn command(&self) -> Command {
        Command::of(&self.run, &self.folder, self.time_limit_seconds)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutputForm {
    /// Evidence; the exit code is the result.
    #[default]
    Text,
    /// One JSON object with status, evidence, error, risks, changes, action; in the file of `RUNSTATE_OUTPUT`, if it exists.
    Json,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditSpec {
    reviewer: String,
    run: Vec<String>,
    #[serde(default)]
    folder: PathBuf,
    #[serde(default = "ten_minutes")]
    time_limit_seconds: u64,
}

/// A folder name. An empty one would be the folder of the plan file.
fn folder<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    match Option::<PathBuf>::deserialize(from)? {
        Some(folder) if !folder.as_os_str().is_empty() => Ok(folder),
        _ => Err(D::Error::custom("the name of a folder is empty: expected a path, as `folder: site`")),
    }
}

fn yes() -> bool {
    true
}

fn ten_minutes() -> u64 {
    600
}

/// Reads a present field. An empty one is a mistake.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Risk>, D::Error> {
    Risk::deserialize(from).map(Some)
}

#[derive(Debug)]
pub(crate) struct PlanFile {
    pub(crate) plan: Plan,
    base: PathBuf,
}

const START: &str =
    "start from examples/tiny-crate.yaml: a plan has the fields project, folder, tools, verify and audit";

pub(crate) fn read(path: &str) -> Result<PlanFile, Failure> {
    let source = input::read_text(path, LIMIT)?;
    let plan = checked(from_yaml(&source, START)?, &source)?;
    let base = Path::new(path).parent().unwrap_or(Path::new("")).to_path_buf();
    Ok(PlanFile { plan, base })
}

fn checked(plan: Plan, source: &Text) -> Result<Plan, Failure> {
    plan.check().map_err(|fault| Failure::new(format!("{}: {fault}", source.name)))?;
    Ok(plan)
}

/// Reads the stored plan of a run.
pub(super) fn read_stored(path: &Path, run: &RunId, keys: Option<&Keyring>) -> Result<Plan, Failure> {
    let source = input::read_text(&path.to_string_lossy(), STORED_LIMIT)?;
    let tagged = source.text.strip_prefix(TAG).and_then(|rest| rest.split_once('\n'));
    let (tag, text) = tagged.map_or((None, source.text.as_str()), |(tag, text)| (Some(tag), text));
    let failed = |why: &dyn std::fmt::Display| Failure::new(format!("{}: {why}", source.name));
    Keyring::admits(keys, &["plan", run.as_str()], text.as_bytes(), tag).map_err(|why| failed(&why))?;
    // The ids are no fields of a plan file.
    let read = || {
        let mut fields: serde_json::Map<String, serde_json::Value> = runstate::json::from_str(text)?;
        let taken = fields.remove("taken").map(serde_json::from_value).transpose()?;
        let ignored = fields.remove("ignored").map(serde_json::from_value).transpose()?.unwrap_or_default();
        let plan = serde_json::from_value(fields.into())?;
        Ok::<_, serde_json::Error>(Plan { taken, ignored, ..plan })
    };
    checked(read().map_err(|error| failed(&error))?, &source)
}

/// A stored plan is JSON, which is YAML. With a key it begins with its tag, which is a comment for YAML.
const TAG: &str = "# tag ";

impl PlanFile {
    pub(super) fn folder(&self) -> Result<PathBuf, Failure> {
        let folder = self.base.join(&self.plan.folder);
        if folder.is_dir() {
            return Ok(folder);
        }
        let is = if folder.exists() { "is no folder" } else { "is not there" };
        Err(Failure::new(format!("the plan's folder {} {is}", folder.display()))
            .with_help("`folder` is relative to the plan file"))
    }
}

pub(super) fn tagged(text: &str, run: &RunId, keys: Option<&Keyring>) -> String {
    match keys {
        Some(keys) => format!("{TAG}{}\n{text}", keys.tag(&["plan", run.as_str()], text.as_bytes())),
        None => text.to_owned(),
    }
}

impl Plan {
    /// The tools that run without an approval. A high-risk action waits for a person, so a tool with that risk in the plan
    /// is not among them, whatever its gate.
    pub(super) fn gates(&self) -> Gates {
        let is_risky = |tool: &ToolSpec| tool.risk.is_some_and(Risk::needs_approval);
        let auto = self.tools.iter().filter(|tool| !is_risky(tool) && !self.gates.requires(&tool.name));
        Gates::new(auto.map(|tool| tool.name.clone()), [""; 0])
    }

    /// The plan in its stored form.
    pub(super) fn text(&self) -> Result<String, Failure> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Failure::new(format!("cannot write the plan: {error}")))?;
        if text.len() as u64 > STORED_LIMIT {
            let why = format!("expected a plan of at most {STORED_LIMIT} bytes, got {}", text.len());
            return Err(Failure::new(why).with_help("split it into several plans"));
        }
        Ok(text)
    }

    /// The digest of the complete plan: its run is bound to it.
    pub(super) fn digest(&self) -> Result<String, Failure> {
        // No run is bound to this.
        if self.plan_approval == Approval::Never {
            return Ok("no plan".to_owned());
        }
        let plan = serde_json::to_value(self)
            .map_err(|error| Failure::new(format!("cannot write the plan: {error}")))?;
        Ok(runstate::decision::digest(&plan))
    }

    /// For a run that ended before it had a plan: it has no tools, and can only expire.
    pub(super) fn none(run: &RunId) -> Plan {
        Plan {
            project: run.project().to_owned(),
            plan_approval: Approval::Never,
            chained_ledger: true,
            // A governor needs a reviewer.
            audit: vec![AuditSpec { reviewer: "none".to_owned(), ..AuditSpec::default() }],
            ..Plan::default()
        }
    }

    fn check(&self) -> Result<(), String> {
        let commands = self
            .tools
            .iter()
            .map(|tool| (tool.name.as_str(), tool.command()))
            .chain(self.verify.iter().map(|verify| ("verify", verify.clone())))
            .chain(self.audit.iter().map(|audit| (audit.reviewer.as_str(), audit.command())));
        for (name, command) in commands {
            let name = printable(name);
            match command.run.first().map(String::as_str) {
                None => return Err(format!("{name} has no program to run: `run` is empty")),
                Some("") => return Err(format!("{name} has a program without a name")),
                Some(_) => {}
            }
            if let Some(word) = command.run.iter().find(|word| word.contains('\0')) {
                return Err(format!("{name} has a NUL character in `run`: {word:?}"));
            }
            if command.time_limit_seconds == 0 {
                return Err(format!("{name} has a time limit of 0 seconds"));
            }
            inside(&command.folder).map_err(|why| format!("the folder of {name} {why}"))?;
        }
        for path in &self.ignore {
            inside(path).map_err(|why| format!("an ignored name {why}"))?;
        }
        if self.verify.is_empty() {
            return Err("`verify` is empty: expected at least one command".to_owned());
        }
        if self.audit.is_empty() {
            return Err("`audit` is empty: expected at least one reviewer".to_owned());
        }
        if let Some(blank) = self.tools.iter().find(|tool| tool.name.trim().is_empty()) {
            return Err(format!("a tool that runs {:?} has no name", blank.run));
        }
        // A gate without its tool is a mistake: the intended tool would run without the gate.
        let names = || self.tools.iter().map(|tool| tool.name.as_str());
        if let Some(gate) = self.gates.names().find(|gate| names().all(|name| name != *gate)) {
            let tools = names().collect::<Vec<_>>().join(", ");
            let near = did_you_mean(gate, names());
            return Err(format!("`gates` names the tool {gate:?}: expected one of {tools}{near}"));
        }
        if self.tools.is_empty() {
            return Err("`tools` is empty: expected at least one tool".to_owned());
        }
        // The second is irrelevant here, and the message stays constant.
        RunId::new(&self.project, 0).map_err(|error| format!("project: {error}"))?;
        self.limits().map(drop)
    }

    pub(super) fn limits(&self) -> Result<TimeLimits, String> {
        self.limits_seconds.iter().try_fold(TimeLimits::default(), |limits, (state, seconds)| {
            limits
                .with(*state, seconds.saturating_mul(1000))
                .map_err(|error| format!("limits_seconds: {error}"))
        })
    }

    /// The checks of the results, in words.
    fn checks(&self, work: &Path) -> impl Iterator<Item = String> {
        let verify = self.verify.iter().map(|verify| format!("verify: {}", verify.in_words(work)));
        let audit = self.audit.iter();
        verify.chain(
            audit.map(|audit| format!("audit by {}: {}", audit.reviewer, audit.command().in_words(work))),
        )
    }

    /// The risks for the folder, in a question about the plan.
    fn of_folder(&self, work: &Path) -> impl Iterator<Item = DeclaredRisk> {
        let names: Vec<_> = self.ignore.iter().map(|name| name.to_string_lossy()).collect();
        let in_place = format!("the tools change {} itself (in_place)", work.display());
        let ignored = format!("no rollback restores the ignored names {}", names.join(", "));
        let risks = [(self.in_place, in_place), (!names.is_empty(), ignored)];
        let is_asked = self.plan_approval == Approval::Ask;
        let risks = risks.into_iter().filter(move |(is_so, _)| *is_so && is_asked);
        risks.map(|(_, what)| DeclaredRisk::new(Risk::Medium, what))
    }

    pub(super) fn parts(mut self, run: &Path, progress: Arc<Progress>, idle: Idle) -> Parts {
        // A copy lies beside its run, wherever the run was moved.
        if !self.in_place {
            self.folder = run.join(super::WORK);
        }
        let work = Work { path: std::mem::take(&mut self.folder), taken: self.taken.take() };
        let ignored = std::mem::take(&mut self.ignored);
        let snapshot = Snapshot::new(run.join("snapshot"), work.clone(), self.ignore.clone(), ignored);
        let checks = self.checks(&work.path).collect();
        let place = Place {
            work: work.clone(),
            run: run.to_path_buf(),
            progress: Arc::clone(&progress),
            idle: idle.clone(),
        };
        let critical = self.tools.iter().filter(|tool| tool.risk == Some(Risk::Critical)).map(critical);
        let planner = AsWritten {
            tools: self.tools.iter().map(|tool| tool.name.clone()).collect(),
            risks: critical.chain(self.of_folder(&work.path)).collect(),
            checks,
            snapshot: snapshot.clone(),
        };
        let tools = self.tools.into_iter().map(|spec| {
            let (place, snapshot) = (place.clone(), snapshot.clone());
            Box::new(CommandTool { spec, place, snapshot }) as Box<dyn GovernedTool>
        });
        let auditors = self.audit.iter().map(|audit| {
            let (reviewer, command, place) = (audit.reviewer.clone(), audit.command(), place.clone());
            Box::new(CommandAuditor { reviewer, command, place }) as Box<dyn Auditor>
        });
        Parts {
            tools: tools.collect(),
            auditors: auditors.collect(),
            plan_approval: match self.plan_approval {
                Approval::Auto => Box::new(AutoApproved),
                Approval::Ask => Box::new(Always(PlanAnswer::Undecided)),
                Approval::Never => {
                    let why = "the run ended without a plan".to_owned();
                    Box::new(Always(PlanAnswer::Refused { why }))
                }
            },
            verifier: Box::new(CommandVerifier { commands: self.verify, place: place.clone() }),
            rollback: Box::new(FolderRollback { snapshot, progress, idle }),
            planner: Box::new(planner),
        }
    }
}

impl AuditSpec {
    fn command(&self) -> Command {
        Command::of(&self.run, &self.folder, self.time_limit_seconds)
    }
}

/// Fails for a path that leaves its base folder.
fn inside(path: &Path) -> Result<(), String> {
    use std::path::Component;
    let leads_out = path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    if leads_out {
        return Err(format!("leads out of the working folder: {}", printable(&path.to_string_lossy())));
    }
    Ok(())
}

/// A tool of critical risk makes its plan critical: the run is halted, and nothing runs.
fn critical(tool: &ToolSpec) -> DeclaredRisk {
    DeclaredRisk::new(Risk::Critical, format!("{} would run {}", tool.name, shown(&tool.run)))
}

/// The plan of the file; before it, the folder is snapshotted.
struct AsWritten {
    tools: Vec<String>,
    risks: Vec<DeclaredRisk>,
    checks: Vec<String>,
    snapshot: Snapshot,
}

#[async_trait]
impl Planner for AsWritten {
    async fn plan(&self, _: &RunId, objection: Option<&str>) -> Result<ProposedPlan, PartError> {
        if let Some(objection) = objection {
            // The reason of the first try is reported, whatever was asked since.
            let other = "the plan file has no other plan; change the file, and begin another run";
            let first = objection
                .trim_start_matches("there is no plan: ")
                .trim_end_matches(other)
                .trim_end_matches("; ");
            return Err(PartError::new(format!("{first}; {other}")));
        }
        let failed = |failure: Failure| PartError::new(failure.to_string());
        self.snapshot.take().map_err(failed)?;
        let baseline = Some(self.snapshot.digest().map_err(failed)?);
        let (tools, risks, checks) = (self.tools.clone(), self.risks.clone(), self.checks.clone());
        Ok(ProposedPlan { tools, risks, baseline, checks })
    }
}

/// Gives one answer to every plan.
struct Always(PlanAnswer);

#[async_trait]
impl PlanApproval for Always {
    async fn decide(&self, _: &RunId, _: &ProposedPlan) -> PlanAnswer {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "\
project: SITE
folder: site
in_place: false
ignore: [target]
plan_approval: ask
gates: {auto: [build], required: [deploy]}
limits_seconds: {PLANNING: 60, EXECUTING: 600}
chained_ledger: true
tools:
  - {name: build, run: [sh, -c, 'echo new > index.html'], folder: site, time_limit_seconds: 9, risk: low}
  - {name: deploy, run: ['true'], risk: high}
verify:
  - {run: [test, -f, index.html]}
audit:
  - {reviewer: quality, run: ['true']}
";

    fn read_text(text: &str) -> Result<Plan, Failure> {
        let source = Text { name: "plan.yaml".to_owned(), text: text.to_owned() };
        checked(from_yaml(&source, START)?, &source)
    }

    fn kept(folder: &Path, plan: &Plan) -> Plan {
        let path = folder.join("plan.yaml");
        std::fs::write(&path, plan.text().unwrap()).unwrap();
        read_stored(&path, &RunId::new("SITE", 0).unwrap(), None).unwrap()
    }

    /// No damaged plan causes a panic. The rest is refused, or is a plan that its run stores unchanged.
    #[test]
    fn a_damaged_plan_is_refused_or_kept_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let whole = read_text(WHOLE).unwrap();
        assert_eq!(kept(folder.path(), &whole).digest().unwrap(), whole.digest().unwrap());
        let counts = std::cell::Cell::new((0, 0));
        input::each_damage(WHOLE, |text| {
            let (taken, refused) = counts.get();
            match read_text(&text) {
                Ok(plan) => {
                    assert_eq!(
                        kept(folder.path(), &plan).digest().unwrap(),
                        plan.digest().unwrap(),
                        "{text}"
                    );
                    counts.set((taken + 1, refused));
                }
                Err(_) => counts.set((taken, refused + 1)),
            }
        });
        let (taken, refused) = counts.get();
        assert!(taken > 20 && refused > 200, "{taken} taken, {refused} refused");
    }

    #[test]
    fn a_plan_is_kept_in_16_mib_and_no_more() {
        let mut plan = read_text(WHOLE).unwrap();
        let short = plan.text().unwrap().len();
        let left = usize::try_from(STORED_LIMIT).unwrap() - short;
        plan.tools[0].run[2].push_str(&"x".repeat(left));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(kept(folder.path(), &plan).digest().unwrap(), plan.digest().unwrap());
        plan.tools[0].run[2].push('x');
        let refused = plan.text().unwrap_err();
        assert!(refused.message().contains("got 16777217"), "{}", refused.message());
    }
}
