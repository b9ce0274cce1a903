//! Checks of the scripts of the model, the tools and the plugins.

use runstate::run::RunStatus;

use super::{Fault, fault, is_called, there_is};
use crate::Scenario;
use crate::file::{Behaviour, Ending, Plugin, Says};

pub(super) fn tools(scenario: &Scenario) -> Result<(), Fault> {
    for (name, tool) in &scenario.tools {
        let tool_name = || name.as_str();
        if name.is_empty() {
            return Err(fault!("a tool has an empty name", "tools", tool_name()));
        }
        if tool.does.is_empty() && tool.calls.values().any(Vec::is_empty) {
            let message = "expected at least one behaviour for each call that is named, got none";
            return Err(fault!(message, "tools", tool_name(), "calls"));
        }
        for (at, behaviour) in tool.does.iter().enumerate() {
            if let Some(message) = progress_out_of_order(behaviour) {
                return Err(fault!(message, "tools", tool_name(), "does", at, "progress"));
            }
        }
        for (call, previews) in &tool.previews {
            let at = |message: String| fault!(message, "tools", tool_name(), "previews", call.as_str());
            is_called(scenario, call).map_err(at)?;
            if previews.is_empty() {
                return Err(at(
                    "expected at least one preview for each call that is named, got none".to_owned()
                ));
            }
        }
        for (call, behaviours) in &tool.calls {
            is_called(scenario, call)
                .map_err(|message| fault!(message, "tools", tool_name(), "calls", call.as_str()))?;
            for (at, behaviour) in behaviours.iter().enumerate() {
                if let Some(message) = progress_out_of_order(behaviour) {
                    return Err(fault!(
                        message,
                        "tools",
                        tool_name(),
                        "calls",
                        call.as_str(),
                        at,
                        "progress"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn progress_out_of_order(behaviour: &Behaviour) -> Option<String> {
    let progress = &behaviour.progress;
    if !progress.is_sorted_by_key(|progress| progress.at_ms) {
        return Some("expected progress in the order of its times".to_owned());
    }
    let last = progress.last()?.at_ms;
    let takes = behaviour.takes_ms;
    (last > takes).then(|| format!("expected progress within the {takes} ms that the tool takes, got {last}"))
}

/// The upper limit of calls in one turn. The work of a round grows faster than its calls.
const MOST_CALLS: usize = 10_000;

pub(super) fn turns(scenario: &Scenario) -> Result<(), Fault> {
    let turns = &scenario.model;
    let Some(last) = turns.last() else {
        return Err(fault!("expected at least one turn of the model, got none", "model"));
    };
    for (at, turn) in turns.iter().enumerate() {
        if turn.text.is_none() && turn.calls.is_empty() && turn.ends == Ending::Finish {
            return Err(fault!(format!("turn {} of the model has neither text nor calls", at + 1), "model"));
        }
        if turn.piece == Some(0) {
            return Err(fault!("expected pieces of at least 1 character, got 0", "model", at, "piece"));
        }
        if turn.calls.len() > MOST_CALLS {
            let message = format!("expected at most {MOST_CALLS} calls in a turn, got {}", turn.calls.len());
            return Err(fault!(message, "model", at, "calls"));
        }
        for (call_at, call) in turn.calls.iter().enumerate() {
            let id = call.id.as_str();
            let wrong = |c: char| c.is_control() || c.is_whitespace() || c == '#';
            if id.is_empty() || id.len() > 128 || id.chars().any(wrong) {
                let message = format!(
                    "expected a call id of 1 to 128 characters without white space and `#`, got {id:?}"
                );
                return Err(fault!(message, "model", at, "calls", call_at, "id"));
            }
            if call.raw.is_some() && !call.arguments.is_empty() {
                let message = "expected either arguments or raw, got both";
                return Err(fault!(message, "model", at, "calls", call_at, "raw"));
            }
        }
    }
    let asked_again = !last.calls.is_empty()
        && last.ends == Ending::Finish
        && scenario.limits.max_rounds as usize > turns.len();
    // Any other condition may end the run before the model is asked again.
    let only_ends_by_itself =
        scenario.stop.is_empty() && scenario.plugins.is_empty() && scenario.outside.is_empty();
    let never_waits = scenario.tools.is_empty() && scenario.commits.fail.is_empty();
    if asked_again && only_ends_by_itself && never_waits {
        let message = "the last turn of the model has calls, so it would be asked again: expected a last turn with text \
                       alone, or max_rounds no larger than the number of turns";
        return Err(fault!(message, "model"));
    }
    Ok(())
}

/// The tools that plugins ask about. A decision counts for the call, so one of two questions would never be asked.
fn asks_once(scenario: &Scenario) -> Result<(), Fault> {
    let mut asked: Vec<&str> = scenario.approve.iter().map(String::as_str).collect();
    for (at, plugin) in scenario.plugins.iter().enumerate() {
        let (kind, tool) = match plugin {
            Plugin::Ask { tool, .. } => ("ask", tool),
            Plugin::Approval { tool, .. } => ("approval", tool),
            _ => continue,
        };
        if asked.contains(&tool.as_str()) {
            let message = format!(
                "the tool {tool:?} is asked about already: one question is enough, with `times` or `people` for several people"
            );
            return Err(fault!(message, "plugins", at, kind, "tool"));
        }
        asked.push(tool);
    }
    // A gate names one call, and the name begins with the id that the model gives it.
    let tool_of = |name: &str| {
        let id = name.split_once('#').map_or(name, |(id, _)| id);
        let calls = scenario.model.iter().flat_map(|turn| &turn.calls);
        calls
            .filter(|call| call.id == id || call.id == name)
            .map(|call| call.tool.as_str())
            .collect::<Vec<_>>()
    };
    for (at, plugin) in scenario.plugins.iter().enumerate() {
        let Plugin::Gate { call, says: Says::Ask(_), .. } = plugin else { continue };
        if let Some(tool) = tool_of(call).into_iter().find(|tool| asked.contains(tool)) {
            let message = format!(
                "the call {call:?} is of the tool {tool:?}, which is asked about already: an answer to this question would count there"
            );
            return Err(fault!(message, "plugins", at, "gate", "call"));
        }
    }
    Ok(())
}

pub(super) fn plugins(scenario: &Scenario) -> Result<(), Fault> {
    asks_once(scenario)?;
    for (at, plugin) in scenario.plugins.iter().enumerate() {
        match plugin {
            Plugin::Ask { times: 0, .. } => {
                return Err(fault!("expected times of at least 1, got 0", "plugins", at, "ask", "times"));
            }
            Plugin::Approval { people: 0, .. } => {
                let message = "expected people of at least 1, got 0";
                return Err(fault!(message, "plugins", at, "approval", "people"));
            }
            Plugin::Ask { times, ticket, .. } if *times > 1 && !ticket.replays() => {
                let message = "several people approve the execution: expected the resume_mode replay_tool_call, with which no answer \
                               takes the place of the arguments or of the result";
                return Err(fault!(message, "plugins", at, "ask", "ticket"));
            }
            Plugin::EndRun { reason, .. } if reason.to_run_status() != RunStatus::Done => {
                let message = format!("a run that ends as '{reason}' is not over: expected another reason");
                return Err(fault!(message, "plugins", at, "end_run", "reason"));
            }
            _ => {}
        }
        let named = |kind: &'static str, tool: &str| {
            there_is(scenario, tool).map_err(|message| fault!(message, "plugins", at, kind, "tool"))
        };
        match plugin {
            Plugin::Ask { tool, .. } => named("ask", tool)?,
            Plugin::Approval { tool, .. } => named("approval", tool)?,
            Plugin::Block { tool, .. } => named("block", tool)?,
            Plugin::BlockRun { tool, .. } => named("block_run", tool)?,
            Plugin::SetResult { tool, .. } => named("set_result", tool)?,
            Plugin::DropCalls { tool } => named("drop_calls", tool)?,
            Plugin::Offer { tools, .. } => {
                for (place, tool) in tools.iter().enumerate() {
                    there_is(scenario, tool)
                        .map_err(|message| fault!(message, "plugins", at, "offer", "tools", place))?;
                }
            }
            Plugin::Gate { call, .. } => {
                is_called(scenario, call)
                    .map_err(|message| fault!(message, "plugins", at, "gate", "call"))?;
            }
            _ => {}
        }
    }
    Ok(())
}
