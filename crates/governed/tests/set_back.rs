//! A clock that was set back behind the last change of a run.

use std::sync::Arc;

use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate_governed::*;
use runstate_runtime::clock::TokioClock;

use super::judge::judge;
use super::world::{RUN, Reply, Script, T, Tool, World};

/// The run can be looked at and halted, and nothing else: it waits for an approval, of which the deadline is in doubt.
#[tokio::test(start_paused = true)]
async fn a_run_is_halted_after_its_clock_was_set_back() {
    for back_ms in [60_000, 60_001, 86_400_000] {
        let script = || Script {
            tools: vec![Tool::new("deploy", [Reply::Pass])],
            auto: Vec::new(),
            ..Script::default()
        };
        let mut world = World::new(script());
        let run: RunId = RUN.parse().unwrap();
        let waits = world.governor().start("PROJECT").await.unwrap().waits;
        let Some(AwaitedInput::Approval(asked)) = waits else { panic!("it waits for an approval") };
        world.clock = Arc::new(TokioClock::starting_at(T - back_ms));
        let governor = world.governor();
        assert_eq!(governor.status(&run).unwrap().state, GovernedRunStatus::AwaitingApproval);
        assert!(governor.waits(&run).unwrap().is_some());
        assert!(matches!(governor.abandon(&run, "ada", ""), Err(GovernedError::Readable { .. })));
        if back_ms > 60_000 {
            let before = world.disk.files();
            for refused in [
                governor.resume(&run).await.map(drop).unwrap_err(),
                governor.approve(&run, &asked.id, "ada", "").await.unwrap_err(),
                governor.expire(&run).await.map(drop).unwrap_err(),
            ] {
                assert!(refused.to_string().contains("which is in the future"), "{refused}");
            }
            assert_eq!(world.disk.files(), before, "nothing is written");
        }
        let halted = governor.halt(&run, "ada", "the clock was wrong").await.unwrap();
        assert_eq!(halted, GovernedRunStatus::HaltedUnsafe);
        let status = governor.status(&run).unwrap();
        assert_eq!(status.since.ms(), T, "not before the last change");
        // The files are in order, by the clock that was right.
        world.clock = Arc::new(TokioClock::starting_at(T));
        judge(&world, &run).await;
    }
}
