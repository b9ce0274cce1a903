//! `runstate token`

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use runstate_http::{Role, Tokens, TokensError};
use runstate_runtime::clock::{Clock, unix_clock};

use super::time::time;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Make, list and revoke the tokens of a server
///
/// A token is shown once. The file has its SHA-256, and mode 0600. A server reads the file again when it changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate token new ada --role operator --tokens tokens.json
  runstate token list --tokens tokens.json
  runstate token revoke ada --tokens tokens.json

Exit codes:
  0  the token is made or revoked, or the tokens are listed
  1  revoke: no token has the name
  2  the file or another argument is unusable")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a token, and show it
    New {
        /// The name: the actor of the decisions of the token
        name: String,
        /// The role. May be repeated
        #[arg(long, value_name = "ROLE", required = true)]
        role: Vec<RoleArg>,
        /// The time after which the token ends. Default: never
        #[arg(long, value_name = "TIME", value_parser = time)]
        expires: Option<Duration>,
        #[command(flatten)]
        file: FileArg,
    },
    /// List the tokens, without the tokens themselves
    List {
        /// One JSON object for each token
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: FileArg,
    },
    /// Revoke a token
    Revoke {
        /// The name
        name: String,
        #[command(flatten)]
        file: FileArg,
    },
}

#[derive(Debug, clap::Args)]
struct FileArg {
    /// The file of the tokens
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum RoleArg {
    /// Reads
    Viewer,
    /// Reads, approves and rejects
    Approver,
    /// Reads, and does all that is no decision
    Operator,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Viewer => Role::Viewer,
            RoleArg::Approver => Role::Approver,
            RoleArg::Operator => Role::Operator,
        }
    }
}

fn failure(error: TokensError) -> Failure {
    Failure::new(error.to_string())
}

fn open(file: &FileArg) -> Result<Tokens, Failure> {
    Tokens::open(&file.tokens).map_err(failure)
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let now_ms = unix_clock().now_ms();
    match &args.action {
        Action::New { name, role, expires, file } => {
            let roles: BTreeSet<Role> = role.iter().map(|role| Role::from(*role)).collect();
            let term = expires.map(|expires| u64::try_from(expires.as_millis()).unwrap_or(u64::MAX));
            let end = term.map(|term| now_ms.saturating_add(term));
            let token = open(file)?.create(name, roles, now_ms, end).map_err(failure)?;
            out.line(&token);
            Ok(Exit::Good)
        }
        Action::List { json, file } => {
            for entry in open(file)?.list().map_err(failure)? {
                if *json {
                    let mut entry = serde_json::json!(entry);
                    if let Some(entry) = entry.as_object_mut() {
                        entry.remove("sha256");
                    }
                    out.json(&entry);
                    continue;
                }
                let roles: Vec<String> = entry.roles.iter().map(Role::to_string).collect();
                let is_over = entry.expires_at_ms.is_some_and(|end| end <= now_ms);
                let end = if is_over { "  expired" } else { "" };
                out.line(&format!("{}  {}{end}", entry.name, roles.join(", ")));
            }
            Ok(Exit::Good)
        }
        Action::Revoke { name, file } => match open(file)?.revoke(name) {
            Ok(()) => Ok(Exit::Good),
            Err(error @ TokensError::Unknown { .. }) => {
                crate::output::complain(&error.to_string());
                Ok(Exit::Bad)
            }
            Err(error) => Err(failure(error)),
        },
    }
}
