//! Runs with a state that cannot be read, and that a person gives up.

use runstate_governed::{AwaitedInput, GovernedError};
use runstate_runtime::files::{Disk, replace};

use super::limits::run;
use super::world::{Script, World, folders};

#[tokio::test(start_paused = true)]
async fn abandoned_run_leaves_its_state_and_a_report() {
    let world = World::new(Script::default());
    world.governor().start("PROJECT").await.unwrap();
    let (governor, path) = (world.governor(), folders().state(&run()));
    let refused = governor.abandon(&run(), "ada", "").unwrap_err();
    assert!(matches!(refused, GovernedError::Readable { .. }), "{refused}");
    assert!(matches!(governor.abandon(&run(), " ", ""), Err(GovernedError::NoName { .. })));

    let state = world.file(&path);
    for content in ["", "{", &state.replace("EXECUTING", "DREAMING"), &"x".repeat(17 << 20)] {
        replace(&world.disk, &path, content.as_bytes()).unwrap();
        let damaged = governor.halt(&run(), "ada", "").await.unwrap_err().to_string();
        let (fault, kept) = governor.abandon(&run(), "ada", "the disk *broke*").unwrap();
        assert_eq!(fault.to_string(), damaged);
        assert_eq!(world.file(&kept), content);
        let report = world.file(folders().report(&run()));
        assert!(report.contains("ada gave the run up at 2026-01-31T12:00:00"), "{report}");
        assert!(report.contains(r"the disk \*broke\*"), "{report}");
        for gone in [governor.status(&run()).map(drop), governor.abandon(&run(), "ada", "").map(drop)] {
            assert!(matches!(gone, Err(GovernedError::NoSuchRun { .. })), "{gone:?}");
        }
        world.disk.remove(&folders().report(&run())).unwrap();
    }
    // The state under its own name again is the run again.
    replace(&world.disk, &path, state.as_bytes()).unwrap();
    assert!(matches!(governor.resume(&run()).await.unwrap().waits, Some(AwaitedInput::Approval(_))));
}
