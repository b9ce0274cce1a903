//! Runs whose parts say more than RUN_STATE.json has room for: each ends, and the end names the limit.

use async_trait::async_trait;
use runstate::approval::Risk;
use runstate::governed_run::{GovernedRunStatus, Opinion, RunId};
use runstate_governed::*;
use runstate_runtime::files::Disk;

use super::world::{Script, World, folders};

const MIB: usize = 1 << 20;
const MOST: usize = 16 * MIB;

/// A part that says much of one thing.
#[derive(Clone, Copy, Default)]
struct Wordy {
    name: &'static str,
    /// Bytes of its changes, of its action, of the risks of its plan, of its note.
    changes: usize,
    action: usize,
    risks: usize,
    note: usize,
}

#[async_trait]
impl GovernedTool for Wordy {
    fn name(&self) -> &str {
        self.name
    }

    fn action(&self, _: &RunView<'_>) -> Action {
        Action::new(format!("run {}{}", self.name, "x".repeat(self.action)), Risk::High)
    }

    async fn call(&self, _: &Call<'_>) -> Result<ToolOutput, PartError> {
        let name = "x".repeat(1 << 10);
        let names = name.repeat(self.changes.div_ceil(name.len()));
        let names = names.as_bytes()[..self.changes].chunks(name.len());
        Ok(names.fold(ToolOutput::pass(["done"]), |output, name| {
            output.with_change("", String::from_utf8_lossy(name))
        }))
    }
}

#[async_trait]
impl Planner for Wordy {
    async fn plan(&self, _: &RunId, _: Option<&str>) -> Result<ProposedPlan, PartError> {
        let risks = vec![DeclaredRisk::new(Risk::Low, "x".repeat(self.risks))];
        Ok(ProposedPlan { risks, ..ProposedPlan::of(["build", "deploy", "wait"]) })
    }
}

#[async_trait]
impl Auditor for Wordy {
    fn name(&self) -> &str {
        self.name
    }

    async fn audit(&self, _: &RunView<'_>) -> Result<(Opinion, String), PartError> {
        Ok((Opinion::Pass, "x".repeat(self.note)))
    }
}

#[async_trait]
impl Rollback for Wordy {
    async fn roll_back(&self, _: &RunView<'_>, _: &str) -> Result<(), Vec<String>> {
        Ok(())
    }
}

/// A run of three such tools, to its end; each question is answered with a yes, while that can be written.
async fn lived(wordy: Wordy, change: impl Fn(&World, &RunId, &mut Parts)) -> (World, RunId, RunStatus) {
    let mut world = World::new(Script { auto: vec![], ..Script::default() });
    if wordy.action == 0 {
        world.rules.gates = Gates::new(["build", "deploy", "wait"], Vec::<String>::new());
    }
    let governor = |change: &dyn Fn(&mut Parts)| {
        let mut parts = world.parts();
        let tools = ["build", "deploy", "wait"]
            .map(|name| Box::new(Wordy { name, ..wordy }) as Box<dyn GovernedTool>);
        (parts.tools, parts.planner) = (tools.into(), Box::new(wordy));
        parts.rollback = Box::new(wordy);
        change(&mut parts);
        world.governor_of(parts)
    };
    let run = governor(&|_| {}).create("PROJECT").unwrap();
    let governor = governor(&|parts| change(&world, &run, parts));
    while let Some(AwaitedInput::Approval(asked)) = governor.resume(&run).await.unwrap().waits {
        governor.approve(&run, &asked.id, "ada", "").await.unwrap();
    }
    let status = governor.status(&run).unwrap();
    assert!(status.state.is_terminal(), "{status:?}");
    let state = world.file(folders().state(&run));
    assert!(state.len() <= MOST, "{} bytes", state.len());
    assert_eq!(check_state(state.as_bytes(), None).unwrap().faults, Vec::<String>::new());
    assert!(governor.resume(&run).await.unwrap().repairs.is_empty());
    drop(governor);
    (world, run, status)
}

#[tokio::test(start_paused = true)]
async fn one_long_report_is_moved_out_of_the_state() {
    let (world, run, status) = lived(Wordy { changes: 7 * MIB, ..Wordy::default() }, |_, _, _| {}).await;
    assert_eq!(status.state, GovernedRunStatus::Completed);
    assert!(world.file(folders().state(&run)).len() < MIB);
    let reports = world.file(folders().state(&run).with_file_name("RUN_REPORTS.jsonl"));
    assert!(reports.len() > 20 * MIB, "{} bytes", reports.len());
    assert!(world.file(folders().report(&run)).len() > 20 * MIB);
}

#[tokio::test(start_paused = true)]
async fn reports_without_a_file_to_be_moved_to_halt_the_run() {
    let wordy = Wordy { changes: 7 * MIB, ..Wordy::default() };
    let (_, _, status) = lived(wordy, |world, run, _| {
        let path = folders().state(run).with_file_name("RUN_REPORTS.jsonl");
        world.disk.create_folder(&path).unwrap();
    })
    .await;
    assert_eq!((status.state, status.completed), (GovernedRunStatus::HaltedUnsafe, 1));
    let why = status.why.unwrap();
    assert!(why.starts_with("deploy failed critically: RUN_STATE.json cannot be written: "), "{why}");
    assert!(why.ends_with("and the limit is 12582912"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn a_list_of_changes_that_is_too_long_halts_the_run() {
    let (_, _, status) = lived(Wordy { changes: 8 * MIB, ..Wordy::default() }, |_, _, _| {}).await;
    assert_eq!(status.state, GovernedRunStatus::Completed);
    let wordy = Wordy { changes: 8 * MIB + 1, ..Wordy::default() };
    let (_, _, status) = lived(wordy, |_, _, _| {}).await;
    assert_eq!(status.state, GovernedRunStatus::HaltedUnsafe);
    let why = status.why.unwrap();
    assert!(why.contains("it names 8193 changes of 8388609 bytes, and the limit is 8388608 bytes"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn questions_that_fill_the_state_halt_the_run() {
    let (world, run, status) = lived(Wordy { action: 7 * MIB, ..Wordy::default() }, |_, _, _| {}).await;
    assert_eq!((status.state, status.completed), (GovernedRunStatus::HaltedUnsafe, 0));
    assert!(status.why.unwrap().contains("the limit is 12582912"));
    let pending = world.disk.list(&folders().pending()).unwrap();
    assert!(pending.is_empty(), "the question that was not put is nowhere: {pending:?}");
    let report = world.file(folders().report(&run));
    assert!(report.contains("cannot be written: it would have"));
}

/// A question that just fits can be answered with a no or be passed on, and a yes that has no room is refused; one byte more halts the run.
#[tokio::test(start_paused = true)]
async fn a_question_of_the_length_of_the_state_is_the_longest() {
    const ROOM: usize = 12 * MIB;
    let asked = async |action: usize| {
        let world = World::new(Script { auto: vec![], ..Script::default() });
        let mut parts = world.parts();
        let tools = ["build", "deploy"]
            .map(|name| Box::new(Wordy { name, action, ..Wordy::default() }) as Box<dyn GovernedTool>);
        (parts.tools, parts.rollback) = (tools.into(), Box::new(Wordy::default()));
        let governor = world.governor_of(parts);
        let progressed = governor.start("PROJECT").await.unwrap();
        let length = world.file(folders().state(&progressed.run)).len();
        (world, governor, progressed, length)
    };
    let (_, _, _, length) = asked(MIB).await;
    let longest = ROOM - (length - MIB);
    let (world, governor, halted, _) = asked(longest + 1).await;
    assert_eq!(halted.status, GovernedRunStatus::HaltedUnsafe);
    let why = governor.status(&halted.run).unwrap().why.unwrap();
    assert!(why.contains("it would have 12582913 bytes, and the limit is 12582912"), "{why}");
    assert!(world.disk.list(&folders().pending()).unwrap().is_empty());

    for answer in ["reject", "escalate", "halt"] {
        let (world, governor, waiting, length) = asked(longest).await;
        assert_eq!(length, ROOM);
        let (run, Some(AwaitedInput::Approval(pending))) = (waiting.run, waiting.waits) else { panic!() };
        let before = world.disk.files();
        let refused = governor.approve(&run, &pending.id, "ada", "").await.unwrap_err().to_string();
        assert!(refused.contains("and the limit is 12582912"), "{refused}");
        assert_eq!(world.disk.files(), before, "nothing was written");
        let went = match answer {
            "reject" => governor.reject(&run, &pending.id, "ada", "").await,
            "escalate" => governor.escalate(&run, &pending.id, "ada", "").await,
            _ => governor.halt(&run, "ada", "").await,
        };
        assert!(went.unwrap().is_terminal());
        let state = world.file(folders().state(&run));
        assert_eq!(check_state(state.as_bytes(), None).unwrap().faults, Vec::<String>::new(), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_too_long_halts_the_run() {
    let (_, _, status) = lived(Wordy { risks: 13 * MIB, ..Wordy::default() }, |_, _, _| {}).await;
    assert_eq!(status.state, GovernedRunStatus::HaltedUnsafe);
    assert!(status.why.unwrap().contains("the limit is 12582912"));
}

#[tokio::test(start_paused = true)]
async fn a_note_of_4_kib_is_kept_and_256_kib_of_all_and_no_more() {
    for (reviewers, note, is_cut) in
        [(1, 4_096, false), (1, 4_097, true), (64, 4_096, false), (65, 4_096, true)]
    {
        let wordy = Wordy { note, ..Wordy::default() };
        let (world, run, status) = lived(wordy, |_, _, parts| {
            let names = (0..reviewers).map(|number| &*format!("reviewer-{number}").leak());
            parts.auditors =
                names.map(|name| Box::new(Wordy { name, ..wordy }) as Box<dyn Auditor>).collect();
        })
        .await;
        assert_eq!(status.state, GovernedRunStatus::Completed);
        let state = world.file(folders().state(&run));
        assert_eq!(state.contains("bytes more]"), is_cut, "{reviewers} notes of {note} bytes");
    }
}

#[tokio::test(start_paused = true)]
async fn notes_of_many_reviewers_have_room_together() {
    let wordy = Wordy { note: 8_000, ..Wordy::default() };
    let (world, run, status) = lived(wordy, |_, _, parts| {
        let names = (0..6_000).map(|number| &*format!("reviewer-{number}").leak());
        parts.auditors = names.map(|name| Box::new(Wordy { name, ..wordy }) as Box<dyn Auditor>).collect();
    })
    .await;
    assert_eq!(status.state, GovernedRunStatus::Completed);
    assert!(world.file(folders().state(&run)).contains("[… 7957 bytes more]"));
}

#[tokio::test(start_paused = true)]
async fn a_state_of_16_mib_is_read_and_a_larger_one_is_not() {
    let (world, run, _) = lived(Wordy::default(), |_, _, _| {}).await;
    let state = world.file(folders().state(&run));
    let of = |bytes: usize| format!("{state}{}", " ".repeat(bytes - state.len()));
    check_state(of(MOST).as_bytes(), None).unwrap();
    let refused = check_state(of(MOST + 1).as_bytes(), None).unwrap_err();
    assert!(refused.contains("16777217 bytes"), "{refused}");
}
