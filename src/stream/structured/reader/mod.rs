//! Reads what is nearly JSON and writes JSON.

mod bare;
mod quoted;
mod source;

use std::collections::BTreeSet;

use super::Repair;
use source::Source;

/// What is nested is held in a list, not on the stack; `serde_json` reads no more levels than this.
const DEEPEST: usize = 127;

/// JSON, and what it took.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) json: String,
    pub(super) repairs: BTreeSet<Repair>,
    /// Where the part ends, in bytes of the text.
    pub(super) end: usize,
}

/// Reads one value that begins at `begin`. Where it nests too deep, the place is the error.
pub(super) fn read(text: &str, begin: usize) -> Result<Part, usize> {
    let mut reader = Reader {
        source: Source::new(text, begin),
        json: String::new(),
        repairs: BTreeSet::new(),
        open: Vec::new(),
        place: Place::Value,
    };
    while reader.place != Place::Over {
        reader.step()?;
    }
    Ok(Part { json: reader.json, repairs: reader.repairs, end: reader.source.at() })
}

struct Reader<'t> {
    source: Source<'t>,
    json: String,
    repairs: BTreeSet<Repair>,
    open: Vec<Open>,
    place: Place,
}

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Array,
    Object,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// The one value.
    Value,
    /// An item or a key, or the end; `comma` if a comma stands before it.
    Item { first: bool, comma: bool },
    /// A colon, after this key, which is JSON already.
    Colon { key: String },
    /// A value for this key.
    ValueOf { key: String },
    /// Nothing.
    Over,
}

impl Reader<'_> {
    /// One token.
    fn step(&mut self) -> Result<(), usize> {
        if self.source.skip_blank() {
            self.repairs.insert(Repair::Comment);
        }
        let place = std::mem::replace(&mut self.place, Place::Over);
        let Some(c) = self.source.peek().filter(|_| !self.source.at_fence()) else {
            self.end_of_text(place);
            return Ok(());
        };
        match place {
            Place::Over => {}
            Place::Value => self.value(c, None)?,
            Place::Item { first, comma } => self.item(c, first, comma)?,
            Place::Colon { key } => self.colon(c, key),
            Place::ValueOf { key } => match c {
                ',' | '}' | ']' => {
                    self.repairs.insert(Repair::MissingValue);
                    self.member(&key, "null");
                }
                ':' => {
                    self.source.next();
                    self.repairs.insert(Repair::Fragment);
                    self.place = Place::ValueOf { key };
                }
                _ => self.value(c, Some(key))?,
            },
        }
        Ok(())
    }

    fn item(&mut self, c: char, first: bool, comma: bool) -> Result<(), usize> {
        match c {
            ',' => {
                self.source.next();
                if first || comma {
                    self.repairs.insert(Repair::ExtraComma);
                }
                self.place = Place::Item { first, comma: !first };
            }
            '}' | ']' => {
                self.source.next();
                if comma {
                    self.repairs.insert(Repair::ExtraComma);
                }
                self.close(if c == '}' { Open::Object } else { Open::Array }, first);
            }
            ':' | ';' | '.' | '…' if !self.source.begins_number() => {
                self.source.next();
                self.repairs.insert(Repair::Fragment);
                self.place = Place::Item { first, comma };
            }
            _ => {
                if !first && !comma {
                    self.repairs.insert(Repair::MissingComma);
                }
                match self.open.last() {
                    Some(Open::Object) => self.key(c, first),
                    _ => self.value(c, None)?,
                }
            }
        }
        Ok(())
    }

    fn key(&mut self, c: char, first: bool) {
        let key = match source::closing(c) {
            Some(_) => self.quoted(c, true),
            None if matches!(c, '{' | '[') => {
                // A value where a key must stand has none.
                self.source.next();
                self.repairs.insert(Repair::ExtraBracket);
                self.place = Place::Item { first, comma: !first };
                return;
            }
            None => {
                self.repairs.insert(Repair::UnquotedKey);
                self.bare_key()
            }
        };
        self.place = Place::Colon { key };
    }

    fn colon(&mut self, c: char, key: String) {
        match c {
            ':' => {
                self.source.next();
            }
            ',' | '}' | ']' => {}
            '=' => {
                self.source.next();
                self.source.eat('>');
                self.repairs.insert(Repair::MissingColon);
            }
            _ => {
                self.repairs.insert(Repair::MissingColon);
            }
        }
        self.place = Place::ValueOf { key };
    }

    fn value(&mut self, c: char, key: Option<String>) -> Result<(), usize> {
        match c {
            '{' | '[' => {
                if self.open.len() == DEEPEST {
                    return Err(self.source.at());
                }
                self.source.next();
                self.before(key.as_deref());
                self.json.push(c);
                self.open.push(if c == '{' { Open::Object } else { Open::Array });
                self.place = Place::Item { first: true, comma: false };
            }
            _ => {
                let written = match source::closing(c) {
                    Some(_) => self.quoted(c, false),
                    None => self.bare_value(),
                };
                self.before(key.as_deref());
                self.json.push_str(&written);
                self.after();
            }
        }
        Ok(())
    }

    fn member(&mut self, key: &str, value: &str) {
        self.before(Some(key));
        self.json.push_str(value);
        self.after();
    }

    /// The comma that is due, and the key.
    fn before(&mut self, key: Option<&str>) {
        if !self.open.is_empty() && !self.json.ends_with(['{', '[']) {
            self.json.push(',');
        }
        if let Some(key) = key {
            self.json.push_str(key);
            self.json.push(':');
        }
    }

    fn after(&mut self) {
        self.place = match self.open.is_empty() {
            true => Place::Over,
            false => Place::Item { first: false, comma: false },
        };
    }

    fn close(&mut self, closes: Open, first: bool) {
        let Some(inner) = self.open.iter().rposition(|open| *open == closes) else {
            self.repairs.insert(Repair::ExtraBracket);
            self.place = Place::Item { first, comma: false };
            return;
        };
        if inner + 1 < self.open.len() {
            self.repairs.insert(Repair::UnclosedBracket);
        }
        self.close_down_to(inner);
        self.after();
    }

    fn close_down_to(&mut self, left: usize) {
        for open in self.open.drain(left..).rev() {
            self.json.push(if open == Open::Object { '}' } else { ']' });
        }
    }

    /// The text is cut off here.
    fn end_of_text(&mut self, place: Place) {
        match place {
            Place::ValueOf { key } => {
                self.repairs.insert(Repair::MissingValue);
                self.member(&key, "null");
            }
            // Half a key says nothing.
            Place::Colon { .. } => {
                self.repairs.insert(Repair::Fragment);
            }
            Place::Item { comma: true, .. } => {
                self.repairs.insert(Repair::ExtraComma);
            }
            Place::Value | Place::Item { .. } | Place::Over => {}
        }
        if !self.open.is_empty() {
            self.repairs.insert(Repair::UnclosedBracket);
        }
        self.close_down_to(0);
        self.place = Place::Over;
    }
}
