//! The progress of a run with its tools.

use serde::{Deserialize, Serialize, Serializer};

use super::GovernedRunError;

/// The maximum number of tries of a tool, after which the run is rolled back.
pub const MOST_TRIES: u32 = 3;

/// The tools of a run, in the order of its plan: the completed and the remaining ones. They run one after the other.
///
/// The type holds one list and a position in it. So the planned tools always equal the completed tools followed by
/// the remaining ones. The stored form has the fields of RUN_STATE.json; the reader checks that they agree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Progress {
    tools: Vec<String>,
    completed: usize,
    /// The number of tries of the current tool; 0 without a current tool.
    tries: u32,
}

impl Progress {
    pub(super) fn of(plan: Vec<String>) -> Self {
        Progress { tools: plan, completed: 0, tries: 0 }
    }

    pub(super) fn all_completed(tools: Vec<String>) -> Self {
        Progress { completed: tools.len(), tools, tries: 0 }
    }

    pub(super) fn into_tools(self) -> Vec<String> {
        self.tools
    }

    /// All tools of the plan, in order.
    pub fn planned(&self) -> &[String] {
        &self.tools
    }

    /// The completed tools.
    pub fn completed(&self) -> &[String] {
        &self.tools[..self.completed]
    }

    /// The remaining tools, the current one among them.
    pub fn remaining(&self) -> &[String] {
        &self.tools[self.completed..]
    }

    /// The tool in progress: the first remaining tool, after it was begun.
    pub fn current_tool(&self) -> Option<&str> {
        if self.tries == 0 { None } else { self.remaining().first().map(String::as_str) }
    }

    /// The number of tries of the current tool, from 1; 0 without a current tool.
    pub fn tries(&self) -> u32 {
        self.tries
    }

    pub(super) fn start(&mut self) -> Result<(), GovernedRunError> {
        if let Some(tool) = self.current_tool() {
            return Err(GovernedRunError::ToolUnderWay { tool: tool.to_owned() });
        }
        if self.remaining().is_empty() {
            return Err(GovernedRunError::NoToolRemains);
        }
        self.tries = 1;
        Ok(())
    }

    pub(super) fn retry(&mut self) -> Result<u32, GovernedRunError> {
        let Some(tool) = self.current_tool() else { return Err(GovernedRunError::NoToolUnderWay) };
        if self.tries >= MOST_TRIES {
            return Err(GovernedRunError::TriesSpent { tool: tool.to_owned(), tries: self.tries });
        }
        self.tries += 1;
        Ok(self.tries)
    }

    pub(super) fn complete(&mut self) -> Result<(), GovernedRunError> {
        if self.current_tool().is_none() {
            return Err(GovernedRunError::NoToolUnderWay);
        }
        self.completed += 1;
        self.tries = 0;
        Ok(())
    }
}

impl Serialize for Progress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            tools_planned: &'a [String],
            tools_completed: &'a [String],
            tools_remaining: &'a [String],
            current_tool: Option<&'a str>,
            tries: u32,
        }
        Written {
            tools_planned: self.planned(),
            tools_completed: self.completed(),
            tools_remaining: self.remaining(),
            current_tool: self.current_tool(),
            tries: self.tries,
        }
        .serialize(serializer)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    tools_planned: Vec<String>,
    tools_completed: Vec<String>,
    tools_remaining: Vec<String>,
    current_tool: Option<String>,
    tries: u32,
}

impl TryFrom<Stored> for Progress {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { tools_planned, tools_completed, tools_remaining, current_tool, tries } = stored;
        if !tools_planned.iter().eq(tools_completed.iter().chain(&tools_remaining)) {
            return Err(format!(
                "tools_planned must be tools_completed and then tools_remaining: {tools_planned:?} is not \
                 {tools_completed:?} and {tools_remaining:?}"
            ));
        }
        match (&current_tool, tools_remaining.first()) {
            (None, _) if tries > 0 => return Err(format!("{tries} tries of no current tool")),
            (None, _) => {}
            (Some(current), Some(next)) if current == next => {}
            (Some(current), _) => {
                return Err(format!(
                    "current_tool must be null or the first of tools_remaining: {current:?} is not, among \
                     {tools_remaining:?}"
                ));
            }
        }
        if current_tool.is_some() && !(1..=MOST_TRIES).contains(&tries) {
            return Err(format!("a current tool has 1 to {MOST_TRIES} tries, got {tries}"));
        }
        Ok(Progress { tools: tools_planned, completed: tools_completed.len(), tries })
    }
}
