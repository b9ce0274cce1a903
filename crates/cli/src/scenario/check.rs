//! What a scenario must be beyond its shape.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use serde_saphyr::{Location, Spanned};

use super::{Action, Limits, Scenario};
use crate::tools;

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) at: Location,
}

fn fault<T>(at: &Spanned<T>, message: String) -> Fault {
    Fault { message, at: at.referenced }
}

/// Checks all that can be known before a run.
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    name(&scenario.name)?;
    if let Some(folder) = &scenario.folder {
        relative(folder)?;
    }
    limits(&scenario.limits)?;
    tool_names(scenario)?;
    turns(scenario)?;
    let calls = call_ids(scenario)?;
    decisions(scenario, &calls)
}

fn name(name: &Spanned<String>) -> Result<(), Fault> {
    let text = name.value.as_str();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || text.len() > 64 || !text.chars().all(fits) || text.starts_with('-') {
        return Err(fault(
            name,
            format!("expected a name of 1 to 64 lower-case letters, digits and hyphens, got {text:?}"),
        ));
    }
    Ok(())
}

fn relative(folder: &Spanned<std::path::PathBuf>) -> Result<(), Fault> {
    let path: &Path = &folder.value;
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if path.as_os_str().is_empty() || !inside {
        return Err(fault(
            folder,
            format!(
                "expected a folder beside the scenario, without `..`, got {:?}",
                path.display().to_string()
            ),
        ));
    }
    Ok(())
}

fn limits(limits: &Limits) -> Result<(), Fault> {
    if limits.max_rounds.value == 0 {
        return Err(fault(&limits.max_rounds, "expected max_rounds of at least 1, got 0".to_owned()));
    }
    if limits.max_file_bytes.value == 0 {
        return Err(fault(&limits.max_file_bytes, "expected max_file_bytes of at least 1, got 0".to_owned()));
    }
    Ok(())
}

fn tool_names(scenario: &Scenario) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    for tool in &scenario.approve {
        if !tools::NAMES.contains(&tool.value.as_str()) {
            return Err(fault(
                tool,
                format!(
                    "there is no tool {:?} to approve: expected one of {}",
                    tool.value,
                    tools::NAMES.join(", ")
                ),
            ));
        }
        if !seen.insert(tool.value.as_str()) {
            return Err(fault(tool, format!("the tool {:?} is listed twice", tool.value)));
        }
    }
    Ok(())
}

fn turns(scenario: &Scenario) -> Result<(), Fault> {
    let turns = &scenario.model;
    let Some(last) = turns.value.last() else {
        return Err(fault(turns, "expected at least one turn of the model, got none".to_owned()));
    };
    if let Some(empty) = turns.value.iter().position(|turn| turn.text.is_none() && turn.calls.is_empty()) {
        return Err(fault(turns, format!("turn {} of the model has neither text nor calls", empty + 1)));
    }
    let asked_again = !last.calls.is_empty() && scenario.limits.max_rounds.value as usize > turns.value.len();
    if asked_again {
        return Err(fault(
            turns,
            "the last turn of the model has calls, so it would be asked again: expected a last turn with text alone, \
             or max_rounds no larger than the number of turns"
                .to_owned(),
        ));
    }
    Ok(())
}

fn call_ids(scenario: &Scenario) -> Result<BTreeMap<&str, u64>, Fault> {
    let mut lines = BTreeMap::new();
    for call in scenario.calls() {
        let id = call.id.value.as_str();
        if id.is_empty()
            || id.len() > 128
            || id.chars().any(|c| c.is_control() || c.is_whitespace() || c == '#')
        {
            return Err(fault(
                &call.id,
                format!("expected a call id of 1 to 128 characters without white space and `#`, got {id:?}"),
            ));
        }
        if let Some(first) = lines.insert(id, call.id.referenced.line()) {
            return Err(fault(&call.id, format!("the call id {id:?} was given before, on line {first}")));
        }
    }
    Ok(lines)
}

fn decisions(scenario: &Scenario, calls: &BTreeMap<&str, u64>) -> Result<(), Fault> {
    let mut seen = BTreeMap::new();
    for decision in &scenario.decisions {
        let call = decision.call.value.as_str();
        if !calls.contains_key(call) {
            return Err(fault(
                &decision.call,
                format!("the model makes no call {call:?} that this could decide"),
            ));
        }
        if let Some(first) = seen.insert(call, decision.call.referenced.line()) {
            return Err(fault(
                &decision.call,
                format!("the call {call:?} was decided before, on line {first}"),
            ));
        }
        if decision.action == Action::Deny && decision.result.is_some() {
            return Err(fault(
                &decision.call,
                format!("the call {call:?} is denied, so it can have no result"),
            ));
        }
    }
    Ok(())
}
