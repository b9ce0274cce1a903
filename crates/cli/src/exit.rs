//! What the command says by its exit code.

use std::process::ExitCode;

/// The exit codes of every command; each command's `--help` says what they mean there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: the trace conforms, the run ended naturally, nothing breaks.
    Good,
    /// 1: a violation, a run that ended in another way, a breaking change.
    Bad,
    /// 2: an argument or a file that cannot be used.
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
