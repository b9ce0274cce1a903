//! What a store cannot read.

use runstate::store::Damage;
use serde_json::{Value, json};

use super::Opened;
use crate::failure::Failure;
use crate::output::{complain, printable};

/// Says on standard error what the store cannot read of its runs: lists leave that out.
///
/// # Errors
/// Those of the store.
pub(crate) fn tell_damaged(opened: &Opened) -> Result<Vec<Damage>, Failure> {
    let damaged = opened.ask(opened.store.damaged())?;
    damaged.iter().for_each(|damage| tell_damage(opened, damage));
    Ok(damaged)
}

/// Says it on standard error, unless this command has said it.
pub(crate) fn tell_damage(opened: &Opened, damage: &Damage) {
    if opened.is_new(damage) {
        complain(&printable(&format!("warning: {damage}")));
    }
}

/// Says on standard error what the store has mended.
pub(super) fn tell_repair(repair: &str) {
    complain(&printable(&format!("warning: {repair}")));
}

/// The same for programs.
pub(crate) fn damaged_to_json(damaged: &[Damage]) -> Value {
    damaged.iter().map(|damage| json!({"what": damage.what, "help": damage.help})).collect()
}
