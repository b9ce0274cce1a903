//! Exit codes.

use std::process::ExitCode;

/// The exit codes of every command; each command's `--help` has their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: the trace conforms, the run ended naturally, no breaking change.
    Good,
    /// 1: a violation, a run that ended in another way, a breaking change.
    Bad,
    /// 2: an unusable argument or file.
    BadInput,
    /// 3: the run waits for a decision.
    Waiting,
}

impl Exit {
    /// The code itself.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Bad => 1,
            Exit::BadInput => 2,
            Exit::Waiting => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
