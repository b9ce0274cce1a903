//! Unreadable entries of a store.

use runstate_store::CorruptEntry;
use serde_json::{Value, json};

use super::Opened;
use crate::failure::Failure;
use crate::output::{complain, printable};

/// Reports the unreadable entries of the store's runs on standard error: lists omit them.
///
/// # Errors
/// Errors of the store.
pub(crate) fn tell_damaged(opened: &Opened) -> Result<Vec<CorruptEntry>, Failure> {
    let damaged = opened.ask(opened.store.corrupt_entries())?;
    damaged.iter().for_each(|damage| tell_damage(opened, damage));
    Ok(damaged)
}

/// Reports it on standard error, once for each command.
pub(crate) fn tell_damage(opened: &Opened, damage: &CorruptEntry) {
    if opened.is_new(damage) {
        complain(&printable(&format!("warning: {damage}")));
    }
}

/// Reports a repair of the store on standard error.
pub(super) fn tell_repair(repair: &str) {
    complain(&printable(&format!("warning: {repair}")));
}

/// The entries for programs.
pub(crate) fn damaged_to_json(damaged: &[CorruptEntry]) -> Value {
    damaged
        .iter()
        .map(|damage| json!({"run": damage.run, "what": damage.what, "help": damage.help}))
        .collect()
}
