//! The exits of an activation: each state passes the result of its work on, or leads to the end.

use std::fmt;
use std::ops::ControlFlow::{self, Break, Continue};

use runstate::checkpoint::Receipt;
use runstate::kernel::Rejected;
use runstate::run_flow::{
    AfterInference, Cancel, CommitAssistant, CommitReplay0, CommitTool, CommitUser, Fail, LlmCall,
    ResumeAfterTool, ResumeReplay0, ResumeToolCall, RunEnd, RunFlow, RunFlowError, RunStart, StepPrepare,
    ToolRound, WindUp,
};

use super::Halt;

/// The value with which the activation goes on, or the activation at its end.
pub(super) type OrEnd<T> = ControlFlow<RunFlow<RunEnd>, T>;

/// A state in which the activation can fail.
pub(super) trait CanFail: Sized {
    /// Fails the activation. Committed state stays, and the end contains the error.
    fn failed(self, error: impl fmt::Display) -> RunFlow<RunEnd>;

    /// Continues after work that cannot be cancelled. The next cancellable state handles a cancellation.
    fn unless_failed(self, result: Result<(), Halt>) -> OrEnd<Self> {
        match result {
            Ok(()) | Err(Halt::Cancelled) => Continue(self),
            Err(Halt::Failed(error)) => Break(self.failed(error)),
        }
    }

    /// Continues with the receipt of a commit, or fails.
    fn with_receipt(self, committed: Result<Receipt, Halt>) -> OrEnd<(Self, Receipt)> {
        match committed {
            Ok(receipt) => Continue((self, receipt)),
            Err(Halt::Failed(error)) => Break(self.failed(error)),
            Err(Halt::Cancelled) => Break(self.failed("a commit is not cancelled midway")),
        }
    }
}

/// A state in which the activation can be cancelled.
pub(super) trait CanCancel: CanFail {
    /// Cancels the activation.
    fn cancelled(self) -> RunFlow<RunEnd>;

    /// Continues with the result of cancellable work, or ends.
    fn unless_halted<T>(self, result: Result<T, Halt>) -> OrEnd<(Self, T)> {
        match result {
            Ok(value) => Continue((self, value)),
            Err(Halt::Cancelled) => Break(self.cancelled()),
            Err(Halt::Failed(error)) => Break(self.failed(error)),
        }
    }
}

/// Continues past a guard, or fails.
pub(super) fn admitted<M: CanFail, E, T>(result: Result<T, Rejected<M, E, RunFlowError>>) -> OrEnd<T> {
    match result {
        Ok(flow) => Continue(flow),
        Err(rejected) => Break(rejected.machine.failed(rejected.error)),
    }
}

// The transitions are methods of each state, so each state has an implementation of its own.
macro_rules! can_fail {
    ($($State:ident),+) => { $(
        impl CanFail for RunFlow<$State> {
            fn failed(self, error: impl fmt::Display) -> RunFlow<RunEnd> {
                self.fail(Fail::new(error.to_string())).wind_up(WindUp)
            }
        }
    )+ };
}
can_fail!(RunStart, CommitUser, ResumeReplay0, CommitReplay0, ResumeToolCall, StepPrepare, LlmCall);
can_fail!(AfterInference, CommitAssistant, ToolRound, CommitTool, ResumeAfterTool);

macro_rules! can_cancel {
    ($($State:ident),+) => { $(
        impl CanCancel for RunFlow<$State> {
            fn cancelled(self) -> RunFlow<RunEnd> {
                self.cancel(Cancel).wind_up(WindUp)
            }
        }
    )+ };
}
can_cancel!(ResumeReplay0, ResumeToolCall, StepPrepare, LlmCall, ToolRound, ResumeAfterTool);
