//! The source of keys: a file, or the variable `RUNSTATE_KEY`.

use std::fmt::Display;
use std::path::Path;

use runstate::snapshot::Keyring;

use crate::failure::Failure;
use crate::input;

/// The variable with the keys, with `;` between lines.
pub(crate) const VARIABLE: &str = "RUNSTATE_KEY";

/// The maximum size of a key file, in bytes.
const MOST: u64 = 64 << 10;

const HELP: &str = "a line has the name of a key, a space and 64 hexadecimal digits: \
                    `echo \"k1 $(openssl rand -hex 32)\" > runstate.key`";

/// Fails if the key file lies in the tools' folder: a tool could read it, and copies of the folder would contain it.
///
/// # Errors
/// As described, with both paths.
pub(crate) fn keep_out_of(folder: &Path, key_file: Option<&Path>) -> Result<(), Failure> {
    let Some(key_file) = key_file else { return Ok(()) };
    match (std::fs::canonicalize(key_file), std::fs::canonicalize(folder)) {
        (Ok(key), Ok(folder)) if key.starts_with(&folder) => Err(Failure::new(format!(
            "the key file {} is in the working folder of tools, {}",
            key_file.display(),
            folder.display()
        ))
        .with_help("move the file: a tool can read it there, and each copy of the folder has it")),
        _ => Ok(()),
    }
}

/// The keys of a file, or else of the environment; `None` without either. No message contains a part of a secret.
///
/// # Errors
/// An unreadable file, or an invalid keyring.
pub(crate) fn read(file: Option<&Path>) -> Result<Option<Keyring>, Failure> {
    if let Some(path) = file {
        let text = input::read(path, MOST).map_err(|error| Failure::io("read", path, &error))?;
        let refused = |why: &dyn Display| Failure::new(format!("{}: {why}", path.display())).with_help(HELP);
        let text = String::from_utf8(text).map_err(|error| refused(&error.utf8_error()))?;
        return text.parse().map(Some).map_err(|why| refused(&why));
    }
    let Some(text) = std::env::var_os(VARIABLE) else { return Ok(None) };
    let text = text.to_str().unwrap_or_default().replace(';', "\n");
    let keys = text.parse().map_err(|why| Failure::new(format!("{VARIABLE}: {why}")).with_help(HELP));
    keys.map(Some)
}
