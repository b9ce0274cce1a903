//! States that no driver could go on with: `check` refuses them, and so does whatever takes them in hand.

use runstate::governed_run::RunId;
use runstate_governed::*;
use serde_json::{Value, json};

use super::world::{RUN, Reply, Script, T, Tool, World, folders};

/// The state of a run that waits with `deploy`, behind an approval that was used.
async fn waiting() -> World {
    let tools = vec![Tool::new("first", [Reply::Pass]), Tool::new("deploy", [Reply::Pass])];
    let world = World::new(Script { tools, auto: vec![], ..Script::default() });
    let run: RunId = RUN.parse().unwrap();
    world.governor().start("PROJECT").await.unwrap();
    world.governor().approve(&run, &format!("{RUN}-A1").parse().unwrap(), "ada", "").await.unwrap();
    world.governor().resume(&run).await.unwrap();
    world
}

fn faults(state: &Value) -> Vec<String> {
    check_state(state.to_string().as_bytes(), Some(T + 1_000)).unwrap().faults
}

#[tokio::test(start_paused = true)]
async fn undrivable_state_is_refused_with_its_faults() {
    let world = waiting().await;
    let run: RunId = RUN.parse().unwrap();
    let sound: Value = serde_json::from_str(&world.file(folders().state(&run))).unwrap();
    assert_eq!(faults(&sound), Vec::<String>::new());
    let (first, second) = (format!("{RUN}-A1"), format!("{RUN}-A2"));
    type Edit = Box<dyn Fn(&mut Value)>;
    let set =
        |field: &'static str, to: Value| Box::new(move |state: &mut Value| state[field] = to.clone()) as Edit;
    let of_notes = |field: &'static str, to: Value| {
        Box::new(move |state: &mut Value| state["runstate"]["notes"][field] = to.clone()) as Edit
    };
    let limits =
        |to: Value| Box::new(move |state: &mut Value| state["runstate"]["limits"] = to.clone()) as Edit;
    let completed = Box::new(|state: &mut Value| {
        state["tools_completed"] = json!(["first", "deploy"]);
        state["tools_remaining"] = json!([]);
    }) as Edit;
    let records = |at: usize| json!([sound["runstate"]["notes"]["approvals"][at]]);
    let cases: Vec<(Edit, String)> = vec![
        (
            set("approvals_granted", json!([first, format!("{RUN}-A7")])),
            format!("approvals_granted has {RUN}-A7, and `runstate` has no record of it"),
        ),
        (
            of_notes("approvals", records(1)),
            format!("approvals_granted has {first}, and `runstate` has no record of it"),
        ),
        (
            Box::new({
                let second = second.clone();
                move |state| {
                    state["approvals_granted"].as_array_mut().unwrap().push(json!(second));
                    state["approvals_pending"] = json!([format!("{RUN}-A3")]);
                }
            }),
            format!("approvals_granted has {second}, and its record in `runstate` is AWAITING_HUMAN"),
        ),
        (
            Box::new(|state| {
                state["approvals_granted"] = json!([]);
                // Its history says that it was approved once.
                let history = state["state_history"].as_array_mut().unwrap();
                history.drain(3..5);
            }),
            format!(
                "the record of {first} in `runstate` is EXECUTED, and approvals_granted does not have it"
            ),
        ),
        (completed, format!("approval {second} is about \"deploy\", the first of tools_remaining is null")),
        (
            limits(json!({"AWAITING_APPROVAL": 1000})),
            format!(
                "approval {second} is to be answered by 2026-02-01T12:00:00Z, the run waits until 2026-01-31T12:00:01Z"
            ),
        ),
        (
            of_notes("standing", json!({"at": "asked", "approval": second, "purpose": "keep"})),
            "`runstate` says that a tool is under way, and current_tool is null".to_owned(),
        ),
    ];
    for (edit, expected) in cases {
        let mut state = sound.clone();
        edit(&mut state);
        assert_eq!(faults(&state), std::slice::from_ref(&expected), "{state:#}");
        let other = World { disk: world.disk.fork(), ..waiting().await };
        runstate_runtime::files::replace(&other.disk, &folders().state(&run), state.to_string().as_bytes())
            .unwrap();
        let before = other.disk.files();
        for refused in [other.governor().status(&run).err(), other.governor().resume(&run).await.err()] {
            assert!(matches!(refused, Some(GovernedError::Damaged { .. })), "{refused:?}");
        }
        assert_eq!(other.disk.files(), before, "nothing was written");
    }
}
