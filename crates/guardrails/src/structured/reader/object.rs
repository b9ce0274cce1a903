//! Open brackets, and the members of objects.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use super::{MISSING_VALUE, Place, Reader, Step, source};
use crate::structured::Repair;

/// An open bracket.
#[derive(Debug)]
pub(super) struct Open {
    bracket: char,
    /// The key of the current member, and the beginning of its value in the JSON.
    member: Option<(String, usize)>,
    /// The ranges of the members' values in the JSON, and the values that were compared.
    members: HashMap<String, (Range<usize>, Option<Value>)>,
}

impl Open {
    pub(super) fn new(bracket: char) -> Self {
        Open { bracket, member: None, members: HashMap::new() }
    }

    pub(super) fn is_object(&self) -> bool {
        self.bracket == '{'
    }

    pub(super) fn closes_with(&self, c: char) -> bool {
        matches!((self.bracket, c), ('{', '}') | ('[', ']'))
    }

    /// Begins a member, whose value starts at byte `value` of the JSON.
    pub(super) fn member(&mut self, key: String, value: usize) {
        // A key can be written in several ways.
        let key = serde_json::from_str(&key).unwrap_or(key);
        self.member = Some((key, value));
    }

    /// Ends a member. Returns whether its key has a different value already.
    pub(super) fn differs(&mut self, json: &str) -> bool {
        let Some((key, begin)) = self.member.take() else { return false };
        let value = |of: &Range<usize>| serde_json::from_str::<Value>(&json[of.clone()]).ok();
        let this = begin..json.len();
        match self.members.get_mut(&key) {
            Some((first, _)) if json[first.clone()] == json[this.clone()] => false,
            Some((first, known)) => {
                let known = known.get_or_insert_with(|| value(first).unwrap_or_default());
                value(&this).as_ref() != Some(&*known)
            }
            None => {
                self.members.insert(key, (this, None));
                false
            }
        }
    }
}

impl Reader<'_> {
    pub(super) fn key(&mut self, c: char) -> Step {
        let (before, quoted) = (self.source, source::closing(c).is_some());
        let key = if quoted { self.quoted(c, true)? } else { self.bare_key()? };
        match key {
            Some(key) => self.place = Place::Colon { key, quoted },
            // Part of a key has no meaning, and a longer rest may have been a member.
            None if before.rest().contains([':', '}', '\n']) => {
                return self.refuse("the end of a string is missing");
            }
            // In `1,299`, cut after the comma, the digits are not a key.
            None if c.is_ascii_digit() => return self.refuse("a number may have a separator"),
            None if !self.json.contains(|c| !matches!(c, '{' | '[')) => {
                return self.refuse("the text is cut off in its first key");
            }
            None => {
                self.repairs.insert(Repair::Fragment);
                self.cut_off()?;
            }
        }
        Ok(())
    }

    pub(super) fn colon(&mut self, c: char, key: String, quoted: bool) -> Step {
        match c {
            ':' => _ = self.source.next(),
            '=' | '：' => {
                self.source.next();
                if c == '=' {
                    self.source.eat('>');
                }
                self.repairs.insert(Repair::MissingColon);
            }
            ',' | '}' | ']' => return self.refuse(MISSING_VALUE),
            _ if quoted && (c.is_ascii_digit() || matches!(c, '-' | '{' | '[')) => {
                self.repairs.insert(Repair::MissingColon);
            }
            _ => return self.refuse("a colon is missing after a key"),
        }
        self.place = Place::ValueOf { key };
        Ok(())
    }
}
