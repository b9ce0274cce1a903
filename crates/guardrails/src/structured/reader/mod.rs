//! Reader of text that is nearly JSON, and writer of JSON.
//!
//! Damage that leaves one meaning is repaired. Damage that leaves several meanings, or that lost a part, is
//! refused.

mod bare;
mod object;
mod quoted;
mod source;

use std::collections::BTreeSet;

use object::Open;
use source::Source;

use super::Repair;

/// The deepest nesting, in levels, which is the limit of `serde_json`. Nesting is held in a list, not on the
/// stack.
const DEEPEST: usize = 127;

/// JSON, with the repairs that it needed.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) json: String,
    pub(super) repairs: BTreeSet<Repair>,
    /// The end of the part, in bytes of the text.
    pub(super) end: usize,
}

/// Damage without a single reading: the byte of the text, and the reason.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusal {
    pub(super) at: usize,
    pub(super) why: &'static str,
}

/// Reads one value that begins at `begin`. `fence` is the number of marks of the fence around it, if there is
/// one.
pub(super) fn read(text: &str, begin: usize, fence: Option<usize>) -> Result<Part, Refusal> {
    Reader::new(text, begin, fence).run()
}

/// Reads the members of an object whose opening bracket is missing.
pub(super) fn read_members(text: &str, begin: usize, fence: Option<usize>) -> Result<Part, Refusal> {
    let mut reader = Reader::new(text, begin, fence);
    reader.begin('{');
    reader.repairs.insert(Repair::UnclosedBracket);
    reader.run()
}

struct Reader<'t> {
    source: Source<'t>,
    fence: Option<usize>,
    json: String,
    repairs: BTreeSet<Repair>,
    open: Vec<Open>,
    place: Place,
    /// Whether a line ended before the current token.
    new_line: bool,
}

/// The part of a value that is expected next.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// A single value.
    Value,
    /// An item or a key, or the end. `comma` says whether a comma precedes it.
    Item { first: bool, comma: bool },
    /// A colon, after this key, which is JSON already. `quoted` says whether it was in quotes.
    Colon { key: String, quoted: bool },
    /// A value for this key.
    ValueOf { key: String },
    /// The end.
    Over,
}

type Step = Result<(), Refusal>;

impl<'t> Reader<'t> {
    fn new(text: &'t str, begin: usize, fence: Option<usize>) -> Self {
        Reader {
            source: Source::new(text, begin),
            fence,
            json: String::new(),
            repairs: BTreeSet::new(),
            open: Vec::new(),
            place: Place::Value,
            new_line: false,
        }
    }

    fn run(mut self) -> Result<Part, Refusal> {
        while self.place != Place::Over {
            self.step()?;
        }
        Ok(Part { json: self.json, repairs: self.repairs, end: self.source.at() })
    }

    fn refuse<T>(&self, why: &'static str) -> Result<T, Refusal> {
        Err(Refusal { at: self.source.at(), why })
    }

    /// Reads one token.
    fn step(&mut self) -> Step {
        let before = self.source;
        match self.source.skip_blank() {
            None => return self.refuse(OPEN_COMMENT),
            Some(true) => _ = self.repairs.insert(Repair::Comment),
            Some(false) => {}
        }
        self.new_line = before.rest()[..self.source.at() - before.at()].contains('\n');
        let place = std::mem::replace(&mut self.place, Place::Over);
        let Some(c) = self.source.peek().filter(|_| !self.source.at_fence()) else {
            return self.end_of_text(place);
        };
        match place {
            Place::Over => Ok(()),
            Place::Value => self.value(c, None),
            Place::Item { first, comma } => self.item(c, first, comma),
            Place::Colon { key, quoted } => self.colon(c, key, quoted),
            Place::ValueOf { .. } if matches!(c, ',' | '}' | ']' | ':') => self.refuse(MISSING_VALUE),
            Place::ValueOf { key } => self.value(c, Some(key)),
        }
    }

    fn item(&mut self, c: char, first: bool, comma: bool) -> Step {
        let object = self.open.last().is_some_and(Open::is_object);
        match c {
            ',' | '，' | ';' if object || (c != ';' && !first && !comma) => {
                self.source.next();
                if c != ',' {
                    self.repairs.insert(Repair::MissingComma);
                }
                if first || comma {
                    self.repairs.insert(Repair::ExtraComma);
                }
                self.place = Place::Item { first, comma: !first };
                Ok(())
            }
            ',' | '，' => self.refuse("an item may be missing beside the comma"),
            '}' | ']' => {
                self.source.next();
                if comma {
                    self.repairs.insert(Repair::ExtraComma);
                }
                self.close(c, first)
            }
            _ => {
                if !first && !comma {
                    self.missing_comma(c, object)?;
                }
                if object { self.key(c) } else { self.value(c, None) }
            }
        }
    }

    /// Handles two items without a comma between them.
    fn missing_comma(&mut self, c: char, object: bool) -> Step {
        let clear = match object {
            true => self.new_line || source::closing(c).is_some(),
            false => matches!(c, '{' | '[') || self.json.ends_with(['}', ']']),
        };
        if !clear {
            return self.refuse("a comma may be missing, or the two parts may be one value");
        }
        self.repairs.insert(Repair::MissingComma);
        Ok(())
    }

    fn value(&mut self, c: char, key: Option<String>) -> Step {
        if matches!(c, '{' | '[') {
            if self.open.len() == DEEPEST {
                return self.refuse("it nests deeper than 127 levels");
            }
            self.source.next();
            self.before(key);
            self.begin(c);
            return Ok(());
        }
        let written = match source::closing(c) {
            Some(_) => match self.quoted(c, false)? {
                Some(string) => string,
                None => return self.refuse("the end of a string is missing"),
            },
            None => self.bare_value()?,
        };
        self.before(key);
        self.json.push_str(&written);
        self.after()
    }

    fn begin(&mut self, c: char) {
        self.json.push(c);
        self.open.push(Open::new(c));
        self.place = Place::Item { first: true, comma: false };
    }

    /// Writes the comma, if one is due, and the key.
    fn before(&mut self, key: Option<String>) {
        if !self.open.is_empty() && !self.json.ends_with(['{', '[']) {
            self.json.push(',');
        }
        if let Some(key) = key {
            self.json.push_str(&key);
            self.json.push(':');
            if let Some(open) = self.open.last_mut() {
                open.member(key, self.json.len());
            }
        }
    }

    /// Handles the end of a value.
    fn after(&mut self) -> Step {
        let Some(open) = self.open.last_mut() else {
            self.place = Place::Over;
            return Ok(());
        };
        if open.differs(&self.json) {
            return self.refuse("a key has two different values");
        }
        self.place = Place::Item { first: false, comma: false };
        Ok(())
    }

    fn close(&mut self, c: char, first: bool) -> Step {
        let Some(inner) = self.open.iter().rposition(|open| open.closes_with(c)) else {
            self.repairs.insert(Repair::ExtraBracket);
            self.place = Place::Item { first, comma: false };
            return Ok(());
        };
        if inner + 1 < self.open.len() {
            self.repairs.insert(Repair::UnclosedBracket);
        }
        self.close_down_to(inner)
    }

    fn close_down_to(&mut self, left: usize) -> Step {
        while self.open.len() > left {
            let object = self.open.pop().is_some_and(|open| open.is_object());
            self.json.push(if object { '}' } else { ']' });
            self.after()?;
        }
        Ok(())
    }

    /// Handles the end of the text.
    fn end_of_text(&mut self, place: Place) -> Step {
        match place {
            Place::Value => return self.refuse("a value is missing"),
            Place::ValueOf { .. } | Place::Colon { .. } => return self.refuse(MISSING_VALUE),
            Place::Item { comma: true, .. } => _ = self.repairs.insert(Repair::ExtraComma),
            Place::Item { .. } | Place::Over => {}
        }
        self.cut_off()
    }

    fn cut_off(&mut self) -> Step {
        self.repairs.insert(Repair::UnclosedBracket);
        self.close_down_to(0)
    }
}

/// The refusal of a comment without an end, which extends to the end of the text.
pub(super) const OPEN_COMMENT: &str = "the end of a comment is missing";
/// The refusal of a key that continues in the next line, or of a string in single quotes that continues in the
/// next paragraph.
pub(super) const NEXT_LINE: &str = "a string goes on where it should have ended";
const MISSING_VALUE: &str = "the value of a key is missing";
