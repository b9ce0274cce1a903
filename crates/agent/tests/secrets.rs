//! What must not be seen reaches no event and no list.

use std::sync::Arc;

use runstate::decision::DecisionAction::Resume;
use runstate::termination::{FinalReason, StoppedReason, TerminationReason};
use runstate::tool_result::ToolResult;
use runstate::turn::CallRequest;
use runstate_agent::{Phase, PluginError};
use serde_json::json;

use super::acts::Acts;
use super::parts::World;
use super::script::asks;
use super::streams::lines;
use super::tools::{repeatable, tool};

#[tokio::test(start_paused = true)]
async fn redacted_values_reach_no_event_and_no_list() {
    for stream in [false, true] {
        let secret = |id: &str, tool: &str| CallRequest::new(id, tool, json!({ "for": "SECRET 1" }));
        let mut world = World::of([asks([
            secret("a", "write"),
            secret("b", "read"),
            secret("c", "tells"),
            secret("d", "asks"),
            CallRequest { unreadable: Some("SECRET 2".into()), ..secret("e", "read") },
        ])]);
        (world.redacts, world.stream) = (true, stream);
        world.mode = runstate_agent::ExecutionMode::Parallel;
        world.tools.push(tool(&world.ledger, repeatable("tells"), |cx| {
            Box::pin(async move {
                cx.progress("SECRET 3").await;
                ToolResult::Error("SECRET 4".into())
            })
        }));
        world.tools.push(tool(&world.ledger, repeatable("asks"), |cx| {
            Box::pin(async move {
                if cx.decision().is_some() {
                    return ToolResult::Warning { output: json!("SECRET 5"), warning: "SECRET 6".into() };
                }
                let ask = runstate::decision::Suspension::ask("ask", "is SECRET 7 right?");
                ToolResult::Pending(ask.with_parameters(json!({ "form": "SECRET 8" })))
            })
        }));
        let mut state = world.state();
        assert_eq!(world.start(&mut state).await.waiting, ["a", "d"]);
        let listed = serde_json::to_string(&*world.handle.pending()).unwrap();
        assert!(listed.contains("***") && !listed.contains("SECRET"), "{listed}");
        world.decide(&mut state, &[("a", Resume), ("d", Resume)]).await;
        let told = lines(&world.told.all());
        assert!(!told.contains("SECRET"), "{told}");
        assert!(told.matches("***").count() > 8, "{told}");
        // The model reads them.
        assert!(world.script.seen()[1].concat().contains("SECRET 5"), "{:?}", world.script.seen()[1]);
    }
}

#[tokio::test(start_paused = true)]
async fn termination_reason_in_events_is_redacted() {
    let says = |phase, reason: fn() -> Result<FinalReason, PluginError>| {
        let ends = Acts::new("ends").act(move |now, cx| {
            if now == phase {
                cx.end_run(reason()?);
            }
            Ok(())
        });
        Arc::new(ends) as Arc<dyn runstate_agent::Plugin>
    };
    let blocked = || Ok(FinalReason::try_from(TerminationReason::Blocked("SECRET 1".into()))?);
    let stopped = || Ok(FinalReason::from(StoppedReason::new("mine", Some("SECRET 2"))?));
    for (plugin, seen) in [
        (says(Phase::StepStart, blocked), json!({ "blocked": "***" })),
        (says(Phase::StepEnd, stopped), json!({ "stopped": { "code": "mine", "detail": "***" } })),
        (says(Phase::RunStart, || Err("SECRET 3".into())), json!({ "error": "***" })),
        // It is too late to end otherwise.
        (says(Phase::RunEnd, || Err("SECRET 4".into())), json!("natural_end")),
    ] {
        let mut world = World::new(&[]);
        world.redacts = true;
        world.plugins.push(plugin);
        let mut state = world.state();
        let outcome = world.start(&mut state).await;
        let told = lines(&world.told.all());
        assert!(!told.contains("SECRET") && told.contains("***"), "{told}");
        assert!(told.contains(&format!("\"reason\":{seen}")), "{told}");
        // Whoever drives the run has the words.
        assert!(
            outcome.problems.concat().contains("SECRET") || outcome.reason.to_string().contains("SECRET")
        );
    }
}
