//! The entries into the states of an execution.

use super::events::{Allow, Block, Fail, Reject, Succeed, Suspend};
use super::states::{AfterToolExecute, Blocked, ExecuteTool, Failed, Succeeded, Suspended, ToolCallOutcome};
use super::{BeforeToolExecute, Conclude, ExecutionRecord};
use crate::kernel::Enter;

impl Enter<BeforeToolExecute, Block> for Blocked {
    fn enter(_: BeforeToolExecute, event: Block, _: &mut ExecutionRecord) -> Self {
        Blocked { reason: event.reason }
    }
}

impl<S> Enter<S, Suspend> for Suspended {
    fn enter(_: S, event: Suspend, _: &mut ExecutionRecord) -> Self {
        Suspended { suspension: event.suspension }
    }
}

impl Enter<BeforeToolExecute, Reject> for Failed {
    fn enter(_: BeforeToolExecute, event: Reject, _: &mut ExecutionRecord) -> Self {
        Failed { error: event.error }
    }
}

impl Enter<ExecuteTool, Fail> for Failed {
    fn enter(_: ExecuteTool, event: Fail, _: &mut ExecutionRecord) -> Self {
        Failed { error: event.error }
    }
}

impl Enter<BeforeToolExecute, Allow> for ExecuteTool {
    fn enter(_: BeforeToolExecute, event: Allow, _: &mut ExecutionRecord) -> Self {
        ExecuteTool { supplied: event.supplied }
    }
}

impl Enter<ExecuteTool, Succeed> for Succeeded {
    fn enter(_: ExecuteTool, event: Succeed, _: &mut ExecutionRecord) -> Self {
        Succeeded { output: event.output, warning: event.warning }
    }
}

macro_rules! concludes {
    ($($State:ident => $Outcome:ident),+) => { $(
        impl Enter<$State, Conclude> for AfterToolExecute {
            fn enter(_: $State, _: Conclude, _: &mut ExecutionRecord) -> Self {
                AfterToolExecute { outcome: ToolCallOutcome::$Outcome }
            }
        }
    )+ };
}
// A blocked call fails: the model reads an error.
concludes!(Succeeded => Succeeded, Failed => Failed, Blocked => Failed, Suspended => Suspended);
