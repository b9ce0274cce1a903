//! Exit codes.

use std::process::ExitCode;

/// The exit codes of every command. Each code has one meaning: `docs/exit-codes.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: success.
    Good,
    /// 1: the command did its work, and the result is negative.
    Bad,
    /// 2: the command could not do its work.
    BadInput,
    /// 3: the run waits for a decision.
    Waiting,
    /// 4: the run is not over, and waits for no decision.
    Unfinished,
}

impl Exit {
    /// The code itself.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Bad => 1,
            Exit::BadInput => 2,
            Exit::Waiting => 3,
            Exit::Unfinished => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
